/**
 * The first records of a session, held back until one of them names it: its item comes before all others, and says what they say.
 * State records, which name no session, often come first.
 */
import type { RecordBatch } from '../transcript/records.ts'
import type { ReadItem } from './format.ts'

export type Opening = {
  /** The items of a file's next records; undefined while they are held back. */
  take(batch: RecordBatch): ReadItem[] | undefined
  /** When the file has no more: those of records that are still held back. */
  end(): readonly ReadItem[] | undefined
}

export type OpeningOptions = {
  readonly isOpen: () => boolean
  /** Whether the session is named by these, or will be by none. */
  readonly isNamed: (records: RecordBatch['records']) => boolean
  readonly toItems: (batch: RecordBatch) => ReadItem[]
  readonly open: () => ReadItem
}

/** Records held back at most. */
const HELD = 1000

export function createOpening({ isOpen, isNamed, toItems, open }: OpeningOptions): Opening {
  let held: RecordBatch[] = []
  let count = 0
  const openWith = (batches: readonly RecordBatch[]): ReadItem[] => {
    const items: ReadItem[] = []
    // They are taken in before the session's item is made.
    for (const batch of batches) for (const item of toItems(batch)) items.push(item)
    items.unshift(open())
    return items
  }
  return {
    take(batch) {
      if (isOpen()) return toItems(batch)
      count += batch.records.length
      if (!isNamed(batch.records) && count < HELD) {
        held.push(settled(batch))
        return undefined
      }
      const all = held.length === 0 ? [batch] : [...held, batch]
      held = []
      return openWith(all)
    },
    end: () => (held.length > 0 ? openWith(held) : undefined),
  }
}

/** For when others are asked for before these are taken in. */
function settled({ records, damage }: RecordBatch): RecordBatch {
  const whole = records.map(({ number, byteOffset, byteLength, value, text, whole: read }) => ({
    number,
    byteOffset,
    byteLength,
    value: read === undefined ? value : read(),
    text,
  }))
  return { records: whole, damage }
}
