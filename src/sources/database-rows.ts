/**
 * The tables of another program's database, a batch at a time: at most some MB in memory and no lock between batches.
 * Only plain columns of plain tables are asked for, as bytes, so nothing in the schema is run and no text can hurt; and
 * no more is read than a file of its size can hold, because the pages of a hostile one point in circles.
 */
import { HansardError, isHansardError, messageOf } from '../errors.ts'
import type { Database } from '../sqlite/driver.ts'
import { isDamagedDatabase } from '../sqlite/errors.ts'
import type { Row, RowOptions, SourceDatabase, SqlValue } from '../transcript/source.ts'
import type { Reported } from './database.ts'

export type Tables = {
  readonly sizeBytes: number
  /** False once the bytes changed under a reader that holds no lock. */
  readonly whole: () => Promise<boolean>
  readonly report: Reported
  readonly closed: () => Promise<void>
}

const BATCH_ROWS = 500
const BATCH_BYTES = 4 * 1024 * 1024
const MAX_ROW_BYTES = 64 * 1024 * 1024
/** Sorted rows are known by their keys first, all of them: some 100 MB. */
const MAX_SORTED_ROWS = 2_000_000
/** A row takes four bytes at the very least: two where it is pointed to, two of its own. */
const LEAST_ROW_BYTES = 4

type Table = { readonly columns: readonly string[]; readonly key: readonly string[] }
type Key = readonly SqlValue[]

/** Throws what SQLite throws when the first page or the schema cannot be read. */
export function readTables(database: Database, { sizeBytes, whole, report, closed }: Tables): SourceDatabase {
  for (const pragma of ['trusted_schema = OFF', 'query_only = ON', 'cell_size_check = ON', 'mmap_size = 0']) {
    database.exec(`PRAGMA ${pragma}`)
  }
  const decode = decoderFor(database)
  const tables = listTables(database, decode, report)
  return {
    tables: () => [...tables.keys()].sort(),
    columns: (table) => tables.get(table)?.columns ?? [],
    async *rows(name, options = {}) {
      const table = tables.get(name)
      if (table === undefined) return
      const bounds = createBounds(sizeBytes, name)
      const read = readerOf(database, name, table, decode)
      try {
        for (const keys of keysOf(database, name, table, options, bounds)) {
          for (const batch of read(keys, report)) {
            if (!(await whole())) throw new HansardError('io', 'it was written to while it was read')
            yield batch
          }
        }
      } catch (error) {
        if (!isOfTheBytes(error)) throw error
        report('missing', `rows of the table ${name} are missing: ${reasonOf(error)}`)
      }
    },
    async close() {
      database.close()
      await closed()
    },
  }
}

/** Text comes as bytes, in the database's own encoding. */
function decoderFor(database: Database): (bytes: SqlValue | undefined) => string | undefined {
  const encoding = String(database.prepare('PRAGMA encoding').get()?.['encoding']).toLowerCase()
  const strict = new TextDecoder(encoding, { fatal: true, ignoreBOM: true })
  return (bytes) => {
    if (!(bytes instanceof Uint8Array)) return undefined
    try {
      return strict.decode(bytes)
    } catch {
      return undefined
    }
  }
}

function listTables(
  database: Database,
  decode: (bytes: SqlValue | undefined) => string | undefined,
  report: Reported,
): ReadonlyMap<string, Table> {
  const tables = new Map<string, Table>()
  const found = database
    .prepare(
      `SELECT CAST(name AS BLOB) AS name FROM sqlite_schema
       WHERE type = 'table' AND rootpage > 0 AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' LIMIT 10000`,
    )
    .all()
  for (const row of found) {
    const name = decode(row['name'])
    const table = name === undefined || name.includes('\0') ? undefined : describe(database, name, decode)
    if (name !== undefined && table !== undefined) tables.set(name, table)
    else report('not-an-entry', `a table cannot be read: ${name ?? 'its name is not text'}`)
  }
  return tables
}

