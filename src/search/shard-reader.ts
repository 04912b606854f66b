/** A shard as a search sees it: matches by number from the newest down, and what is known of each. */
import type { Archive } from '../archive/archive.ts'
import type { Row } from '../transcript/source.ts'
import { DOC_BYTES, PAGE_DOCS, readDoc, type Doc } from './doc-pages.ts'
import type { GramTest } from './grams.ts'
import { comparedIn, type Compared } from './index-changes.ts'
import type { Facets } from './plan.ts'
import { createBlocks, TOP, type Blocks, type BlocksNow } from './shard-blocks.ts'
import { createCache, createStatements, type Prepared } from './shard-statements.ts'
import { MissingPage, peekShard, reportDamage } from './shard.ts'
import { createWordLookup, type WordLookup } from './word-lookup.ts'
import { readWordTables, type WordTable } from './word-tables.ts'

export type ShardReader = Blocks &
  WordLookup & {
    readonly shard: number
    /** From here to `end` it stays as it is, whoever writes. */
    begin(): void
    end(): void
    /** Changes when somebody else has written. */
    stamp(): unknown
    /** The state that the shard has caught up with, of how many shards, and what could not be indexed. */
    mark(): { readonly mark: string; readonly shards: number; readonly failed: readonly string[] } | undefined
    /** What it has of some units and sessions: see `comparedIn`. */
    compare(names: readonly string[], sessions: readonly string[]): Compared
    /** Every facet of a field that some entry has, or had. */
    readonly facets: Facets
    /** Asks at once for what is known of many. False when most of it was known, and each may be asked for. */
    prefetch(numbers: readonly number[]): boolean
    /** The pages that may have it, each of `PAGE_DOCS` docs, from the highest down. */
    pagesWith(test: GramTest): readonly number[]
    doc(number: number): Doc
    name(id: number): string
    sessionKey(id: number): string
    close(): void
  }

/** Some MB of what was looked at last. */
const MOST_PAGES = 4096
const MOST_DOCS = 4096
const MOST_NAMES = 100_000

export async function openShardReader(archive: Archive, number: number): Promise<ShardReader | undefined> {
  const shard = await peekShard(archive, number)
  if (shard === undefined) return undefined
  const { database } = shard
  const report = (): void => reportDamage(archive, number)
  const prepared = createStatements(database, report)
  const pages = createCache<Buffer>(MOST_PAGES)
  const prefetched = createCache<Doc>(MOST_DOCS)
  const names = createCache<string>(MOST_NAMES)
  const keys = createCache<string>(MOST_NAMES)
  let blocks: BlocksNow | undefined
  let tables: readonly WordTable[] | undefined
  let grams: readonly PageGrams[] | undefined
  let seen: unknown
  let isBegun = false
  let isSeen = false
  const stamp = (): unknown => prepared('PRAGMA data_version').get()?.['data_version']
  const current = (): BlocksNow => {
    // Between `begin` and `end` nothing changes after the first look.
    if (blocks !== undefined && isBegun && isSeen) return blocks
    const now = stamp()
    isSeen = true
    if (blocks === undefined || now !== seen) {
      blocks = createBlocks(prepared)
      grams = undefined
      tables = undefined
      for (const cache of [pages, prefetched, keys]) cache.clear()
      seen = now
    }
    return blocks
  }
  const turn = (sql: 'BEGIN' | 'COMMIT'): void => {
    database.exec(sql)
    isBegun = sql === 'BEGIN'
    isSeen = false
  }
  const text = (value: unknown): string => (typeof value === 'string' ? value : '')
  const docAt = (number: number): Doc => {
    const known = prefetched.peek(number)
    if (known !== undefined) return known
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
  }

  const lookup = createWordLookup(
    prepared,
    (sql) => database.exec(sql),
    () => {
      current()
      return (tables ??= readWordTables(prepared))
    },
  )

  return {
    ...lookup,
    shard: number,
    begin: () => turn('BEGIN'),
    end: () => turn('COMMIT'),
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
    compare: (asked, sessions) => comparedIn(prepared, asked, sessions),
    units: () => current().units(),
    unitOf: (number) => current().unitOf(number),
    prefetch(numbers) {
      const blocks = current()
      const lacking = numbers.filter((number) => !pages.has(Math.floor(number / PAGE_DOCS)))
      const asked = prefetched.missing(lacking)
      // Whoever asks again for the same, or for a few, is answered as before.
      if (asked.length < FEWEST_TOGETHER) return false
      blocks.prefetch(numbers)
      for (const [number, doc] of rowsOf(prepared(DOCS_TOGETHER).get(JSON.stringify(asked))))
        if (text(doc).length === DOC_BYTES * 2)
          prefetched.set(Number(number), readDoc(Buffer.from(text(doc), 'hex'), 0))
      const docs = numbers.map(docAt)
      const sessions = keys.missing(docs.map(({ session }) => session))
      const called = names.missing(
        docs.flatMap(({ source, file }) => (file === 0 ? [source] : [source, file])),
      )
      const given = [sessions, called].map((ids) => JSON.stringify(ids))
      for (const [kind, id, said] of rowsOf(prepared(NAMES_TOGETHER).get(...given)))
        (kind === 0 ? keys : names).set(Number(id), text(said))
      return true
    },
    newestBelow: (number) => current().newestBelow(number),
    topBefore: (time) => current().topBefore(time),
    facets(field, { having, most } = { having: [], most: Number.MAX_SAFE_INTEGER }) {
      const within = having.map(() => ' AND instr(name, ?) > 0').join('')
      return prepared(`SELECT name FROM facets WHERE name >= ? AND name < ?${within} LIMIT ?`)
        .all(field, afterAll(field), ...having, most)
        .map(({ name }) => String(name))
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
    doc: docAt,
    name: (id) =>
      names.get(id, () => text(prepared('SELECT name FROM names WHERE id = ?').get(id)?.['name'])),
    sessionKey: (id) =>
      keys.get(id, () => text(prepared('SELECT key FROM sessions WHERE id = ?').get(id)?.['key'])),
    close: () => shard.close(),
  }
}

/** After all that begins so, whatever follows: a name may begin with the last of all characters. */
function afterAll(field: string): string {
  return field.slice(0, -1) + String.fromCharCode(field.charCodeAt(field.length - 1) + 1)
}

/** Fewer are asked for one by one. */
const FEWEST_TOGETHER = 4
/** Rows in one text: one by one, fetching them takes ten times as long as finding them. */
const DOCS_TOGETHER = `SELECT json_group_array(
    json_array(asked.value, hex(substr(docs, asked.value % ${PAGE_DOCS} * ${DOC_BYTES} + 1, ${DOC_BYTES})))
  ) AS rows FROM json_each(?) AS asked JOIN pages ON pages.id = asked.value / ${PAGE_DOCS}`
const NAMES_TOGETHER = `SELECT json_group_array(json_array(kind, id, said)) AS rows FROM (
  SELECT 0 AS kind, id, key AS said FROM sessions WHERE id IN (SELECT value FROM json_each(?)) UNION ALL
  SELECT 1, id, name FROM names WHERE id IN (SELECT value FROM json_each(?)))`

function rowsOf(row: Row | undefined): readonly (readonly unknown[])[] {
  return JSON.parse(String(row?.['rows'] ?? '[]')) as unknown[][]
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
