/**
 * A session that goes on while one watches: an agent at work, an entry every second or two, recorded as any program would record it.
 * When it has ended, the next begins after a while.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { record, type Recorder } from '../../capture/record.ts'

export type LiveOptions = {
  readonly home: string
  readonly cwd: string
  readonly signal: AbortSignal
  /** How much faster than life. */
  readonly speed?: number
  /** Sessions, one after the other. */
  readonly rounds?: number
}

const MODEL = 'claude-sonnet-4-6'
const TITLE = 'Live: departures on a map'
const PAUSE_MS = 90_000
/** Nobody watches longer. */
const MOST_ROUNDS = 40

/** Resolves when it was ended, or has played to its end. */
export async function playLive(options: LiveOptions): Promise<void> {
  const { home, cwd, signal, speed = 1, rounds = MOST_ROUNDS } = options
  for (let round = 1; round <= rounds && !signal.aborted; round += 1) {
    const session = await record({
      home,
      cwd,
      title: round === 1 ? TITLE : `${TITLE}, take ${round}`,
      agent: 'demo-agent',
      model: MODEL,
      git: { branch: 'feature/map' },
    })
    const isWhole = await play(session, round, (ms) => wait(ms / speed, signal))
    await (isWhole ? session.end({ stopReason: 'end_turn' }) : session.cancel('the sample was closed'))
    if (round < rounds) await wait(PAUSE_MS / speed, signal)
  }
}

/** False when it was ended meanwhile. */
async function wait(ms: number, signal: AbortSignal): Promise<boolean> {
  await sleep(ms, undefined, { signal }).catch(() => {})
  return !signal.aborted
}

const FILES = ['departures.ts', 'map.tsx', 'route.ts', 'tiles.ts', 'vessel.tsx', 'legend.tsx'] as const

async function play(
  session: Recorder,
  round: number,
  pause: (ms: number) => Promise<boolean>,
): Promise<boolean> {
  let [context, calls] = [11_000, 0]
  const details = (output: number, fresh: number) => {
    const usage = { input: 8, cacheRead: context, cacheWrite5m: fresh, output }
    context += fresh + output
    calls += 1
    return { model: MODEL, usage, call: { provider: 'anthropic', messageId: `msg_live_${round}_${calls}` } }
  }
  session.user('Show the departures of the next hour on a map, and let them move.')
  if (!(await pause(900))) return false
  session.assistant('I begin with what there is, then the map, then what moves.', details(40, 900))
  for (const [at, file] of FILES.entries()) {
    if (!(await pause(1500))) return false
    const path = `src/map/${file}`
    const read = session.toolCall({ name: 'Read', input: { file_path: path }, ...details(32, 300) })
    if (!(await pause(700))) return false
    session.toolResult({
      callId: read,
      output: `export const ${file.split('.')[0]} = () => undefined\n`,
      durationMs: 40,
    })
    if (!(await pause(1400))) return false
    session.assistant(
      [
        {
          type: 'thinking',
          text: `What ${path} has to know is where each vessel is, and where it will be in a minute.`,
        },
      ],
      details(90, 200),
    )
    if (!(await pause(1600))) return false
    const edit = session.toolCall({
      name: 'Edit',
      input: {
        file_path: path,
        old_string: '() => undefined',
        new_string: `(now: number) => {\n  // Part ${at + 1} of ${FILES.length}.\n  return positions.filter(({ leaves }) => leaves > now)\n}`,
      },
      ...details(160, 420),
    })
    if (!(await pause(600))) return false
    session.toolResult({ callId: edit, output: 'The file has been updated.', durationMs: 12 })
    if (!(await pause(1300))) return false
    const test = session.toolCall({
      name: 'Bash',
      input: { command: `npx vitest run src/map/${file.replace('.', '.test.')}` },
      ...details(44, 180),
    })
    if (!(await pause(2400))) return false
    const isFailed = at % 3 === 1
    session.toolResult({
      callId: test,
      ...(isFailed
        ? { error: `\u001b[31m✗ ${file}\u001b[39m\nexpected 3 vessels, got 2` }
        : { output: `\u001b[32m✓\u001b[39m ${file} (${at + 2} tests)` }),
      durationMs: 2310,
    })
    if (!(await pause(1500))) return false
    session.assistant(
      isFailed
        ? `\`${file}\` is one vessel short: the one that leaves right now. I change \`>\` to \`>=\`.`
        : `\`${file}\` is done.`,
      details(60, 240),
    )
  }
  if (!(await pause(1200))) return false
  session.assistant(
    '## The map\n\nDepartures of the next hour stand on the map and **move** with the minute. A click on a vessel shows its route.\n\n- 6 files, 11 tests\n- the map is drawn once, vessels move on a layer of their own',
    { ...details(210, 300), stopReason: 'end_turn' },
  )
  return true
}
