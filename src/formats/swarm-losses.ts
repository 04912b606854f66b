/** What a swarm line or receipt has no place for, or had to be given. */
import { isBlobRef, type Block, type ToolResultBlock } from '../transcript/block.ts'
import { PRIMARY, type Entry } from '../transcript/entry.ts'
import { parseInstant } from '../transcript/instant.ts'
import { asObject, parseJson } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import { promptTokens, type Usage } from '../transcript/usage.ts'
import type { WriteContext } from './format.ts'
import { loseEntry, loseEntryFacts, loseFacts, unheldBlock } from './lost-facts.ts'
import { fromReceipt, toMicros } from './swarm-receipt.ts'
import { isStub } from './swarm-stub.ts'

export function reportTokens(usage: Usage | undefined, context: WriteContext): void {
  if (usage === undefined || promptTokens(usage) === undefined) context.filled(undefined, 'tokens.prompt')
  if (usage?.output === undefined) context.filled(undefined, 'tokens.completion')
}

/** What its lines do not give back of an entry. The receipt holds the sum of usage. */
export function loseOfEntry(entry: Entry, context: WriteContext): void {
  const { role, at, metadata, blocks } = entry
  const own = metadata?.['swarm']
  const lost = blocks.flatMap((block) => [...blockLosses(block, entry)])
  const lines = blocks.filter((block) => roleOf(block, entry) !== undefined)
  if (lines.length === 0) return loseEntry(entry, lost.join(', ') || 'it has no blocks', context)
  const isRoleHeld = lines.every((block) => roleOf(block, entry) === role)
  loseEntryFacts(
    entry,
    {
      // A subagent's file is a session of its own, in which it is the one that speaks.
      source: PRIMARY,
      kind: 'message',
      ...(isRoleHeld && role !== undefined && { role }),
      ...(at !== undefined && { at: parseInstant(toMicros(at)) ?? at }),
      ...(own !== undefined && { metadata: { swarm: own } }),
    },
    context,
    lines.length > 1 ? [...lost, 'block boundaries'] : lost,
  )
}

/** `receipt` as it is written, or undefined for a step that is still running; `said` is what other files and lines give back. */
export function loseOfSession(
  session: Session,
  receipt: string | undefined,
  said: Partial<Session>,
  context: WriteContext,
): void {
  const raw = receipt === undefined ? undefined : asObject(parseJson(receipt))
  const own = session.metadata?.['swarm']
  loseFacts(
    session,
    {
      status: 'interrupted',
      ...said,
      ...(raw !== undefined && fromReceipt(raw)),
      ...(isStub(raw, false) && { stub: true }),
      ...(own !== undefined && { metadata: { swarm: own } }),
    },
    context,
  )
}

/** Who a block's line says is speaking; undefined for a block that has no line. */
function roleOf({ type }: Block, { kind, role }: Entry): Entry['role'] {
  if (type === 'tool-call') return 'assistant'
  if (type === 'tool-result') return 'tool'
  if (type === 'text') return kind === 'message' ? role : undefined
  if (type !== 'error') return undefined
  return kind === 'message' && role !== undefined && role !== 'tool' ? role : 'system'
}

function* blockLosses(block: Block, entry: Entry): Generator<string> {
  if (block.type === 'error') {
    yield 'error kept as text'
    if (block.code !== undefined) yield 'error code'
  } else if (block.type === 'tool-result') yield* resultLosses(block)
  else if (roleOf(block, entry) === undefined) yield unheldBlock(block)
  else if (block.type === 'text') {
    if (isBlobRef(block.text)) yield 'content kept in a blob'
    if (entry.role === 'tool') yield 'text kept as a result'
  } else if (block.type === 'tool-call' && block.inputBlob !== undefined) yield 'content kept in a blob'
}

function* resultLosses({ output, error, isError }: ToolResultBlock): Generator<string> {
  if (isError === true || error !== undefined) yield 'that the tool failed'
  if (error !== undefined) yield output === undefined ? 'error kept as output' : 'error beside output'
  if (isBlobRef(output)) yield 'content kept in a blob'
  else if (output !== undefined && typeof output !== 'string') yield 'the blocks of a tool result'
}