/** Its plain columns, and what tells one row from another. */
function describe(
  database: Database,
  name: string,
  decode: (bytes: SqlValue | undefined) => string | undefined,
): Table | undefined {
  try {
    const info = database
      .prepare('SELECT CAST(name AS BLOB) AS name, pk FROM pragma_table_info(?) ORDER BY cid')
      .all(name)
    const columns = info.map((row) => decode(row['name']))
    // SQL ends at a NUL, whatever is in quotes around it.
    if (!columns.every((column): column is string => column !== undefined && !column.includes('\0')))
      return undefined
    const lower = new Set(columns.map((column) => column.toLowerCase()))
    const rowid = ['rowid', '_rowid_', 'oid'].find((alias) => !lower.has(alias))
    if (rowid !== undefined && hasColumn(database, name, rowid)) return { columns, key: [rowid] }
    const primary = info.flatMap((row, at) => (Number(row['pk']) > 0 ? [{ at, pk: Number(row['pk']) }] : []))
    const key = primary.sort((a, b) => a.pk - b.pk).map(({ at }) => columns[at] as string)
    return key.length === 0 ? undefined : { columns, key }
  } catch (error) {
    if (isOfTheBytes(error)) return undefined
    throw error
  }
}

/** False for the rowid of a table WITHOUT ROWID. */
function hasColumn(database: Database, table: string, column: string): boolean {
  try {
    database.prepare(`SELECT ${column} FROM ${quote(table)} LIMIT 0`)
    return true
  } catch {
    return false
  }
}

type Bounds = { count(bytes: number): void; again(): Bounds }

function createBounds(sizeBytes: number, table: string): Bounds {
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

type KeyedSize = { readonly key: Key; readonly bytes: number }

/** Keys and sizes of the rows in order, some at a time. Each step is a statement of its own, so no lock is kept. */
function* keysOf(
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

type ReadRows = (keys: readonly KeyedSize[], report: Reported) => Generator<readonly Row[]>

function readerOf(
  database: Database,
  name: string,
  table: Table,
  decode: (bytes: SqlValue | undefined) => string | undefined,
): ReadRows {
  const values = table.columns.map((column, at) => {
    const quoted = quote(column)
    return `typeof(${quoted}) = 'text' AS t${at},
            CASE typeof(${quoted}) WHEN 'text' THEN CAST(${quoted} AS BLOB) ELSE ${quoted} END AS v${at}`
  })
  const key = table.key.map(quoteKey(table))
  const one = database.prepare(
    `SELECT ${values.join(', ')} FROM ${quote(name)} WHERE ${key.map((part) => `${part} IS ?`).join(' AND ')} LIMIT 1`,
  )
  return function* (keys, report) {
    let batch: Row[] = []
    let held = 0
    for (const { key, bytes } of keys) {
      if (bytes > MAX_ROW_BYTES) {
        report('too-large', `a row of the table ${name} is over ${MAX_ROW_BYTES} bytes`)
        continue
      }
      const raw = one.get(...key)
      // Deleted since it was listed: as if it had never been seen.
      if (raw === undefined) continue
      batch.push(
        toRow(table.columns, raw, decode, () => report('not-utf8', `text in the table ${name} is not text`)),
      )
      held += bytes
      if (held < BATCH_BYTES) continue
      yield batch
      batch = []
      held = 0
    }
    if (batch.length > 0) yield batch
  }
}

/** Text that is not text stays the bytes it is. */
function toRow(
  columns: readonly string[],
  raw: Row,
  decode: (bytes: SqlValue | undefined) => string | undefined,
  notText: () => void,
): Row {
  const row: Record<string, SqlValue> = Object.create(null)
  for (const [at, column] of columns.entries()) {
    const value = raw[`v${at}`] ?? null
    if (raw[`t${at}`] !== 1) row[column] = value
    else {
      const text = decode(value) ?? (value === null ? '' : undefined)
      if (text === undefined) notText()
      row[column] = text ?? value
    }
  }
  return row
}

/** A rowid must not be quoted: in quotes it would be a column, or a string. */
function quoteKey({ columns }: Table): (part: string) => string {
  return (part) => (columns.includes(part) ? quote(part) : part)
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** SQLite's word for the bytes, or ours above; a lock or a full disk is neither. */
function isOfTheBytes(error: unknown): boolean {
  return isDamagedDatabase(error) || (isHansardError(error) && error.code === 'io')
}

function reasonOf(error: unknown): string {
  return messageOf(isHansardError(error) && error.cause !== undefined ? error.cause : error)
}
