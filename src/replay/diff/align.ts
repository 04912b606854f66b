/**
 * Which items of two lists are the same, in order: as many as are found soon. What stands once in both holds the lists together; between
 * that the shortest way from one to the other is looked for, and given up when they have little in common. Pairs ascend in both lists.
 */

export type Pair = readonly [a: number, b: number]

type Range = { readonly a: number; readonly toA: number; readonly b: number; readonly toB: number }

export function align(a: readonly string[], b: readonly string[]): readonly Pair[] {
  const pairs: Pair[] = []
  // By a stack of our own: anchors may lie within each other as deep as the lists are long.
  const open: Range[] = [{ a: 0, toA: a.length, b: 0, toB: b.length }]
  for (let range = open.pop(); range !== undefined; range = open.pop()) {
    const inner = trim(a, b, range, pairs)
    if (inner.a === inner.toA || inner.b === inner.toB) continue
    const anchors = longestRise(uniquePairs(a, b, inner))
    if (anchors.length === 0) {
      shortestWay(a, b, inner, pairs)
      continue
    }
    let [fromA, fromB] = [inner.a, inner.b]
    for (const [atA, atB] of anchors) {
      pairs.push([atA, atB])
      open.push({ a: fromA, toA: atA, b: fromB, toB: atB })
      fromA = atA + 1
      fromB = atB + 1
    }
    open.push({ a: fromA, toA: inner.toA, b: fromB, toB: inner.toB })
  }
  return pairs.sort(([one], [other]) => one - other)
}

/** What both begin and end with. */
function trim(a: readonly string[], b: readonly string[], range: Range, pairs: Pair[]): Range {
  let { a: fromA, toA, b: fromB, toB } = range
  while (fromA < toA && fromB < toB && a[fromA] === b[fromB]) pairs.push([fromA++, fromB++])
  while (fromA < toA && fromB < toB && a[toA - 1] === b[toB - 1]) pairs.push([--toA, --toB])
  return { a: fromA, toA, b: fromB, toB }
}

/** In the order of the first list. */
function uniquePairs(
  a: readonly string[],
  b: readonly string[],
  { a: fromA, toA, b: fromB, toB }: Range,
): Pair[] {
  const once = (list: readonly string[], from: number, to: number): Map<string, number> => {
    const places = new Map<string, number>()
    for (let at = from; at < to; at += 1) {
      const key = list[at] as string
      places.set(key, places.has(key) ? -1 : at)
    }
    return places
  }
  const others = once(b, fromB, toB)
  const pairs: Pair[] = []
  for (const [key, at] of once(a, fromA, toA)) {
    const other = others.get(key) ?? -1
    if (at >= 0 && other >= 0) pairs.push([at, other])
  }
  return pairs
}

/** The most pairs that ascend in the second list, too: by piles, as in patience. */
function longestRise(pairs: readonly Pair[]): readonly Pair[] {
  const tops: number[] = []
  const before: number[] = []
  for (const [at, [, b]] of pairs.entries()) {
    let [low, high] = [0, tops.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((pairs[tops[middle] as number] as Pair)[1] < b) low = middle + 1
      else high = middle
    }
    before[at] = low === 0 ? -1 : (tops[low - 1] as number)
    tops[low] = at
  }
  const rise: Pair[] = []
  for (let at = tops.at(-1) ?? -1; at >= 0; at = before[at] as number) rise.push(pairs[at] as Pair)
  return rise.toReversed()
}

/** Items that may go and come between two anchors; past that nothing between them is taken for the same. */
const MOST_EDITS = 1500

/** Myers' greedy way, forwards. */
function shortestWay(a: readonly string[], b: readonly string[], range: Range, pairs: Pair[]): void {
  const [n, m] = [range.toA - range.a, range.toB - range.b]
  const most = Math.min(n + m, MOST_EDITS)
  const furthest = new Int32Array(2 * most + 2)
  const trace: Int32Array[] = []
  for (let edits = 0; edits <= most; edits += 1) {
    trace.push(furthest.slice(most - edits, most + edits + 2))
    for (let k = -edits; k <= edits; k += 2) {
      const isDown = k === -edits || (k !== edits && at(furthest, most + k - 1) < at(furthest, most + k + 1))
      let x = isDown ? at(furthest, most + k + 1) : at(furthest, most + k - 1) + 1
      let y = x - k
      while (x < n && y < m && a[range.a + x] === b[range.b + y]) {
        x += 1
        y += 1
      }
      furthest[most + k] = x
      if (x >= n && y >= m) return walkBack(range, trace, { x: n, y: m }, pairs)
    }
  }
}

function walkBack(
  range: Range,
  trace: readonly Int32Array[],
  end: { x: number; y: number },
  pairs: Pair[],
): void {
  let { x, y } = end
  for (let edits = trace.length - 1; edits >= 0; edits -= 1) {
    const row = trace[edits] as Int32Array
    const k = x - y
    const isDown = k === -edits || (k !== edits && at(row, k - 1 + edits) < at(row, k + 1 + edits))
    const fromK = isDown ? k + 1 : k - 1
    const fromX = edits === 0 ? 0 : at(row, fromK + edits)
    const fromY = edits === 0 ? 0 : fromX - fromK
    while (x > fromX && y > fromY) {
      x -= 1
      y -= 1
      pairs.push([range.a + x, range.b + y])
    }
    x = fromX
    y = fromY
  }
}

const at = (row: Int32Array, index: number): number => row[index] ?? 0
