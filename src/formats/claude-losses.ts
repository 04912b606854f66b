/** What a Claude-style line has no place for: of the entry that it was written from, in the words of every writer. */
import { isBlobRef, type Block } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import { withoutZeros } from '../transcript/usage.ts'
import { createPairing } from '../transcript/tools.ts'
import { fromAnthropicUsage, toAnthropicUsage } from '../wire/anthropic-usage.ts'
import { isOpen, isOwnLine, keptRecord, lineType } from './claude-write.ts'
import type { WriteContext } from './format.ts'
import { isWholeImage, loseEntryFacts, type HeldEntry } from './lost-facts.ts'

/** In the flat dialect a line that does not say how it ended is done; in Claude Code's own it may not be. */
export type Dialect = 'flat' | 'claude-code'

/** `uuid` is the id that the line was given; the parent's follows its entry's, so the link holds. */
export function loseOfLine(
  entry: Entry,
  uuid: string,
  context: WriteContext,
  others: readonly string[],
  dialect: Dialect = 'flat',
): void {
  if (isOwnLine(entry) && keptRecord(entry) !== undefined) return
  // An API's error was text when it was read, and its code a field that is still there.
  const isError = isOwnLine(entry) && entry.metadata?.['isApiErrorMessage'] === true
  const blocks = isError ? entry.blocks.filter(({ type }) => type !== 'error') : entry.blocks
  const losses = blocks.flatMap((block) => [...blockLosses(block)])
  loseEntryFacts(entry, { ...heldByLine(entry, dialect), id: uuid }, context, [...losses, ...others])
}

/** A result has no tool's name here: its call has it, where there is one of that name. */
export function createToolNames(): { lostOf(entry: Entry): string[] } {
  const pairing = createPairing<undefined>()
  return {
    lostOf({ source, blocks }) {
      const lost: string[] = []
      for (const block of blocks) {
        if (block.type === 'tool-call') pairing.open(source, block, undefined)
        if (block.type !== 'tool-result') continue
        const name = pairing.answer(source, block)?.call.name
        if (block.name !== undefined && block.name !== name) lost.push('tool name')
      }
      return lost
    },
  }
}

/** The facts that a line gives back: those of a provider call only where the assistant speaks. */
function heldByLine(entry: Entry, dialect: Dialect): HeldEntry {
  const { model, usage, stopReason, call, role: _, ...others } = entry
  const held = { ...others, ...heldRole(entry), callIds: true }
  if (lineType(entry) !== 'assistant') return held
  const isNamed = call?.messageId !== undefined || call?.requestId !== undefined
  const isDone = dialect === 'flat' ? !isOpen(entry) : stopReason !== undefined
  const counts = usage && fromAnthropicUsage(toAnthropicUsage(usage), isDone ? 'reported' : 'partial')
  return {
    ...held,
    ...(model !== undefined && { model }),
    ...(counts !== undefined && { usage: withoutZeros(counts) }),
    ...(stopReason !== undefined && { stopReason }),
    ...(isNamed && { call: { ...call, provider: 'anthropic' } }),
  }
}

/** Who speaks, as the reader will tell it: a user's line of nothing but results is the tools'. */
function heldRole(entry: Entry): Pick<Entry, 'kind' | 'role'> {
  const type = lineType(entry)
  // Lines that were read say the same again.
  if (isOwnLine(entry)) return { kind: entry.kind, ...(entry.role !== undefined && { role: entry.role }) }
  if (type === 'event') return { kind: 'event', ...(entry.role !== undefined && { role: entry.role }) }
  const onlyResults = entry.blocks.length > 0 && entry.blocks.every(({ type }) => type === 'tool-result')
  return { kind: 'message', role: type === 'user' && onlyResults ? 'tool' : type }
}

function* blockLosses(block: Block): Generator<string> {
  if (block.type === 'error') {
    yield 'error kept as text'
    if (block.code !== undefined) yield 'error code'
  } else if (block.type === 'unknown' && block.reason !== undefined) yield `content withheld: ${block.reason}`
  else if (block.type === 'thinking' && block.redacted !== undefined) {
    if (block.text !== '' || block.signature !== undefined) yield 'encrypted thinking beside its text'
  } else if (block.type === 'tool-result') {
    if (block.error !== undefined)
      yield block.output === undefined ? 'error kept as output' : 'error beside output'
    if (Array.isArray(block.output)) for (const part of block.output) yield* blockLosses(part)
  } else if (block.type === 'image' && !isWholeImage(block)) yield 'image facts'
  if (block.type === 'tool-call' && block.inputBlob !== undefined) yield 'input kept in a blob'
  if ('text' in block && isBlobRef(block.text)) yield 'text kept in a blob'
  if ('output' in block && isBlobRef(block.output)) yield 'output kept in a blob'
  if ('data' in block && isBlobRef(block.data)) yield 'image kept in a blob'
}
