/**
 * How long parts of answers are with us, from our read of one to our write of it: counted by how long it was, in memory that does not
 * grow, so that every proxy can say at any time what it costs. What waits in the machine before we read it is not ours to see.
 */

export type Delays = {
  readonly add: (milliseconds: number) => void
  readonly summary: () => DelaySummary
}

/** Microseconds, at most an eighth more than they were; null when nothing has passed. */
export type DelaySummary = {
  readonly parts: number
  readonly p50: number | null
  readonly p99: number | null
  readonly longest: number | null
}

/** Buckets for each doubling, from a microsecond up to a minute; what is longer is in the last. */
const STEPS = 8
const DOUBLINGS = 26

export function createDelays(): Delays {
  const counts = new Float64Array(STEPS * DOUBLINGS)
  let parts = 0
  let longest = 0
  const quantile = (part: number): number | null => {
    let left = Math.ceil(parts * part)
    for (const [at, count] of counts.entries()) {
      left -= count
      if (count > 0 && left <= 0) return Math.min(longest, 2 ** ((at + 1) / STEPS))
    }
    return null
  }
  return {
    add(milliseconds) {
      const micros = Math.max(1, milliseconds * 1000)
      const at = Math.min(counts.length - 1, Math.floor(Math.log2(micros) * STEPS))
      counts[at] = (counts[at] ?? 0) + 1
      parts += 1
      if (micros > longest) longest = micros
    },
    summary: () => ({
      parts,
      p50: quantile(0.5),
      p99: quantile(0.99),
      longest: parts === 0 ? null : longest,
    }),
  }
}
