/** How a segment begins: who wrote it, when, and which line of another segment it continues after. */
import { toMillis } from '../transcript/instant.ts'
import type { JournalRecord } from './record.ts'
import { readJournal } from './reader.ts'

/** A segment to read: what to call it, and its bytes from the start, as often as asked. */
export type SegmentSource = { readonly file: string; chunks(): AsyncIterable<Buffer> }

export type SessionRecord = Extract<JournalRecord, { t: 'session' }>

export type Start = {
  readonly segment: SegmentSource
  /** Undefined when the first line is lost. */
  readonly record: SessionRecord | undefined
  /** Monotonic microseconds of the first good line, and the wall clock's at that moment, where they are known. */
  readonly mt: number
  readonly wall: number
}

/** Reads no more than the first good line. */
export async function readStart(segment: SegmentSource): Promise<Start> {
  for await (const items of readJournal(segment.chunks(), segment.file)) {
    for (const item of items) {
      if (!item.ok) continue
      const record = item.record.t === 'session' ? item.record : undefined
      const wall = record === undefined ? Number.NaN : toMillis(record.at) * 1000
      return { segment, record, mt: item.mt, wall: Number.isNaN(wall) ? 0 : wall }
    }
  }
  return { segment, record: undefined, mt: 0, wall: 0 }
}
