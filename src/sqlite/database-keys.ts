/**
 * The keys of a table's rows in order, with how large each row is, before any of it is read: so that a batch can be
 * made to fit in memory. A file gives no more rows and bytes than it can hold, whatever its pages say.
 */
import { HansardError } from '../errors.ts'
import type { Database } from './driver.ts'
import type { Row, RowOptions, SqlValue } from '../transcript/source.ts'
import { isOfTheBytes, quote, quoteKey, type Table } from './database-tables.ts'

export const MAX_ROW_BYTES = 64 * 1024 * 1024
const BATCH_ROWS = 500
/** Sorted rows are known by their keys first, all of them: some 100 MB. */
const MAX_SORTED_ROWS = 2_000_000
/** A row takes four bytes at the very least: two where it is pointed to, two of its own. */
const LEAST_ROW_BYTES = 4

type Key = readonly SqlValue[]

export type Bounds = { count(bytes: number): void; again(): Bounds }

export function createBounds(sizeBytes: number, table: string): Bounds {
  let rows = 0
  let bytes = 0
  return {
    again: () => createBounds(sizeBytes, table),
    count(more) {
      rows += 1
      bytes += more
      if (rows * LEAST_ROW_BYTES <= sizeBytes && bytes <= sizeBytes * 4) return
      throw new HansardError('io', `${table} gives more than its file can hold: its pages point in circles`)
    },
  }
}

export type KeyedSize = { readonly key: Key; readonly bytes: number }

/** Keys and sizes of the rows in order, some at a time. Each step is a statement of its own, so no lock is kept. */
export function* keysOf(
  database: Database,
  name: string,
  table: Table,
  { orderBy = [], where }: RowOptions,
  bounds: Bounds,
): Generator<readonly KeyedSize[]> {
  const key = table.key.map(quoteKey(table))
  const sizes = table.columns.map((column) => `coalesce(octet_length(${quote(column)}), 0)`).join(' + ')
  // `+` makes an expression of the column: an engine that looks for its declared type would trip over a hostile one.
  const select = `SELECT ${key.map((part, at) => `+${part} AS k${at}`).join(', ')}, ${sizes} AS bytes FROM ${quote(name)}`
  const toKeyed = (row: Row): KeyedSize => {
    const bytes = Number(row['bytes'])
    bounds.count(Math.min(bytes, MAX_ROW_BYTES))
    return { key: key.map((_, at) => row[`k${at}`] ?? null), bytes }
  }
  const order = orderBy.filter((column) => table.columns.includes(column)).map(quote)
  const { sql, values } = filterOf(where, table)
  if (order.length === 0 && sql === undefined) {
    yield* pagesOf(database, select, key, toKeyed)
    return
  }
  const filter = sql === undefined ? '' : ` WHERE ${sql}`
  // Sorting reads everything before it gives anything: first make sure that there is an end.
  if (order.length > 0) {
    const by = sql === undefined ? ' NOT INDEXED' : ''
    const plain = `SELECT 1 AS one FROM ${quote(name)}${by}${filter} LIMIT ${MAX_SORTED_ROWS + 1}`
    const counted = bounds.again()
    let rows = 0
    for (const _ of database.prepare(plain).iterate(...values)) {
      counted.count(0)
      rows += 1
    }
    refuseOver(rows)
  }
  const sorted = order.length > 0 ? ` ORDER BY ${[...order, ...key].join(', ')}` : ''
  const all = database.prepare(`${select}${filter}${sorted} LIMIT ${MAX_SORTED_ROWS + 1}`).all(...values)
  refuseOver(all.length)
  for (let at = 0; at < all.length; at += BATCH_ROWS) yield all.slice(at, at + BATCH_ROWS).map(toKeyed)
}

function refuseOver(rows: number): void {
  if (rows > MAX_SORTED_ROWS) throw new HansardError('io', `more than ${MAX_SORTED_ROWS} rows to sort`)
}

function* pagesOf(
  database: Database,
  select: string,
  key: readonly string[],
  toKeyed: (row: Row) => KeyedSize,
): Generator<readonly KeyedSize[]> {
  const columns = key.join(', ')
  const after = `${select} WHERE (${columns}) > (${key.map(() => '?').join(', ')}) ORDER BY ${columns} LIMIT ?`
  const next = database.prepare(after)
  const first = database.prepare(`${select} ORDER BY ${columns} LIMIT ?`)
  let last: Key | undefined
  let limit = BATCH_ROWS
  for (;;) {
    let rows: readonly Row[]
    try {
      rows = last === undefined ? first.all(limit) : next.all(...last, limit)
    } catch (error) {
      if (limit === 1 || !isOfTheBytes(error)) throw error
      // A page among these is damaged: one row at a time up to it.
      limit = 1
      continue
    }
    if (rows.length === 0) return
    const keyed = rows.map(toKeyed)
    last = (keyed.at(-1) as KeyedSize).key
    yield keyed
  }
}

function filterOf(
  where: RowOptions['where'],
  { columns }: Table,
): { readonly sql?: string; readonly values: readonly SqlValue[] } {
  if (where === undefined) return { values: [] }
  if (!columns.includes(where.column)) return { sql: '0', values: [] }
  const column = quote(where.column)
  if ('equals' in where) return { sql: `${column} IS ?`, values: [where.equals] }
  // The last code point follows everything that begins so, in the order of bytes that an index has.
  const bounds = [where.prefix, `${where.prefix}\u{10ffff}`]
  return { sql: `typeof(${column}) = 'text' AND ${column} >= ? AND ${column} < ?`, values: bounds }
}
