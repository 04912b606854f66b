/**
 * The numbers of entries in a shard. Units of a new index go down from the middle, the newest batch first; what is newer than all,
 * and what a unit has grown by, goes on top. So a search that goes by numbers meets new ones first.
 */
import type { Database } from '../sqlite/driver.ts'
import { PAGE_DOCS } from './doc-pages.ts'
import type { ListedUnit } from './unit-list.ts'

/** Numbers from `low` on, below `limit`. Both begin a page. */
export type Span = { readonly low: number; readonly limit: number }

export type Numbers = {
  /** For a unit that is new here. One at a time, until `end` says where it ended. */
  begin(): Span
  end(high: number): void
  /** For what a unit has grown by: twice as much room as it had, so that the pieces of one stay few. */
  more(docs: number): Span
}

/** Numbers below it are written in a byte more or less, those above without end. */
const MIDDLE = 2 ** 31
/** Hardly a format writes an entry in fewer bytes; what is compressed may hold more, and goes on top. */
const BYTES_A_DOC = 64
const LEAST_MORE = 256

/** `units`: those that are new, ascending by time. */
export function createNumbers(database: Database, units: readonly ListedUnit[]): Numbers {
  const row = database
    .prepare('SELECT min(low) AS low, max(room) AS top, max(max_at) AS newest FROM pieces')
    .get()
  const end = Number(row?.['low'] ?? MIDDLE)
  let top = Number(row?.['top'] ?? MIDDLE)
  const newest = row?.['newest']
  const isNewer = typeof newest === 'number' && (units[0]?.endedAt ?? 0) >= newest
  const room = units.reduce((sum, { bytes }) => sum + aligned(Math.ceil(bytes / BYTES_A_DOC) + 1), 0)
  let next = end - room
  let isOnTop = isNewer
  return {
    begin() {
      isOnTop = isNewer || next >= end
      return isOnTop ? { low: top, limit: Number.MAX_SAFE_INTEGER } : { low: next, limit: end }
    },
    end(high) {
      if (isOnTop) top = Math.max(top, aligned(high))
      else next = aligned(high)
    },
    more(docs) {
      const low = top
      top += aligned(Math.max(LEAST_MORE, docs))
      return { low, limit: top }
    },
  }
}

export function aligned(number: number): number {
  return Math.ceil(number / PAGE_DOCS) * PAGE_DOCS
}
