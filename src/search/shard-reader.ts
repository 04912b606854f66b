/** A shard as a search sees it: matches by number from the newest down, and what is known of each. */
import type { Archive } from '../archive/archive.ts'
import type { Database, Statement } from '../sqlite/driver.ts'
import { DOC_BYTES, PAGE_DOCS, readDoc, type Doc } from './doc-pages.ts'
import type { GramTest } from './grams.ts'
import { isUnusable, MissingPage, peekShard, reportDamage } from './shard.ts'

export type IndexedUnit = {
  readonly id: number
  readonly name: string
  readonly version: string
  /** Its docs, in order: those from `low` on, below `high`. */
  readonly pieces: readonly { readonly low: number; readonly high: number }[]
}

export type ShardReader = {
  readonly shard: number
  /** From here to `end` it stays as it is, whoever writes. */
  begin(): void
  end(): void
  /** Changes when somebody else has written. */
  stamp(): unknown
  /** The state that the shard has caught up with, of how many shards, and what could not be indexed. */
  mark(): { readonly mark: string; readonly shards: number; readonly failed: readonly string[] } | undefined
  units(): readonly IndexedUnit[]
  unitOf(number: number): IndexedUnit | undefined
  /** No doc with a lower number is newer than this; -Infinity when there is none. */
  newestBelow(number: number): number
  /** No doc from this number on is older than a time. */
  topBefore(time: number): number
  /** Every facet of a field that some entry has, or had. */
  facets(field: string): readonly string[]
  /** Numbers of docs that match, from below a number down. */
  matches(fts: string, below: number, limit: number): readonly number[]
  /** The best of the newest `among`: lower scores are better. */
  ranked(fts: string, below: number, among: number, limit: number): Ranked
  count(fts: string): number
  /** Words from one on, below another, of such lengths, and how many entries have each. */
  words(from: string, below: string, lengths: readonly [number, number]): ReadonlyMap<string, number>
  /** The pages that may have it, each of `PAGE_DOCS` docs, from the highest down. */
  pagesWith(test: GramTest): readonly number[]
  doc(number: number): Doc
  name(id: number): string
  sessionKey(id: number): string
  close(): void
}

export type Ranked = {
  readonly best: readonly { readonly number: number; readonly score: number }[]
  /** How many were ranked, and the lowest number of them. */
  readonly count: number
  readonly last: number
}

/** Numbers of docs are below this. */
export const TOP = Number.MAX_SAFE_INTEGER

/** Some MB of what was looked at last. */
const MOST_PAGES = 4096
const MOST_NAMES = 100_000

