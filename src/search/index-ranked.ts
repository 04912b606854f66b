/** The best of a shard's newest, and what is known of them asked for at once: one question for many costs little more than one for one. */
import type { Ahead, Stream } from './lookup.ts'
import type { Hit, Searching } from './searching.ts'
import type { ShardReader } from './shard-reader.ts'
import type { Ranked } from './word-lookup.ts'

/** Beyond this many matches of a shard, the newest are ranked: to rank all of a common word takes as long as reading the logs. */
const MOST_RANKED = 1000

export type Match = { readonly number: number; readonly score: number }
export type Taken = { readonly hits: readonly Hit[]; readonly last: number; readonly isLast: boolean }
export type Take = (below: number) => Promise<Taken>

type Given = {
  readonly reader: ShardReader
  readonly searching: Searching
  /** Those that are hits, in the same order. */
  readonly find: (matches: readonly Match[]) => Promise<readonly Hit[]>
}

/** What all shards hold to be the best, before any of it is looked at: what is known of those is asked for at once. */
export function lookAhead(streams: readonly Stream<Hit>[], searching: Searching): void {
  const looks = streams.flatMap((stream) => stream.ahead?.() ?? [])
  const scores = looks.flatMap(({ scores }) => scores).sort((a, b) => a - b)
  searching.hope = scores[searching.limit - 1] ?? Number.POSITIVE_INFINITY
  const asked = looks.map((look) => look.prefetch(searching.hope))
  searching.prefetch(
    asked.flatMap(({ keys }) => keys),
    asked.flatMap(({ names }) => names),
  )
}

export const NOTHING_AHEAD: Ahead = { scores: [], prefetch: () => ({ keys: [], names: [] }) }

type RankedTaker = { readonly take: Take; ahead(below: number): Ahead }

export function createRanked(fts: string, given: Given): RankedTaker {
  const { reader, searching } = given
  const { limit } = searching
  const rank = (below: number, most: number): Ranked =>
    reader.ranked(fts, { below, among: MOST_RANKED, limit: most, ideal: searching.plan.ideal })
  let first: Ranked | undefined
  /** Those that were not among the first by what all shards said, if there are enough that were. */
  let rest: readonly Match[] | undefined
  return {
    ahead(below) {
      first = rank(below, limit * 2)
      const { best } = first
      return {
        scores: best.map(({ score }) => score),
        prefetch(worst) {
          const numbers = best.flatMap(({ number, score }) => (score > worst ? [] : [number]))
          return prefetchShard(numbers.slice(0, limit), reader)
        },
      }
    },
    async take(below) {
      const { best, count, last } = first ?? rank(below, limit * 2)
      const { hope } = searching
      if (first !== undefined && rest === undefined && hope < Number.POSITIVE_INFINITY) {
        const good = best.filter(({ score }) => score <= hope)
        rest = best.slice(good.length)
        const { hits } = await bestOf(good, given)
        return { hits, last: below, isLast: false }
      }
      let { hits, isEnough } = await bestOf(rest ?? best, given)
      if (!isEnough && count > best.length) {
        const more = await bestOf(rank(below, MOST_RANKED).best.slice(best.length), given)
        hits = [...hits, ...more.hits]
        isEnough = more.isEnough
      }
      first = rest = undefined
      // Enough of the newest were good: what is older is not ranked.
      return { hits, last, isLast: count < MOST_RANKED || isEnough }
    },
  }
}

type Best = { readonly hits: readonly Hit[]; readonly isEnough: boolean }

/** Asks at once for what is known of many, before each is looked at. */
export function prefetch(numbers: readonly number[], reader: ShardReader, searching: Searching): void {
  const { keys, names } = prefetchShard(numbers, reader)
  if (keys.length > 0) searching.prefetch(keys, names)
}

function prefetchShard(numbers: readonly number[], reader: ShardReader): ReturnType<Ahead['prefetch']> {
  if (!reader.prefetch(numbers)) return { keys: [], names: [] }
  return {
    keys: numbers.map((number) => reader.sessionKey(reader.doc(number).session)),
    names: numbers.flatMap((number) => reader.unitOf(number)?.name ?? []),
  }
}

/** From the best on, as many as are asked for, and none that cannot be among the first any more. */
async function bestOf(found: readonly Match[], { find, searching }: Given): Promise<Best> {
  const { limit, isLate } = searching
  const hits: Hit[] = []
  const atOnce = Math.max(1, limit)
  for (let from = 0; from < found.length && !isLate(); from += atOnce) {
    const good = found.slice(from, from + atOnce).filter(({ score }) => score <= searching.worst)
    hits.push(...(await find(good)))
    if (hits.length >= limit) return { hits: hits.slice(0, limit), isEnough: true }
    // The rest cannot be among the first any more.
    if (good.length < atOnce && from + good.length < found.length) return { hits, isEnough: true }
  }
  return { hits, isEnough: false }
}
