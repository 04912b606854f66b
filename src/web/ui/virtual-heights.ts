/**
 * The heights of N rows, of which few have been seen: those that were measured, and an estimate for the others. Offsets and the row at
 * an offset take a logarithmic number of steps, and a row more or a height more does not move what is known: a tree of sums holds only
 * how measured rows differ from the estimate. About 12 bytes a row.
 */

export type Heights = {
  readonly count: number
  /** Of all rows, in pixels. */
  readonly total: number
  height(row: number): number
  /** Where the row begins. `count` gives the total. */
  offset(row: number): number
  /** The row that an offset lies in; the first or last for what lies outside. */
  rowAt(offset: number): number
  /** Says whether it was another. */
  measure(row: number, height: number): boolean
  /** More or fewer rows at the end. */
  resize(count: number): void
  /** Rows from here on are others now: what was measured is forgotten. */
  forget(from?: number): void
}

export function createHeights(rows: number, estimate: number): Heights {
  let count = rows
  let capacity = powerOfTwo(rows)
  /** NaN where not measured. */
  let measured = new Float32Array(capacity).fill(Number.NaN)
  /** A Fenwick tree over the differences; index 0 is not used. */
  let tree = new Float64Array(capacity + 1)

  const add = (row: number, difference: number): void => {
    for (let at = row + 1; at <= capacity; at += at & -at) tree[at] = (tree[at] ?? 0) + difference
  }
  const heightOf = (row: number): number => {
    const known = measured[row] ?? Number.NaN
    return Number.isNaN(known) ? estimate : known
  }
  const offset = (row: number): number => {
    let sum = 0
    for (let at = row; at > 0; at -= at & -at) sum += tree[at] ?? 0
    return row * estimate + sum
  }
  const forget = (from: number, to: number): void => {
    for (let row = from; row < to; row += 1) {
      const known = measured[row] ?? Number.NaN
      if (Number.isNaN(known)) continue
      add(row, estimate - known)
      measured[row] = Number.NaN
    }
  }

  return {
    get count() {
      return count
    },
    get total() {
      return offset(count)
    },
    height: heightOf,
    offset,
    rowAt(wanted) {
      let [row, sum] = [0, 0]
      for (let step = capacity; step > 0; step >>= 1) {
        if (row + step > count) continue
        const next = sum + step * estimate + (tree[row + step] ?? 0)
        if (next <= wanted) [row, sum] = [row + step, next]
      }
      return Math.max(0, Math.min(row, count - 1))
    },
    measure(row, height) {
      if (row >= count || heightOf(row) === Math.fround(height)) return false
      const before = heightOf(row)
      measured[row] = height
      add(row, heightOf(row) - before)
      return true
    },
    resize(next) {
      if (next < count) forget(next, count)
      count = next
      if (next <= capacity) return
      const known = measured
      capacity = powerOfTwo(next)
      measured = new Float32Array(capacity).fill(Number.NaN)
      measured.set(known)
      tree = new Float64Array(capacity + 1)
      known.forEach((height, row) => Number.isNaN(height) || add(row, height - estimate))
    },
    forget: (from = 0) => forget(from, count),
  }
}

function powerOfTwo(least: number): number {
  let power = 64
  while (power < least) power *= 2
  return power
}