export async function openShardReader(archive: Archive, number: number): Promise<ShardReader | undefined> {
  const shard = await peekShard(archive, number)
  if (shard === undefined) return undefined
  const { database } = shard
  const report = (): void => reportDamage(archive, number)
  const prepared = createStatements(database, report)
  const pages = createCache<Buffer>(MOST_PAGES)
  const names = createCache<string>(MOST_NAMES)
  const keys = createCache<string>(MOST_NAMES)
  let blocks: Blocks | undefined
  let hasVocabulary = false
  let grams: readonly PageGrams[] | undefined
  let seen: unknown
  const stamp = (): unknown => prepared('PRAGMA data_version').get()?.['data_version']
  const current = (): Blocks => {
    const now = stamp()
    if (blocks === undefined || now !== seen) {
      blocks = readBlocks(prepared)
      grams = undefined
      for (const cache of [pages, keys]) cache.clear()
      seen = now
    }
    return blocks
  }
  const text = (value: unknown): string => (typeof value === 'string' ? value : '')

  return {
    shard: number,
    begin: () => database.exec('BEGIN'),
    end: () => database.exec('COMMIT'),
    stamp,
    mark() {
      const rows = prepared('SELECT name, value FROM facts').all()
      const facts = new Map(rows.map(({ name, value }) => [name, text(value)]))
      const mark = facts.get('mark')
      if (mark === undefined) return undefined
      return {
        mark,
        shards: Number(facts.get('shards')),
        failed: JSON.parse(facts.get('failed') ?? '[]') as string[],
      }
    },
    units: () => current().units,
    unitOf(number) {
      const { pieces, lows } = current()
      const piece = pieces[lastAtMost(lows, number)]
      return piece !== undefined && number < piece.high ? piece.unit : undefined
    },
    newestBelow(number) {
      const { pieces, lows, newest } = current()
      const at = lastAtMost(lows, number - 1)
      const piece = pieces[at]
      if (piece === undefined) return Number.NEGATIVE_INFINITY
      if (number > piece.high) return newest[at] as number
      const page = prepared('SELECT newest FROM pages WHERE id = ?').get(Math.floor((number - 1) / PAGE_DOCS))
      return Math.max(newest[at - 1] ?? Number.NEGATIVE_INFINITY, Number(page?.['newest']))
    },
    topBefore(time) {
      const { pieces } = current()
      for (let at = pieces.length - 1; at >= 0; at -= 1) {
        const piece = pieces[at] as Piece
        if (piece.oldest <= time) return piece.high
      }
      return Number.NEGATIVE_INFINITY
    },
    facets: (field) =>
      prepared('SELECT name FROM facets WHERE name >= ? AND name < ?')
        .all(field, `${field}?`)
        .map(({ name }) => String(name)),
    matches: (fts, below, limit) =>
      prepared('SELECT rowid FROM words WHERE words MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?')
        .all(fts, below, limit)
        .map(({ rowid }) => Number(rowid)),
    ranked(fts, below, among, limit) {
      const rows = prepared(
        `SELECT rowid, score, min(rowid) OVER () AS last, count(*) OVER () AS count FROM (
           SELECT rowid, bm25(words, 1.0, 0.0) AS score FROM words
           WHERE words MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?
         ) ORDER BY score, rowid DESC LIMIT ?`,
      ).all(fts, below, among, limit)
      const best = rows.map(({ rowid, score }) => ({ number: Number(rowid), score: Number(score) }))
      return { best, count: Number(rows[0]?.['count'] ?? 0), last: Number(rows[0]?.['last'] ?? below) }
    },
    count: (fts) =>
      Number(prepared('SELECT count(*) AS count FROM words WHERE words MATCH ?').get(fts)?.['count'] ?? 0),
    words(from, below, [shortest, longest]) {
      if (!hasVocabulary)
        database.exec('CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, words, row)')
      hasVocabulary = true
      const rows = prepared(
        'SELECT term, doc FROM temp.vocabulary WHERE term >= ? AND term < ? AND length(term) BETWEEN ? AND ?',
      ).all(from, below, shortest, longest)
      return new Map(rows.map(({ term, doc }) => [String(term), Number(doc)]))
    },
    pagesWith(test) {
      const found: number[] = []
      const take = (page: number, bits: Uint8Array): void => {
        if (found.at(-1) !== page && test(bits)) found.push(page)
      }
      current()
      if (grams !== undefined) for (const { page, bits } of grams) take(page, bits)
      else grams = readGrams(prepared, take)
      return found
    },
    doc(number) {
      const at = Math.floor(number / PAGE_DOCS)
      const page = pages.get(at, () => {
        const docs = prepared('SELECT docs FROM pages WHERE id = ?').get(at)?.['docs']
        if (docs instanceof Uint8Array) return Buffer.from(docs.buffer, docs.byteOffset, docs.byteLength)
        report()
        throw new MissingPage(`the index has no page ${at}`)
      })
      const slot = number - at * PAGE_DOCS
      if (page.length >= (slot + 1) * DOC_BYTES) return readDoc(page, slot)
      report()
      throw new MissingPage(`the index has no entry ${number}`)
    },
    name: (id) =>
      names.get(id, () => text(prepared('SELECT name FROM names WHERE id = ?').get(id)?.['name'])),
    sessionKey: (id) =>
      keys.get(id, () => text(prepared('SELECT key FROM sessions WHERE id = ?').get(id)?.['key'])),
    close: () => shard.close(),
  }
}

type PageGrams = { readonly page: number; readonly bits: Uint8Array }

/** Of an archive of some gigabytes all are held; of a larger one none, and they are read each time. */
const MOST_GRAM_BYTES = 48 * 1024 * 1024

