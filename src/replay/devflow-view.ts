/** devflow's terminal views: a header that says what the run was and cost, then its turns. */
import { PRIMARY } from '../transcript/entry.ts'
import type { Session } from '../transcript/session.ts'
import { markedTokens, sessionCost, sessionMillis, turnTokens } from './amounts.ts'
import { createClock, toDuration, type Clock } from './clock.ts'
import { errorText, inputText, outputText, toText } from './content.ts'
import { cut, visible, visibleLine } from './escape.ts'
import { createTurnView, roleOf } from './turn-view.ts'
import type { ShownCall, ShownTurn } from './turns.ts'
import type { View, ViewOptions } from './view.ts'

const WIDTH = 60
const HEAVY = '═'.repeat(WIDTH)
const LIGHT = '─'.repeat(WIDTH)
const OUTPUT_CHARACTERS = 200

export function createDevflowView(options: ViewOptions = {}): View {
  const clock = createClock(options.timeZone)
  let shown: Session | undefined
  return createTurnView(
    {
      begin(session) {
        shown = session
        return `${HEAVY}\n${header(session, clock)}${HEAVY}\n`
      },
      turn: (turn) => `${turnHeader(turn, shown, clock)}\n${body(turn)}${LIGHT}\n`,
      summary: (turn, line) => `  [${turn.number}] ${roleOf(turn)}: ${line}\n`,
      end: () => '',
    },
    options,
  )
}

/** What a session is called where devflow says "run". */
export function runName({ names, run, id }: Session): string {
  return names?.['devflow'] ?? run?.id ?? id
}

function header(session: Session, clock: Clock): string {
  const tokens = markedTokens(session)
  const lines = [
    `Run: ${runName(session)}`,
    `Flow: ${session.run?.flow ?? 'unknown'} | Status: ${session.status}`,
    `Started: ${clock.date(session.startedAt)} | Duration: ${toDuration(sessionMillis(session))}`,
    `Tokens: ${tokens.in} in / ${tokens.out} out | Cost: ${sessionCost(session)}`,
    ...(session.error === undefined ? [] : [`Error: ${session.error}`]),
  ]
  return lines.map((line) => `${visibleLine(line)}\n`).join('')
}

/** `[2] ASSISTANT (14:30:25) [1,200 tokens in] [800 tokens out] [412ms]`; a subagent's name stands before the role. */
function turnHeader(turn: ShownTurn, session: Session | undefined, clock: Clock): string {
  const { usage, durationMs, source } = turn
  const tokens = turnTokens(session, usage)
  return visibleLine(
    [
      `[${turn.number ?? '-'}]`,
      ...(source === PRIMARY ? [] : [`[${source}]`]),
      roleOf(turn).toUpperCase(),
      `(${clock.time(turn.at)})`,
      ...(tokens.in === undefined ? [] : [`[${tokens.in} tokens in]`]),
      ...(tokens.out === undefined ? [] : [`[${tokens.out} tokens out]`]),
      ...(durationMs === undefined ? [] : [`[${durationMs}ms]`]),
    ].join(' '),
  )
}

function body({ blocks, calls }: ShownTurn): string {
  const text = blocks.map((block) => `${visible(toText(block))}\n`).join('')
  return text + calls.map(toolBlock).join('')
}

function toolBlock({ call, result }: ShownCall): string {
  const lines = [`  Tool: ${visibleLine(call.name)}`]
  const input = visible(inputText(call, 2))
  if (input !== '') lines.push(`  Input: ${indent(input)}`)
  if (result === undefined) lines.push('  Output: none recorded')
  else {
    const output = outputText(result)
    if (output !== '') lines.push(`  Output: ${indent(visible(cut(output.trimEnd(), OUTPUT_CHARACTERS)))}`)
    const error = errorText(result)
    if (error !== undefined) lines.push(`  Error: ${indent(visible(error))}`)
  }
  return `${lines.join('\n')}\n`
}

function indent(text: string): string {
  return text.replaceAll('\n', '\n  ')
}
