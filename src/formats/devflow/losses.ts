/** What a devflow document has no room for: of an entry, and of a session, by what will read back. */
import { isBlobRef, outputText, type Block, type ToolResultBlock } from '../../transcript/block.ts'
import type { Entry } from '../../transcript/entry.ts'
import { uuidFrom } from '../../transcript/ids.ts'
import { isObject } from '../../transcript/json.ts'
import type { Session } from '../../transcript/session.ts'
import { promptTokens, type Usage } from '../../transcript/usage.ts'
import type { WriteContext } from '../format.ts'
import { loseEntryFacts, loseFacts, unheldBlock } from '../lost-facts.ts'
import { toUsage, type Facts } from './facts.ts'
import { toDecimal } from './fields.ts'

type Notes = Pick<WriteContext, 'lost' | 'filled'>

/** `nested`: the entry is only results inside their call, which have no room for what a turn has. */
export function loseOfEntry(entry: Entry, nested: boolean, notes: Notes): void {
  const { id, source, kind, role, at, model, usage, durationMs, metadata, origin } = entry
  const isOwn = origin?.format === 'devflow'
  const own = metadata?.['devflow']
  const read = nested || usage === undefined ? undefined : readUsage(usage)
  loseEntryFacts(
    entry,
    {
      ...(isOwn && { id }),
      source,
      kind,
      ...(role !== undefined && (!nested || role === 'tool') && { role }),
      ...(at !== undefined && { at }),
      ...(model !== undefined && !nested && { model }),
      ...(read !== undefined && { usage: read }),
      ...(durationMs !== undefined && { durationMs: Math.round(durationMs) }),
      ...(own !== undefined && { metadata: { devflow: own } }),
      callIds: true,
    },
    notes,
    [...entry.blocks.flatMap((block) => [...blockLosses(block, entry)]), ...boundaryLosses(entry.blocks)],
  )
}

type Turn = {
  readonly entry: Entry
  readonly model: string | undefined
  readonly durationMs: number | undefined
}

/** What one turn says once: the last word stands. */
export function loseOverwritten({ entry: first, model, durationMs }: Turn, next: Entry, notes: Notes): void {
  notes.lost(first, 'block boundaries')
  if (next.at !== undefined && next.at !== first.at) notes.lost(next, 'time')
  const facts = [
    ['model', model, next.model],
    ['duration', durationMs, next.durationMs],
  ] as const
  for (const [word, before, after] of facts) {
    if (before !== undefined && after !== undefined && before !== after) notes.lost(first, word)
  }
}

/** `facts` are those of the document, without what Go has a zero for. */
export function loseOfSession(session: Session, runId: string, facts: Facts, notes: Notes): void {
  const { run, input, status, error, metadata, reportedCost } = session
  const { startedAt, endedAt, tokensIn, tokensOut } = facts
  const own = metadata?.['devflow']
  const usage = toUsage(tokensIn || undefined, tokensOut || undefined)
  const isCostHeld = reportedCost !== undefined && facts.cost !== '0' && isSameCost(reportedCost, facts.cost)
  loseFacts(
    session,
    {
      id: uuidFrom('devflow', runId),
      names: { devflow: runId },
      run: {
        id: runId,
        ...(run?.flow !== undefined && { flow: run.flow }),
        ...(run?.node !== undefined && { node: run.node }),
      },
      ...(input !== undefined && { input }),
      ...(startedAt !== undefined && { startedAt }),
      ...(endedAt !== undefined && { endedAt }),
      ...(error !== undefined && { error }),
      status: status === 'interrupted' ? 'failed' : status,
      ...(usage !== undefined && { reportedUsage: usage }),
      ...(isCostHeld && { reportedCost }),
      ...(own !== undefined && { metadata: { devflow: own } }),
    },
    notes,
  )
}

/** The usage as a turn gives it back: the whole prompt as one number. */
function readUsage(usage: Usage): Usage | undefined {
  return toUsage(promptTokens(usage), usage.output)
}

/** The same amount, however its zeros are written. */
function isSameCost(stated: string, written: string | undefined): boolean {
  const trimmed = stated.includes('.') ? stated.replace(/0+$/, '').replace(/\.$/, '') : stated
  return written === trimmed && toDecimal(Number(stated)) === trimmed
}

function* blockLosses(block: Block, { origin }: Entry): Generator<string> {
  if (block.type === 'text') {
    if (isBlobRef(block.text)) yield 'content kept in a blob'
    if (block.text === '') yield 'an empty text'
  } else if (block.type === 'tool-call') {
    if (block.inputBlob !== undefined) yield 'content kept in a blob'
    else if (block.input !== undefined && !isObject(block.input)) yield 'that a tool input is no object'
  } else if (block.type === 'tool-result') yield* resultLosses(block)
  else if (block.type === 'unknown') {
    if (origin?.format !== 'devflow' || block.reason !== undefined) yield unheldBlock(block)
  } else yield unheldBlock(block)
}

function* resultLosses(result: ToolResultBlock): Generator<string> {
  const { output, isError, error } = result
  if (isError === true && !error && output !== undefined && outputText(result) !== '')
    yield 'output of a failed tool kept as its error'
  if (output === undefined || typeof output === 'string') return
  yield isBlobRef(output) ? 'content kept in a blob' : 'the blocks of a tool result'
}

/** One text, then tool calls, is how a turn reads back; each result stands apart. */
function boundaryLosses(blocks: readonly Block[]): readonly string[] {
  const results = blocks.filter(({ type }) => type === 'tool-result').length
  const held = blocks.filter(({ type }) => type === 'text' || type === 'tool-call')
  const inOrder = held.every(({ type }, index) => type === 'tool-call' || index === 0)
  return inOrder && results + (held.length > 0 ? 1 : 0) <= 1 ? [] : ['block boundaries']
}
