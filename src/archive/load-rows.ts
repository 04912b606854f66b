/**
 * Kept rows as a database again: loaded into a private one that is removed on closing, each row in its last version at the place
 * where it first stood. Values come back with the types they had, columns in the order last declared.
 */
import fs from 'node:fs/promises'
import os from 'node:os'
import { join } from 'node:path'
import { fromSystemError } from '../errors.ts'
import type { Files } from '../journal/files.ts'
import { readTables } from '../sqlite/database-rows.ts'
import { quote } from '../sqlite/database-tables.ts'
import { type Database, openDatabase, type Statement } from '../sqlite/driver.ts'
import { readLines } from '../transcript/lines.ts'
import type { SourceDatabase, SqlValue } from '../transcript/source.ts'
import { readChunks } from './bytes.ts'
import { type KeptRow, nameIn, parseColumns, parseRow, ROW_LINE_LIMIT } from './kept-row-lines.ts'
import { hashOf } from './row-hashes.ts'

type Table = { readonly columns: readonly string[]; readonly key: readonly string[] }

export async function loadRows(
  files: Files,
  path: string,
  damaged: (reason: string) => void,
): Promise<SourceDatabase> {
  const folder = await fs.mkdtemp(join(os.tmpdir(), 'hansard-rows-'))
  const closed = (): Promise<void> =>
    fs.rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => {})
  let database: Database | undefined
  try {
    const file = join(folder, 'rows.db')
    const tables = await readDeclared(files, path)
    database = await openDatabase(file)
    await load(database, tables, wholeLines(files, path, damaged), damaged)
    const { size } = await fs.stat(file)
    const report = (_: string, reason: string): void => damaged(reason)
    const whole = (): boolean => true
    const opened = readTables(database, { sizeBytes: size, whole, report, closed })
    const indexed = createIndexes(database, tables)
    return {
      ...opened,
      key: (table) => tables.get(table)?.key ?? [],
      rows(table, options) {
        if (options?.where !== undefined) indexed(table, options.where.column)
        return opened.rows(table, options)
      },
    }
  } catch (error) {
    database?.close()
    await closed()
    throw fromSystemError(error, path)
  }
}

/** The columns of each table: those last declared, then those that were there before. */
async function readDeclared(files: Files, path: string): Promise<ReadonlyMap<string, Table>> {
  const tables = new Map<string, Table>()
  for await (const line of wholeLines(files, path)) {
    const declared = parseColumns(line)
    if (declared === undefined) continue
    const { table, columns, key } = declared
    const named = new Set(columns.map((column) => column.toLowerCase()))
    const gone = (tables.get(table)?.columns ?? []).filter((column) => !named.has(column.toLowerCase()))
    tables.set(table, { columns: [...columns, ...gone], key })
  }
  return tables
}

async function* wholeLines(
  files: Files,
  path: string,
  damaged: (reason: string) => void = () => {},
): AsyncGenerator<string> {
  for await (const lines of readLines(readChunks(files, path), { limit: ROW_LINE_LIMIT })) {
    for (const { number, text, ended } of lines) {
      if (text !== undefined && ended) yield text
      else damaged(`line ${number} of the kept rows is ${ended ? 'too large' : 'torn'}`)
    }
  }
}

/** Rows written in one transaction: the database is thrown away when this ends early, so none is undone. */
const COMMIT_ROWS = 10_000

async function load(
  database: Database,
  tables: ReadonlyMap<string, Table>,
  lines: AsyncIterable<string>,
  damaged: (reason: string) => void,
): Promise<void> {
  database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF')
  // Columns without a type keep every value as it is.
  for (const [table, { columns }] of tables)
    database.exec(`CREATE TABLE ${quote(table)} (${columns.map(quote).join(', ')})`)
  const put = createPut(database, tables)
  let rows = 0
  database.exec('BEGIN')
  for await (const line of lines) {
    const name = nameIn(line)
    const kept = name === undefined ? undefined : parseRow(line)
    if (name !== undefined && kept !== undefined && tables.has(kept.table)) put(name, kept)
    else if (parseColumns(line) === undefined) damaged('a line of the kept rows is no row')
    rows += 1
    if (rows % COMMIT_ROWS === 0) database.exec('COMMIT; BEGIN')
  }
  database.exec(`COMMIT; DROP TABLE ${NAMES}`)
}

/** No table of another program's is called so: SQLite's own names begin with `sqlite_` and cannot be made. */
const NAMES = '"hansard: the rows by name"'

function createPut(
  database: Database,
  tables: ReadonlyMap<string, Table>,
): (name: string, kept: KeptRow) => void {
  database.exec(`CREATE TABLE ${NAMES} (name BLOB PRIMARY KEY, at INTEGER) WITHOUT ROWID`)
  const find = database.prepare(`SELECT at FROM ${NAMES} WHERE name = ?`)
  const note = database.prepare(`INSERT INTO ${NAMES} VALUES (?, ?)`)
  const statements = new Map<string, Statement>()
  const prepare = (sql: string): Statement => {
    const known = statements.get(sql) ?? database.prepare(sql)
    statements.set(sql, known)
    return known
  }
  const last = new Map<string, number>()
  return (name, { table, row }) => {
    const { columns } = tables.get(table) as Table
    const hash = hashOf(name)
    const values = columns.map((column) => row[column] ?? null)
    const places = values.map(placeFor)
    const bound = values.map(toBound)
    const at = find.get(hash)?.['at']
    if (at !== undefined && at !== null) {
      const changes = columns.map((column, index) => `${quote(column)} = ${places[index]}`)
      prepare(`UPDATE ${quote(table)} SET ${changes.join(', ')} WHERE ${rowidOf(columns)} = ?`).run(
        ...bound,
        at,
      )
      return
    }
    const next = (last.get(table) ?? 0) + 1
    last.set(table, next)
    const names = [rowidOf(columns), ...columns.map(quote)].join(', ')
    prepare(`INSERT INTO ${quote(table)} (${names}) VALUES (${['?', ...places].join(', ')})`).run(
      next,
      ...bound,
    )
    note.run(hash, next)
  }
}

/** A name of the rowid that no column has. */
function rowidOf(columns: readonly string[]): string {
  const taken = new Set(columns.map((column) => column.toLowerCase()))
  return ['rowid', '_rowid_', 'oid'].find((name) => !taken.has(name)) ?? 'rowid'
}

/** One engine ends a text at its first NUL: such a one goes in as bytes. */
function placeFor(value: SqlValue): string {
  return hasNul(value) ? 'CAST(? AS TEXT)' : '?'
}

function toBound(value: SqlValue): SqlValue {
  return hasNul(value) ? Buffer.from(value) : value
}

function hasNul(value: SqlValue): value is string {
  return typeof value === 'string' && value.includes('\0')
}

/** The source's indexes are not kept: one is made for a column when it is first asked by. */
function createIndexes(
  database: Database,
  tables: ReadonlyMap<string, Table>,
): (table: string, column: string) => void {
  const made = new Set<string>()
  return (table, column) => {
    const name = `hansard: ${JSON.stringify([table, column])}`
    if (made.has(name) || tables.get(table)?.columns.includes(column) !== true) return
    made.add(name)
    database.exec('PRAGMA query_only = OFF')
    database.exec(`CREATE INDEX ${quote(name)} ON ${quote(table)} (${quote(column)})`)
    database.exec('PRAGMA query_only = ON')
  }
}
