/**
 * Which tables and columns another program's database has. Names are asked for as bytes and decoded here: what is not
 * text, or could not be named in SQL, is left out and told. Views, virtual tables and generated columns are code: not read.
 */
import { isHansardError } from '../errors.ts'
import type { Database } from './driver.ts'
import { isDamagedDatabase } from './errors.ts'
import type { SqlValue } from '../transcript/source.ts'

export type Table = {
  /** Its plain columns. */
  readonly columns: readonly string[]
  /** What tells one row from another as the file is now: the rowid, where it has one. */
  readonly key: readonly string[]
  /** What tells one row from another for good: the primary key, or columns declared unique. May be none. */
  readonly unique: readonly string[]
}
export type Decode = {
  (bytes: SqlValue | undefined): string | undefined
  /** False for a database in UTF-16. */
  readonly isUtf8: boolean
}

/** Text comes as bytes, in the database's own encoding. */
export function decoderFor(database: Database): Decode {
  const encoding = String(database.prepare('PRAGMA encoding').get()?.['encoding']).toLowerCase()
  const isUtf8 = encoding === 'utf-8'
  const strict = new TextDecoder(encoding, { fatal: true, ignoreBOM: true })
  const decode = (bytes: SqlValue | undefined): string | undefined => {
    if (!(bytes instanceof Uint8Array)) return undefined
    // Several times as fast for short text; what is no UTF-8 stands in it as U+FFFD.
    if (isUtf8 && Buffer.isBuffer(bytes)) {
      const text = bytes.toString('utf8')
      if (!text.includes('\uFFFD')) return text
    }
    try {
      return strict.decode(bytes)
    } catch {
      return undefined
    }
  }
  return Object.assign(decode, { isUtf8 })
}

export function listTables(
  database: Database,
  decode: Decode,
  missed: (reason: string) => void,
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
    else missed(`a table cannot be read: ${name ?? 'its name is not text'}`)
  }
  return tables
}

/** Its plain columns, and what tells one row from another. */
function describe(database: Database, name: string, decode: Decode): Table | undefined {
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
    const parts = info.flatMap((row, at) => (Number(row['pk']) > 0 ? [{ at, pk: Number(row['pk']) }] : []))
    const primary = parts.sort((a, b) => a.pk - b.pk).map(({ at }) => columns[at] as string)
    const unique = primary.length > 0 ? primary : uniqueOf(database, name, columns)
    if (rowid !== undefined && hasColumn(database, name, rowid)) return { columns, key: [rowid], unique }
    return primary.length === 0 ? undefined : { columns, key: primary, unique }
  } catch (error) {
    if (isOfTheBytes(error)) return undefined
    throw error
  }
}

/** The columns of the first unique index over plain columns of all rows. By their numbers: names need not be text. */
function uniqueOf(database: Database, name: string, columns: readonly string[]): readonly string[] {
  const found = database
    .prepare(
      `SELECT list.seq AS at, info.cid AS cid FROM pragma_index_list(?) AS list, pragma_index_info(list.name) AS info
       WHERE list."unique" = 1 AND list.partial = 0 ORDER BY list.seq DESC, info.seqno LIMIT 1000`,
    )
    .all(name)
  const indexes = new Map<number, number[]>()
  for (const { at, cid } of found) indexes.set(Number(at), [...(indexes.get(Number(at)) ?? []), Number(cid)])
  for (const cids of indexes.values()) {
    const named = cids.map((cid) => columns[cid])
    if (named.every((column): column is string => column !== undefined)) return named
  }
  return []
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

/** A rowid must not be quoted: in quotes it would be a column, or a string. */
export function quoteKey({ columns }: Table): (part: string) => string {
  return (part) => (columns.includes(part) ? quote(part) : part)
}

export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** SQLite's word for the bytes, or ours above; a lock or a full disk is neither. */
export function isOfTheBytes(error: unknown): boolean {
  return isDamagedDatabase(error) || (isHansardError(error) && error.code === 'io')
}