function readGrams(
  prepared: Prepared,
  take: (page: number, bits: Uint8Array) => void,
): readonly PageGrams[] | undefined {
  const kept: PageGrams[] = []
  let bytes = 0
  let below = TOP
  for (;;) {
    // Whole pages at a time, so that none is met twice.
    const rows = prepared(
      'SELECT page, bits FROM grams WHERE page < ? AND page >= (SELECT min(page) FROM (SELECT page FROM grams WHERE page < ? ORDER BY page DESC LIMIT 1000)) ORDER BY page DESC',
    ).all(below, below)
    for (const { page, bits } of rows) {
      if (!(bits instanceof Uint8Array)) throw new MissingPage('the index has no bits')
      below = Number(page)
      bytes += bits.length
      if (bytes <= MOST_GRAM_BYTES) kept.push({ page: below, bits })
      take(below, bits)
    }
    if (rows.length === 0) return bytes <= MOST_GRAM_BYTES ? kept : undefined
  }
}

type Piece = {
  readonly unit: IndexedUnit
  readonly low: number
  readonly high: number
  /** The earliest time in it. */
  readonly oldest: number
}

type Blocks = {
  readonly units: readonly IndexedUnit[]
  /** By number, ascending. */
  readonly pieces: readonly Piece[]
  readonly lows: readonly number[]
  /** The latest time of each piece and all before it. */
  readonly newest: readonly number[]
}

function readBlocks(prepared: Prepared): Blocks {
  const units = new Map<number, IndexedUnit & { readonly pieces: Piece[] }>()
  for (const [id, name, version] of together(prepared, 'units', 'id', 'id, name, version'))
    units.set(Number(id), { id: Number(id), name: String(name), version: String(version), pieces: [] })
  const pieces: Piece[] = []
  const newest: number[] = []
  const rows = together(prepared, 'pieces', 'low', 'low, high, unit, min_at, max_at')
  for (const [low, high, unit, oldest, latest] of rows.sort((a, b) => Number(a[0]) - Number(b[0]))) {
    const own = units.get(Number(unit))
    if (own === undefined) throw new MissingPage('the index has a piece of no unit')
    const piece = {
      unit: own,
      low: Number(low),
      high: Number(high),
      oldest: typeof oldest === 'number' ? oldest : Number.NEGATIVE_INFINITY,
    }
    own.pieces.push(piece)
    pieces.push(piece)
    newest.push(
      Math.max(
        typeof latest === 'number' ? latest : Number.POSITIVE_INFINITY,
        newest.at(-1) ?? Number.NEGATIVE_INFINITY,
      ),
    )
  }
  return { units: [...units.values()], pieces, lows: pieces.map(({ low }) => low), newest }
}

/** Rows in a few texts: one by one, fetching them takes ten times as long as finding them. */
function together(prepared: Prepared, table: string, key: string, columns: string): unknown[][] {
  return prepared(
    `SELECT json_group_array(json_array(${columns})) AS rows FROM ${table} GROUP BY ${key} / 100000`,
  )
    .all()
    .flatMap(({ rows }) => JSON.parse(String(rows)) as unknown[][])
}

/** The place of the last that is at most this; -1 when there is none. */
function lastAtMost(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] as number) <= value) low = middle + 1
    else high = middle
  }
  return low - 1
}

type Prepared = (sql: string) => Pick<Statement, 'all' | 'get'>

/** Statements that say so when the shard turns out to be damaged. */
function createStatements(database: Database, report: () => void): Prepared {
  const known = new Map<string, ReturnType<Prepared>>()
  const watched = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      if (isUnusable(error)) report()
      throw error
    }
  }
  return (sql) => {
    const there = known.get(sql)
    if (there !== undefined) return there
    const statement = watched(() => database.prepare(sql))
    const guarded: ReturnType<Prepared> = {
      all: (...values) => watched(() => statement.all(...values)),
      get: (...values) => watched(() => statement.get(...values)),
    }
    known.set(sql, guarded)
    return guarded
  }
}

type Cache<T> = { get(key: number, make: () => T): T; clear(): void }

/** The oldest goes when there are too many. */
function createCache<T>(most: number): Cache<T> {
  const values = new Map<number, T>()
  return {
    get(key, make) {
      const known = values.get(key)
      if (known !== undefined) return known
      const made = make()
      if (values.size >= most) for (const oldest of values.keys()) if (values.delete(oldest)) break
      values.set(key, made)
      return made
    },
    clear: () => values.clear(),
  }
}
