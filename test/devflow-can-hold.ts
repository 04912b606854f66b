/** What of a transcript a devflow run can hold, said without writing one: the other side of `read(write(t))`. */
import { runIdOf } from '../src/formats/devflow/run-id.ts'
import { outputText, textOf, type Block, type ToolResultBlock } from '../src/transcript/block.ts'
import { createSequence, type Entry } from '../src/transcript/entry.ts'
import { uuidFrom } from '../src/transcript/ids.ts'
import type { Session } from '../src/transcript/session.ts'
import { createCallFold } from '../src/transcript/totals.ts'
import type { Transcript } from '../src/transcript/transcript.ts'
import { promptTokens, type Usage } from '../src/transcript/usage.ts'

type Turn = { entry: Entry; readonly isResult: boolean; readonly results: Map<number, Entry> }

/** For transcripts whose calls have ids. Entries come without `origin`. */
export function devflowCanHold({ session, entries }: Transcript): Transcript {
  return { session: heldSession(session, entries), entries: heldEntries(entries), damage: [] }
}

function heldSession(session: Session, entries: readonly Entry[]): Session {
  const { runId } = runIdOf(session)
  const { run, startedAt, endedAt, status, error, input, reportedCost, totals } = session
  const fold = createCallFold()
  for (const entry of entries) fold.add(entry)
  const stated = session.reportedUsage ?? totals?.usage ?? fold.totals().usage
  const input_ = stated && promptTokens(stated)
  const usage: Usage = {
    ...(input_ && { input: input_ }),
    ...(stated?.output && { output: stated.output }),
    quality: input_ ? 'estimated' : 'reported',
  }
  const cost = Number(reportedCost ?? totals?.cost?.usd ?? 0)
  const reason = error ?? (status === 'interrupted' ? 'interrupted before it ended' : undefined)
  return {
    id: uuidFrom('devflow', runId),
    names: { devflow: runId },
    run: { id: runId, ...(run?.flow && { flow: run.flow }), ...(run?.node && { node: run.node }) },
    ...(startedAt && { startedAt }),
    ...(endedAt && status !== 'running' && { endedAt }),
    status: status === 'interrupted' ? 'failed' : status,
    ...(reason && { error: reason }),
    ...(input && { input }),
    ...((usage.input || usage.output) && { reportedUsage: usage }),
    ...(cost > 0 && { reportedCost: String(cost) }),
  }
}

function heldEntries(entries: readonly Entry[]): Entry[] {
  const turns = toTurns(entries)
  const sequence = createSequence()
  const number = ({ source }: Entry) => ({ source, sequence: sequence(source), kind: 'message' as const })
  return turns.flatMap(({ entry, isResult, results }, index) => {
    const id = String(index + 1)
    const { role, at, durationMs, model, usage } = entry
    const counts = usage && heldUsage(usage)
    const own: Entry = {
      id,
      ...number(entry),
      ...(role && { role }),
      ...(at && { at }),
      blocks: isResult
        ? [{ type: 'tool-result', output: outputText(resultIn(entry)) }]
        : heldBlocks(entry.blocks),
      ...(counts && { usage: counts }),
      ...(model && { model }),
      ...(durationMs !== undefined && { durationMs }),
      ...(isResult && { metadata: { devflow: { role: 'tool_result' } } }),
    }
    const calls = entry.blocks.filter((block) => block.type === 'tool-call')
    const answers = calls.flatMap((call, place): Entry[] => {
      const result = results.get(place)
      if (result === undefined) return []
      const block = { type: 'tool-result' as const, callId: call.callId as string, name: call.name }
      return [
        {
          id: `${id}/${place + 1}`,
          ...number(entry),
          role: 'tool',
          ...(result.at && { at: result.at }),
          ...(result.durationMs !== undefined && { durationMs: result.durationMs }),
          blocks: [{ ...block, ...heldResult(resultIn(result)) }],
        },
      ]
    })
    return [own, ...answers]
  })
}

function toTurns(entries: readonly Entry[]): Turn[] {
  const turns: Turn[] = []
  for (const entry of entries) {
    if (entry.kind === 'event') continue
    const isResult = entry.blocks[0]?.type === 'tool-result'
    const { callId } = isResult ? resultIn(entry) : { callId: undefined }
    const asked = turns.find(
      (turn) =>
        turn.entry.source === entry.source && callId !== undefined && placeOf(turn.entry, callId) !== -1,
    )
    const last = turns.findLast((turn) => turn.entry.source === entry.source)
    if (asked !== undefined) asked.results.set(placeOf(asked.entry, callId as string), entry)
    else if (
      last?.entry.role === 'assistant' &&
      heldBlocks(last.entry.blocks).length > 0 &&
      isLoneCall(entry)
    )
      last.entry = withCall(last.entry, entry)
    else turns.push({ entry, isResult, results: new Map() })
  }
  return turns
}

/** A call by itself goes to the answer before it, unless it has counts of its own. */
function isLoneCall({ role, blocks, usage, call }: Entry): boolean {
  const isAlone = blocks.length === 1 && blocks[0]?.type === 'tool-call'
  return role === 'assistant' && isAlone && usage === undefined && call === undefined
}

function withCall(before: Entry, { blocks, model, durationMs }: Entry): Entry {
  return {
    ...before,
    blocks: [...before.blocks, ...blocks],
    ...(model !== undefined && { model }),
    ...(durationMs !== undefined && { durationMs }),
  }
}

function placeOf(entry: Entry, callId: string): number {
  return entry.blocks
    .filter((block) => block.type === 'tool-call')
    .findIndex((block) => block.callId === callId)
}

function resultIn(entry: Entry): ToolResultBlock {
  return entry.blocks[0] as ToolResultBlock
}

/** One text, then the calls. */
function heldBlocks(blocks: readonly Block[]): Block[] {
  const text = textOf(blocks)
  return [
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...blocks.filter((block) => block.type === 'tool-call'),
  ]
}

function heldUsage(usage: Usage): Usage | undefined {
  const input = promptTokens(usage)
  if (input === undefined && usage.output === undefined) return undefined
  return {
    ...(input !== undefined && { input }),
    ...(usage.output !== undefined && { output: usage.output }),
    quality: input === undefined ? 'reported' : 'estimated',
  }
}

function heldResult(result: ToolResultBlock): Partial<ToolResultBlock> {
  if (result.isError !== true) return { output: outputText(result) }
  return { error: outputText(result) || 'the tool failed', isError: true }
}
