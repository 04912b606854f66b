/** What a format does not hold of an entry from elsewhere, told by what the lines written for it read back as. */
import type { Block } from '../transcript/block.ts'
import { PRIMARY, type Entry } from '../transcript/entry.ts'
import type { WriteContext } from './format.ts'
import { loseEntry, loseEntryFacts, type HeldEntry } from './lost-facts.ts'
import { blockLosses } from './message-losses.ts'

export type ReadBack = {
  /** The messages among the entry's lines, as the reader gives them. */
  readonly messages: readonly Pick<Entry, 'role' | 'at' | 'blocks' | 'model' | 'durationMs' | 'stopReason'>[]
  /** What else reads back on them: id, parent, usage, call. */
  readonly held: HeldEntry
  /** The entry's blocks in the order in which they were written, where that is another than its own. */
  readonly blocks?: readonly Block[]
  /** What only the writer can know: results whose tool nothing names are among it. */
  readonly lost: readonly string[]
}

/** `why` says what became of an entry of which nothing reads back as a message. */
export function loseByReading(
  entry: Entry,
  { messages, held, blocks = entry.blocks, lost }: ReadBack,
  why: string,
  context: WriteContext,
): void {
  const [first] = messages
  if (first === undefined) {
    loseEntry(entry, why, context)
    return
  }
  const isOneRole = messages.every(({ role }) => role === entry.role)
  const model = messages.find((message) => message.model !== undefined)?.model ?? held.model
  if (entry.role === 'assistant' && entry.model === undefined && model !== undefined) {
    context.filled(entry, 'model')
  }
  const read = messages.flatMap((message) => message.blocks)
  const losses = new Set([...blockLosses(blocks, read, ({ name }) => name), ...lost])
  if (messages.length > 1) losses.add('block boundaries')
  loseEntryFacts(
    entry,
    {
      kind: 'message',
      source: PRIMARY,
      ...(isOneRole && entry.role !== undefined && { role: entry.role }),
      ...(first.at !== undefined && { at: first.at }),
      ...(model !== undefined && { model }),
      ...(first.durationMs !== undefined && { durationMs: first.durationMs }),
      ...(first.stopReason !== undefined && { stopReason: first.stopReason }),
      callIds: true,
      ...held,
    },
    context,
    losses,
  )
}
