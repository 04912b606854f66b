/**
 * Streams of candidates, each from one part of the archive, put together into the first hits: by time, or by how well they match. A
 * stream says how new the rest of it can be at most, so that none is read further than the answer needs, and the answer is exact.
 */

export type Found = {
  /** Milliseconds since 1970. */
  readonly at: number
  /** Lower is better. */
  readonly score: number
  /** Tells apart what is equal otherwise, the same every time. */
  readonly tie: string
}

export type Stream<T extends Found> = {
  /** No further one is newer than this. */
  newest(): number
  /** Some more; undefined when there is no more. What does not match is left out. */
  next(): Promise<readonly T[] | undefined>
  ahead?(): Ahead
}

/** What a stream of the best can say before it is asked for hits. */
export type Ahead = {
  /** From the best on. */
  readonly scores: readonly number[]
  /** Asks at once for what a shard knows of those that are as good as this; gives what the state will be asked for. */
  prefetch(worst: number): { readonly keys: readonly string[]; readonly names: readonly string[] }
}

export type Order = 'newest' | 'ranked'

export type Gathered<T> = {
  readonly hits: readonly T[]
  /** False when there may be more than was looked at. */
  readonly isAll: boolean
  readonly isLate: boolean
}

/** The newest of all streams. */
export async function gatherNewest<T extends Found>(
  streams: readonly Stream<T>[],
  limit: number,
  isLate: () => boolean,
): Promise<Gathered<T>> {
  const open = new Set(streams)
  let hits: T[] = []
  while (open.size > 0) {
    let first: Stream<T> | undefined
    for (const stream of open) if (first === undefined || stream.newest() > first.newest()) first = stream
    if (first === undefined) break
    // Asked first: a stream that was stopped by the deadline says that there is no more.
    if (isLate()) return { hits, isAll: false, isLate: true }
    const last = hits[limit - 1]
    if (last !== undefined && last.at > first.newest()) return { hits, isAll: false, isLate: false }
    const more = await first.next()
    if (more === undefined) open.delete(first)
    else if (more.length > 0) hits = best([...hits, ...more], 'newest', limit)
  }
  return { hits, isAll: hits.length < limit, isLate: false }
}

/**
 * The best of all streams. They are read to their end, or as far as they go. `onFull` is told the worst score that is still among
 * the first: what has a worse one need not be looked at.
 */
export async function gatherRanked<T extends Found>(
  streams: readonly Stream<T>[],
  limit: number,
  isLate: () => boolean,
  onFull: (worst: number) => void = () => {},
): Promise<Gathered<T>> {
  let hits: T[] = []
  // Once around, for those that give their best first.
  for (const stream of streams) {
    if (isLate()) return { hits, isAll: false, isLate: true }
    hits = best([...hits, ...((await stream.next()) ?? [])], 'ranked', limit)
  }
  const worst = hits[limit - 1]
  if (worst !== undefined) onFull(worst.score)
  for (const stream of streams) {
    for (;;) {
      if (isLate()) return { hits, isAll: false, isLate: true }
      const more = await stream.next()
      if (more === undefined) break
      if (more.length > 0) hits = best([...hits, ...more], 'ranked', limit)
      const last = hits[limit - 1]
      if (last !== undefined) onFull(last.score)
    }
  }
  return { hits, isAll: hits.length < limit, isLate: false }
}

export function best<T extends Found>(found: readonly T[], order: Order, limit: number): T[] {
  const byTime = (a: T, b: T): number => b.at - a.at || (a.tie < b.tie ? -1 : a.tie > b.tie ? 1 : 0)
  const byScore = (a: T, b: T): number => a.score - b.score || byTime(a, b)
  return found.toSorted(order === 'newest' ? byTime : byScore).slice(0, limit)
}
