/** What a format does not hold of an entry from elsewhere, told by what the lines written for it read back as. */
import { hasBlob, type Block } from '../transcript/block.ts'
import { PRIMARY, type Entry } from '../transcript/entry.ts'
import { toJson } from '../transcript/json.ts'
import type { WriteContext } from './format.ts'
import { loseEntry, loseEntryFacts, type HeldEntry } from './lost-facts.ts'

export type ReadBack = {
  /** The messages among the entry's lines, as the reader gives them. */
  readonly messages: readonly Pick<Entry, 'role' | 'at' | 'blocks' | 'model' | 'durationMs' | 'stopReason'>[]
  /** What else reads back: id, parent, usage, call. */
  readonly held: HeldEntry
  /** What only the writer can know. */
  readonly lost: readonly string[]
}

/** `why` says what became of an entry of which nothing reads back as a message. */
export function loseByReading(
  entry: Entry,
  { messages, held, lost }: ReadBack,
  why: string,
  context: WriteContext,
): void {
  const [first] = messages
  if (first === undefined && held.usage === undefined) {
    loseEntry(entry, why, context)
    return
  }
  const isOneRole = messages.every(({ role }) => role === entry.role)
  const model = messages.find((message) => message.model !== undefined)?.model ?? held.model
  if (entry.role === 'assistant' && entry.model === undefined && model !== undefined) {
    context.filled(entry, 'model')
  }
  const losses = new Set([
    ...blockLosses(
      entry.blocks,
      messages.flatMap(({ blocks }) => blocks),
    ),
    ...lost,
  ])
  if (messages.length > 1) losses.add('block boundaries')
  loseEntryFacts(
    entry,
    {
      kind: first === undefined ? 'event' : 'message',
      source: PRIMARY,
      ...(isOneRole && entry.role !== undefined && { role: entry.role }),
      ...(first?.at !== undefined && { at: first.at }),
      ...(model !== undefined && { model }),
      ...(first?.durationMs !== undefined && { durationMs: first.durationMs }),
      ...(first?.stopReason !== undefined && { stopReason: first.stopReason }),
      callIds: true,
      ...held,
    },
    context,
    losses,
  )
}

/** The blocks of the entry, in order, against those that were read: what is not there was not understood or stands apart. */
function* blockLosses(blocks: readonly Block[], read: readonly Block[]): Generator<string> {
  let at = 0
  for (const block of blocks) {
    const isThere = read[at]?.type === block.type
    if (hasBlob(block)) yield 'content kept in a blob'
    else if (!isThere || !isHeld(block, read[at] as Block)) yield LOST[block.type]
    if (isThere) at += 1
  }
}

const LOST: Readonly<Record<Block['type'], string>> = {
  text: 'text',
  thinking: 'thinking facts',
  image: 'image facts',
  'tool-call': 'tool input',
  'tool-result': 'tool result facts',
  error: 'error',
  unknown: 'content that was not understood',
}

/** By what the block says: an id that it has not may have been filled in. A result's tool is named by its call. */
function isHeld(block: Block, read: Block): boolean {
  const known = new Map(Object.entries(read))
  return Object.entries(block).every(([key, value]) => {
    if (value === undefined || (key === 'name' && block.type === 'tool-result')) return true
    return isSame(value, known.get(key))
  })
}

const isSame = (a: unknown, b: unknown): boolean => a === b || (b !== undefined && toJson(a) === toJson(b))
