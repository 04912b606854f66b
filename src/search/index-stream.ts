/** What a shard has of an answer: newest first, or the best of its newest. */
import { createSequence, type Entry } from '../transcript/entry.ts'
import type { Doc } from './doc-pages.ts'
import type { Stream } from './lookup.ts'
import { readEntry, type Located } from './resolve.ts'
import type { Hit, Searching } from './searching.ts'
import { TOP, type IndexedUnit, type ShardReader } from './shard-reader.ts'
import type { ListedUnit } from './unit-list.ts'

const FIRST_CHUNK = 64
/** Where each has to be read. */
const FIRST_READ = 20
const MOST_CHUNK = 1024
/** Beyond this many matches of a shard, the newest are ranked: to rank all of a common word takes as long as reading the logs. */
const MOST_RANKED = 1000

export function indexStream(reader: ShardReader, searching: Searching): Stream<Hit> {
  const { order, plan } = searching
  const lookup = plan.lookup((field) => reader.facets(field))
  if (lookup === undefined) return { newest: () => Number.NEGATIVE_INFINITY, next: async () => undefined }
  const own = { reader, isExact: lookup.exact }
  const take = order === 'newest' ? takeNewest(lookup.exact) : takeRanked()
  let below = plan.until === Number.POSITIVE_INFINITY ? TOP : reader.topBefore(plan.until)
  let isDone = false
  let newest = reader.newestBelow(below)
  return {
    newest: () => (isDone ? Number.NEGATIVE_INFINITY : newest),
    async next() {
      if (isDone || newest < plan.since) {
        isDone = true
        return undefined
      }
      const taken = await take(lookup.expression, below, own, searching)
      isDone = taken.isLast
      below = taken.last
      if (!isDone) newest = reader.newestBelow(below)
      return taken.hits
    },
  }
}

type Own = { readonly reader: ShardReader; readonly isExact: boolean }
type Match = { readonly number: number; readonly score: number }
type Taken = { readonly hits: readonly Hit[]; readonly last: number; readonly isLast: boolean }
type Take = (fts: string, below: number, own: Own, searching: Searching) => Promise<Taken>

function takeNewest(isExact: boolean): Take {
  let chunk = isExact ? FIRST_CHUNK : FIRST_READ
  return async (fts, below, own, searching) => {
    const found = own.reader.matches(fts, below, chunk)
    const isLast = found.length < chunk
    chunk = Math.min(chunk * 2, MOST_CHUNK)
    const hits: Hit[] = []
    for (const number of found) {
      const hit = await toHit({ number, score: 0 }, own, searching)
      if (hit !== undefined) hits.push(hit)
      if (searching.isLate()) break
    }
    return { hits, last: found.at(-1) ?? below, isLast }
  }
}

function takeRanked(): Take {
  return async (fts, below, own, searching) => {
    const { limit } = searching
    let { best, count, last } = own.reader.ranked(fts, below, MOST_RANKED, limit * 2)
    let hits = await bestOf(best, own, searching)
    if (hits.length < limit && count > best.length) {
      ;({ best } = own.reader.ranked(fts, below, MOST_RANKED, MOST_RANKED))
      hits = await bestOf(best, own, searching)
    }
    // Enough of the newest were good: what is older is not ranked.
    return { hits, last, isLast: count < MOST_RANKED || hits.length >= limit }
  }
}

/** From the best on, as many as are asked for. */
async function bestOf(found: readonly Match[], own: Own, searching: Searching): Promise<Hit[]> {
  const hits: Hit[] = []
  for (const match of found) {
    const hit = await toHit(match, own, searching)
    if (hit !== undefined) hits.push(hit)
    if (hits.length >= searching.limit || searching.isLate()) break
  }
  return hits
}

async function toHit(
  { number, score }: Match,
  { reader, isExact }: Own,
  searching: Searching,
): Promise<Hit | undefined> {
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
  if (sequence === undefined) return undefined
  const unit = searching.unit(indexed.name)
  if (unit === undefined) return undefined
  const located = toLocated(doc, { reader, unit, key })
  let entry: Entry | undefined
  // A title stands at the first entry of the session, which is not that of each of its units.
  const isFirstOfUnit = doc.sequence === 0 && sequence !== 0
  if (!isExact || isInTime === undefined || isFirstOfUnit) {
    entry = await readEntry(searching.archive, located)
    if (entry === undefined || !plan.entry({ ...entry, sequence }, session)) return undefined
  }
  const { at, hasAt, role } = doc
  const { source } = located
  const tie = `${key} ${source} ${String(sequence).padStart(12, '0')}`
  return { at, score, tie, session, source, sequence, role, hasAt, located, ...(entry && { entry }) }
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
