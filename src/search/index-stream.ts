/** What a shard has of an answer: newest first, or the best of its newest. */
import { createSequence, type Entry } from '../transcript/entry.ts'
import type { Session } from '../transcript/session.ts'
import { PAGE_DOCS, type Doc } from './doc-pages.ts'
import { createJoin } from './entry-identity.ts'
import { createHolding, MOST_FOUND } from './held-entries.ts'
import { createRanked, NOTHING_AHEAD, prefetch, type Match, type Take } from './index-ranked.ts'
import type { Stream } from './lookup.ts'
import { ALL } from './plan.ts'
import { readTogether, type Located, type Wanted } from './resolve.ts'
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
  const find = (matches: readonly Match[]): Promise<readonly Hit[]> => toHits(matches, own, searching)
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
    prefetch(found, own.reader, searching)
    const hits = await toHits(
      found.map((number) => ({ number, score: 0 })),
      own,
      searching,
    )
    return { hits, last: found.at(-1) ?? below, isLast }
  }
}

/** Those of the matches that are hits, in the same order: what has to be read for that is read together. */
async function toHits(
  matches: readonly Match[],
  { reader, isExact, pages }: Own,
  searching: Searching,
): Promise<readonly Hit[]> {
  const { archive, plan, isLate, onUnreadable } = searching
  const hits = new Map<number, Hit>()
  const wanted: Wanted[] = []
  const isHeld = createHolding(MOST_FOUND)
  for (const { number, score } of matches) {
    if (pages !== undefined && !pages.has(Math.floor(number / PAGE_DOCS))) continue
    const known = whatIsKnown(number, reader, searching)
    if (known === undefined) continue
    const { doc, session, sequence, located, isInTime } = known
    const { at, hasAt, role } = doc
    const { key, source } = located
    const tie = `${key} ${source} ${String(sequence).padStart(12, '0')}`
    const hit = { at, score, tie, session, source, sequence, role, hasAt, located }
    // A title stands at the first entry of the session, which is not that of each of its units.
    const isFirstOfUnit = doc.sequence === 0 && sequence !== 0
    if (isExact && !doc.isLarge && isInTime !== undefined && !isFirstOfUnit) hits.set(number, hit)
    else {
      const take = (searched: Entry): void => {
        if (!plan.entry({ ...searched, sequence }, session)) return
        hits.set(number, isHeld(searched) ? { ...hit, searched } : hit)
      }
      wanted.push({ located, isShown: false, take })
    }
  }
  await readTogether(archive, wanted, { isLate, onUnreadable })
  return matches.flatMap(({ number }) => hits.get(number) ?? [])
}

type Known = {
  readonly doc: Doc
  readonly session: Session
  readonly sequence: number
  readonly located: Located
  /** Undefined when only the entry itself can tell. */
  readonly isInTime: true | undefined
}

/** Undefined for what is no hit, whatever it says. */
function whatIsKnown(number: number, reader: ShardReader, searching: Searching): Known | undefined {
  const { view, plan } = searching
  const indexed = reader.unitOf(number)
  if (indexed === undefined || !view.isCurrent(reader.shard, indexed.name)) return undefined
  const doc = reader.doc(number)
  const key = reader.sessionKey(doc.session)
  if (view.apart.has(key) || view.isHidden(indexed.name, key)) return undefined
  const session = searching.session(key)
  if (session === undefined || !plan.session(session)) return undefined
  const isInTime = plan.time(doc, session)
  if (isInTime === false) return undefined
  const sequence = view.several.has(key) ? searching.numbered(key, indexed.name, number) : doc.sequence
  const unit = sequence === undefined ? undefined : searching.unit(indexed.name)
  if (sequence === undefined || unit === undefined) return undefined
  return { doc, session, sequence, located: toLocated(doc, { reader, unit, key }), isInTime }
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
  const join = createJoin()
  const next = createSequence()
  for (const { name } of units) {
    const placed = readers.flatMap((reader) => {
      const unit = reader.units().find((one) => one.name === name)
      return unit === undefined ? [] : [{ reader, unit }]
    })[0]
    if (placed === undefined) continue
    const isNew = join()
    for (const { number, doc } of docsOf(placed.reader, placed.unit)) {
      if (placed.reader.sessionKey(doc.session) !== key || !isNew(doc.identity)) continue
      numbers.set(`${name}\n${number}`, next(placed.reader.name(doc.source)))
    }
  }
  return numbers
}

function* docsOf(reader: ShardReader, { pieces }: IndexedUnit): Generator<{ number: number; doc: Doc }> {
  for (const { low, high } of pieces)
    for (let number = low; number < high; number += 1) yield { number, doc: reader.doc(number) }
}
