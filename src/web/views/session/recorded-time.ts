/**
 * When entries came, by the columns of a session: how long after the one before, and how long since the first. Time never runs
 * backwards, whatever the clocks of a session say. Going on by an entry takes no time; going back reads from the beginning.
 */
import type { Columns } from './columns.ts'

export type RecordedTime = {
  /** Goes to an entry. Milliseconds since the first that has a time; undefined where none has. */
  to(columns: Columns, position: number): number | undefined
  /** Milliseconds between the entry that was gone to and the next, as recorded. */
  gapAfter(columns: Columns): number
}

export function createRecordedTime(): RecordedTime {
  let at = -1
  let first = Number.NaN
  let latest = Number.NaN
  const take = (time: number): void => {
    if (Number.isNaN(time)) return
    if (Number.isNaN(first)) first = latest = time
    latest = Math.max(latest, time)
  }
  return {
    to({ times, length }, position) {
      if (position < at) [at, first, latest] = [-1, Number.NaN, Number.NaN]
      const end = Math.min(position, length - 1)
      while (at < end) take(times[(at += 1)] ?? Number.NaN)
      return Number.isNaN(first) ? undefined : latest - first
    },
    gapAfter({ times, length }) {
      const next = at + 1 < length ? (times[at + 1] ?? Number.NaN) : Number.NaN
      return Number.isNaN(next) || Number.isNaN(latest) ? 0 : Math.max(0, next - latest)
    },
  }
}
