/** What a shard has of an answer: newest first, or the best of its newest. */
import { createSequence, type Entry } from '../transcript/entry.ts'
import { PAGE_DOCS, type Doc } from './doc-pages.ts'
import { createRanked, NOTHING_AHEAD, prefetch, type Match, type Take } from './index-ranked.ts'
import type { Stream } from './lookup.ts'
import { ALL } from './plan.ts'
import { readSearched, type Located } from './resolve.ts'
import type { Hit, Searching } from './searching.ts'
import { TOP, type IndexedUnit } from './shard-blocks.ts'
import type { ShardReader } from './shard-reader.ts'
import type { ListedUnit } from './unit-list.ts'
import { docsOfPages, matchesWithinWords, type Matches } from './within-matches.ts'

const FIRST_CHUNK = 64
/** Where each has to be read. */
const FIRST_READ = 20
const MOST_CHUNK = 1024

/** `pages`: the only ones to look at; undefined for all. */
export function indexStream(
  reader: ShardReader,
  searching: Searching,
  pages: readonly number[] | undefined,
): Stream<Hit> {
  const { order, plan } = searching
  const lookup = plan.lookup(reader.facets)
  if (lookup === undefined) return { newest: () => Number.NEGATIVE_INFINITY, next: async () => undefined }
  const own: Own = {
    reader,
    isExact: lookup.exact,
    matches: createMatches(reader, lookup.expression, pages, searching),
    pages: pages && new Set(pages),
  }
  const find = (match: Match): Promise<Hit | undefined> => toHit(match, own, searching)
  const ranked = order === 'ranked' ? createRanked(lookup.expression, { reader, find, searching }) : undefined
  const take = ranked?.take ?? takeNewest(own, searching)
  let below = plan.until === Number.POSITIVE_INFINITY ? TOP : reader.topBefore(plan.until)
  let isDone = false
  let newest = reader.newestBelow(below)
  return {
    newest: () => (isDone ? Number.NEGATIVE_INFINITY : newest),
    ...(ranked && { ahead: () => (newest < plan.since ? NOTHING_AHEAD : ranked.ahead(below)) }),
    async next() {
      if (isDone || newest < plan.since) {
        isDone = true
        return undefined
      }
      const taken = await take(below)
      isDone = taken.isLast
      below = taken.last
      if (!isDone) newest = reader.newestBelow(below)
      return taken.hits
    },
  }
}

type Own = {
  readonly reader: ShardReader
  readonly isExact: boolean
  readonly matches: Matches
  /** The only ones that can have it; undefined when any can. */
  readonly pages: ReadonlySet<number> | undefined
}

function createMatches(
  reader: ShardReader,
  fts: string,
  pages: readonly number[] | undefined,
  { plan: { within }, isLate }: Searching,
): Matches {
  if (pages === undefined) return (below, limit) => reader.matches(fts, below, limit)
  if (within !== undefined) return matchesWithinWords({ reader, fts, pages, within, isLate })
  if (fts !== ALL) return matchesWithin(reader, fts, new Set(pages))
  return (below, limit) => docsOfPages(reader, pages, { low: Number.MIN_SAFE_INTEGER, high: below, limit })
}

function matchesWithin(reader: ShardReader, fts: string, pages: ReadonlySet<number>): Matches {
  return (below, limit) => {
    const found: number[] = []
    for (let from = below; ;) {
      const some = reader.matches(fts, from, MOST_CHUNK)
      for (const number of some) {
        if (found.length >= limit) return found
        if (pages.has(Math.floor(number / PAGE_DOCS))) found.push(number)
      }
      const last = some.at(-1)
      if (last === undefined || some.length < MOST_CHUNK) return found
      from = last
    }
  }
}

function takeNewest(own: Own, searching: Searching): Take {
  let chunk = own.isExact ? FIRST_CHUNK : FIRST_READ
  return async (below) => {
    const found = own.matches(below, chunk)
    const isLast = found.length < chunk
    chunk = Math.min(chunk * 2, MOST_CHUNK)
    const hits: Hit[] = []
    prefetch(found, own.reader, searching)
    for (const number of found) {
      const hit = await toHit({ number, score: 0 }, own, searching)
      if (hit !== undefined) hits.push(hit)
      if (searching.isLate()) break
    }
    return { hits, last: found.at(-1) ?? below, isLast }
  }
}

async function toHit(
  { number, score }: Match,
  { reader, isExact, pages }: Own,
  searching: Searching,
): Promise<Hit | undefined> {
  const { view, plan } = searching
  const indexed = reader.unitOf(number)
  if (pages !== undefined && !pages.has(Math.floor(number / PAGE_DOCS))) return undefined
  if (indexed === undefined || !view.isCurrent(reader.shard, indexed.name)) return undefined
  const doc = reader.doc(number)
  const key = reader.sessionKey(doc.session)
  if (view.apart.has(key) || view.isHidden(indexed.name, key)) return undefined
  const session = searching.session(key)
  if (session === undefined || !plan.session(session)) return undefined
  const isInTime = plan.time(doc, session)
  if (isInTime === false) return undefined
  const sequence = view.several.has(key) ? searching.numbered(key, indexed.name, number) : doc.sequence
  if (sequence === undefined) return undefined
  const unit = searching.unit(indexed.name)
  if (unit === undefined) return undefined
  const located = toLocated(doc, { reader, unit, key })
  let searched: Entry | undefined
  // A title stands at the first entry of the session, which is not that of each of its units.
  const isFirstOfUnit = doc.sequence === 0 && sequence !== 0
  if (!isExact || doc.isLarge || isInTime === undefined || isFirstOfUnit) {
    searched = await readSearched(searching.archive, located)
    if (searched === undefined || !plan.entry({ ...searched, sequence }, session)) return undefined
  }
  const { at, hasAt, role } = doc
  const { source } = located
  const tie = `${key} ${source} ${String(sequence).padStart(12, '0')}`
  return { at, score, tie, session, source, sequence, role, hasAt, located, ...(searched && { searched }) }
}

type Where = { readonly reader: ShardReader; readonly unit: ListedUnit; readonly key: string }

function toLocated(doc: Doc, { reader, unit, key }: Where): Located {
  const { sequence, version, byteOffset, byteLength, identity, mark } = doc
  const file = doc.file === 0 ? undefined : reader.name(doc.file)
  const source = reader.name(doc.source)
  return { unit, key, source, sequence, file, version, byteOffset, byteLength, identity, mark }
}

/** Numbers of a session's entries over all of its units, from what the index knows of them. */
export function numberSession(
  key: string,
  units: readonly ListedUnit[],
  readers: readonly ShardReader[],
): ReadonlyMap<string, number> {
  const numbers = new Map<string, number>()
  const seen = new Set<bigint>()
  const next = createSequence()
  for (const { name } of units) {
    const placed = readers.flatMap((reader) => {
      const unit = reader.units().find((one) => one.name === name)
      return unit === undefined ? [] : [{ reader, unit }]
    })[0]
    if (placed === undefined) continue
    for (const { number, doc } of docsOf(placed.reader, placed.unit)) {
      if (placed.reader.sessionKey(doc.session) !== key || seen.has(doc.identity)) continue
      seen.add(doc.identity)
      numbers.set(`${name}\n${number}`, next(placed.reader.name(doc.source)))
    }
  }
  return numbers
}

function* docsOf(reader: ShardReader, { pieces }: IndexedUnit): Generator<{ number: number; doc: Doc }> {
  for (const { low, high } of pieces)
    for (let number = low; number < high; number += 1) yield { number, doc: reader.doc(number) }
}
