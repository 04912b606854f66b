/**
 * Kept rows as a database again: loaded into a private one that is removed on closing, each row in its last version at the place
 * where it first stood. Values come back with the types they had, columns in the order last declared.
 */
import fs from 'node:fs/promises'
import os from 'node:os'
import { join } from 'node:path'
import { fromSystemError } from '../errors.ts'
import type { Files } from '../journal/files.ts'
import { readTables, type Reported } from '../sqlite/database-rows.ts'
import { quote } from '../sqlite/database-tables.ts'
import { type Database, openDatabase } from '../sqlite/driver.ts'
import { nextTurn } from '../transcript/next-turn.ts'
import type { Row, RowOptions, SourceDatabase } from '../transcript/source.ts'
import { byteLines } from './byte-lines.ts'
import { readChunks } from './bytes.ts'
import { fillRows, type Loading, type RowsDamage, type Table } from './fill-rows.ts'
import { isColumnsLine, parseColumns } from './kept-row-lines.ts'
import { createLongCells, type LongCells } from './long-cells.ts'

/** Only who asks for rows has them loaded: what tables there are is told without. */
export async function loadRows(
  files: Files,
  path: string,
  damaged: (damage: RowsDamage) => void,
): Promise<SourceDatabase> {
  const tables = await readDeclared(files, path).catch((error: unknown) => {
    throw fromSystemError(error, path)
  })
  let loaded: Promise<SourceDatabase> | undefined
  const load = (): Promise<SourceDatabase> =>
    (loaded ??= openLoaded({ files, path, tables, damaged }).then(({ rows }) => rows))
  return {
    tables: () => [...tables.keys()].sort(),
    columns: (table) => tables.get(table)?.columns ?? [],
    key: (table) => tables.get(table)?.key ?? [],
    async *rows(table, options) {
      if (tables.has(table)) yield* (await load()).rows(table, options)
    },
    count: async (table) => (tables.has(table) ? ((await load()).count?.(table) ?? Number.NaN) : 0),
    // One that could not be loaded has been removed.
    close: async () => (await loaded?.catch(() => undefined))?.close(),
  }
}

/** What was loaded, and what it takes to put more to it. */
export type Loaded = {
  readonly rows: SourceDatabase
  readonly database: Database
  readonly long: LongCells
  /** How much of the file that is. */
  readonly bytes: number
  /** Takes its name from the private file, which is then gone with the process. */
  readonly unname: () => Promise<void>
}

export async function openLoaded(loading: Loading): Promise<Loaded> {
  const { files, path, tables, damaged } = loading
  const folder = await fs.mkdtemp(join(os.tmpdir(), 'hansard-rows-'))
  const long = createLongCells(files, path)
  const remove = (): Promise<void> =>
    fs.rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => {})
  const closed = (): Promise<void> => {
    long.close()
    return remove()
  }
  let database: Database | undefined
  try {
    const file = join(folder, 'rows.db')
    database = await openDatabase(file)
    const bytes = await fillRows(database, loading, long)
    const { size } = await fs.stat(file)
    const report: Reported = (kind, reason) => damaged({ kind, byteOffset: 0, byteLength: 0, reason })
    const whole = (): boolean => true
    const opened = readTables(database, { sizeBytes: size, whole, report, closed })
    const indexed = createIndexes(database, tables)
    const rows: SourceDatabase = {
      ...opened,
      rows(table, options) {
        if (options?.where !== undefined) indexed(table, options.where.column)
        const found = opened.rows(table, options)
        return long.hasAny() ? wholeRows(found, long, options) : found
      },
    }
    return { rows, database, long, bytes, unname: remove }
  } catch (error) {
    database?.close()
    await closed()
    throw fromSystemError(error, path)
  }
}

/** Rows with what was left in the file: each of these by itself, so that no two are held. */
async function* wholeRows(
  batches: AsyncIterable<readonly Row[]>,
  long: LongCells,
  { large }: RowOptions = {},
): AsyncGenerator<readonly Row[]> {
  for await (const batch of batches) {
    let some: Row[] = []
    for (const row of batch) {
      const bytes = long.bytesIn(row)
      if (bytes === 0) {
        some.push(row)
        continue
      }
      if (some.length > 0) yield some
      some = []
      await large?.(bytes)
      const one = [long.whole(row)]
      yield one
      // Whoever asks for more is done with it.
      one.length = 0
    }
    if (some.length > 0) yield some
  }
}

/** The columns of each table: those last declared, then those that were there before. */
export async function readDeclared(files: Files, path: string): Promise<ReadonlyMap<string, Table>> {
  const tables = new Map<string, Table>()
  for await (const lines of byteLines(readChunks(files, path), isColumnsLine)) {
    await nextTurn()
    for (const { bytes, isWhole } of lines) {
      const isColumns = isWhole && bytes !== undefined && isColumnsLine(bytes)
      const declared = isColumns ? parseColumns(bytes.toString()) : undefined
      if (declared === undefined) continue
      const { table, columns, key } = declared
      const named = new Set(columns.map((column) => column.toLowerCase()))
      const gone = (tables.get(table)?.columns ?? []).filter((column) => !named.has(column.toLowerCase()))
      tables.set(table, { columns: [...columns, ...gone], key })
    }
  }
  return tables
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
