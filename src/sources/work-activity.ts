/** How busy a session was over its time, in a fixed number of buckets: twice as wide each time it outgrows them. */
import { toMillis } from '../transcript/instant.ts'

/** `from`: milliseconds since 1970. Entries that say no time, or one before it, are not in `counts` or in its first. */
export type Activity = {
  readonly from: number
  readonly bucketMs: number
  readonly counts: readonly number[]
}

export type ActivityFold = {
  add(at: string | undefined): void
  /** Undefined when no entry says a time. */
  activity(): Activity | undefined
  /** The latest instant met. */
  lastAt(): string | undefined
}

const BUCKETS = 24
const FIRST_MS = 1000

export function createActivityFold(): ActivityFold {
  const counts: number[] = Array.from({ length: BUCKETS }, () => 0)
  let from: number | undefined
  let bucketMs = FIRST_MS
  let last: string | undefined
  let lastMillis = Number.NEGATIVE_INFINITY

  return {
    add(at) {
      if (at === undefined) return
      const millis = at === last ? lastMillis : toMillis(at)
      if (Number.isNaN(millis)) return
      from ??= Math.floor(millis / FIRST_MS) * FIRST_MS
      if (millis >= lastMillis) {
        lastMillis = millis
        last = at
      }
      let bucket = Math.max(0, Math.floor((millis - from) / bucketMs))
      for (; bucket >= BUCKETS; bucket = Math.floor((millis - from) / bucketMs)) {
        widen(counts)
        bucketMs *= 2
      }
      counts[bucket] = (counts[bucket] ?? 0) + 1
    },
    activity() {
      if (from === undefined) return undefined
      let end = BUCKETS
      while (end > 1 && counts[end - 1] === 0) end -= 1
      return { from, bucketMs, counts: counts.slice(0, end) }
    },
    lastAt: () => last,
  }
}

/** Both, from where the first began. Entries of a bucket stand where it began. */
export function addActivity(a: Activity, b: Activity): Activity {
  const endOf = ({ from, bucketMs, counts }: Activity): number => from + (counts.length - 1) * bucketMs
  const { from } = a
  let bucketMs = Math.max(a.bucketMs, b.bucketMs)
  while (Math.floor((Math.max(endOf(a), endOf(b)) - from) / bucketMs) >= BUCKETS) bucketMs *= 2
  const counts: number[] = []
  for (const one of [a, b]) {
    for (const [at, count] of one.counts.entries()) {
      const bucket = Math.max(0, Math.floor((one.from + at * one.bucketMs - from) / bucketMs))
      while (counts.length <= bucket) counts.push(0)
      counts[bucket] = (counts[bucket] ?? 0) + count
    }
  }
  return { from, bucketMs, counts }
}

function widen(counts: number[]): void {
  for (let at = 0; at < BUCKETS; at += 1) {
    counts[at] = at * 2 < BUCKETS ? (counts[at * 2] ?? 0) + (counts[at * 2 + 1] ?? 0) : 0
  }
}
