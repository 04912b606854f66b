/**
 * Kept rows as a database that stays open while their file grows: what was appended is put to it as loading all of it would, so that who
 * follows a database need not load the whole for one row more. Where that is not sure, it says so, and is of no more use.
 */
import { createHash } from 'node:crypto'
import type { Files } from '../journal/files.ts'
import { readPart } from '../journal/read-part.ts'
import { quote } from '../sqlite/database-tables.ts'
import { parseJson } from '../transcript/json.ts'
import type { Row, SourceDatabase, SqlValue } from '../transcript/source.ts'
import { byteLines, type ByteLine } from './byte-lines.ts'
import { hasNul, rowidOf, type Table } from './fill-rows.ts'
import { type KeptRow, rowName, toRow } from './kept-row-lines.ts'
import { type Loaded, openLoaded, readDeclared } from './load-rows.ts'

export type HeldRows = {
  readonly database: SourceDatabase
  /** How many bytes of the file are in it. */
  bytes(): number
  /**
   * Takes in what was appended. False where only loading all can tell what the rows are now. `onRow`: told of each that came or changed, as
   * it was before and as it is now, in the columns that `told` names.
   */
  more(told: (table: string) => readonly string[], onRow: OnRow): Promise<boolean>
  /** False once something in it could not be read. */
  isSound(): boolean
  close(): Promise<void>
}

export type OnRow = (table: string, row: Row) => void

const TAIL_BYTES = 4096
/** Of one step: with more, loading all of them takes no longer. */
const MOST_BYTES = 64 * 1024 * 1024

/** Undefined for rows that are damaged. */
export async function holdRows(files: Files, path: string): Promise<HeldRows | undefined> {
  const tables = await readDeclared(files, path)
  let isDamaged = false
  const damaged = (): void => void (isDamaged = true)
  const loaded = await openLoaded({ files, path, tables, damaged })
  const { rows, database, long } = loaded
  let { bytes } = loaded
  let tail = tailBefore(files, path, bytes)
  const put = createPut(loaded, tables)
  const keyOf = (table: string): readonly string[] => tables.get(table)?.key ?? []
  const close = (): Promise<void> => rows.close()
  if (isDamaged) {
    await close()
    return undefined
  }
  // It is held for hours, by a process that may be killed. Windows has no files without a name.
  if (process.platform !== 'win32') await loaded.unname()

  const take = (line: ByteLine, told: (table: string) => readonly string[], onRow: OnRow): boolean => {
    if (!line.isWhole) return false
    const kept = line.bytes === undefined ? long.row(line, keyOf) : toRow(parseJson(line.bytes.toString()))
    // A line that declares columns is no row.
    return kept !== undefined && put(kept, told(kept.table), onRow)
  }

  return {
    database: rows,
    bytes: () => bytes,
    async more(told, onRow) {
      const size = files.identityAt(path)?.size ?? -1
      if (isDamaged || size < bytes || size - bytes > MOST_BYTES) return false
      if (tailBefore(files, path, bytes) !== tail) return false
      if (size === bytes) return true
      database.exec('PRAGMA query_only = OFF')
      try {
        database.exec('BEGIN')
        for await (const lines of byteLines(partOf(files, path, bytes, size)))
          for (const line of lines)
            if (!take({ ...line, offset: bytes + line.offset }, told, onRow)) return false
        database.exec('COMMIT')
      } finally {
        database.exec('PRAGMA query_only = ON')
      }
      bytes = size
      tail = tailBefore(files, path, bytes)
      return true
    },
    isSound: () => !isDamaged,
    close,
  }
}

type PutRow = (kept: KeptRow, told: readonly string[], onRow: OnRow) => boolean

/** A row takes the place of the one with its name, or the last. False for one whose name is not its key's. */
function createPut({ database }: Loaded, tables: ReadonlyMap<string, Table>): PutRow {
  database.exec('PRAGMA query_only = OFF')
  for (const [table, { key }] of tables) {
    const name = `hansard: the key of ${JSON.stringify(table)}`
    if (key.length > 0)
      database.exec(`CREATE INDEX ${quote(name)} ON ${quote(table)} (${key.map(quote).join(', ')})`)
  }
  database.exec('PRAGMA query_only = ON')
  return ({ name, table, row }, told, onRow) => {
    const { columns, key } = tables.get(table) ?? { columns: [], key: [] }
    const names = key.map((column) => row[column] ?? null)
    const values = columns.map((column) => row[column] ?? null)
    const isNamed = name.startsWith(rowName(table, '[')) && names.length > 0
    if (!isNamed || !names.every(isPlain) || values.some(hasNul)) return false
    const rowid = rowidOf(columns)
    const asked = told.filter((column) => columns.includes(column))
    const found = database
      .prepare(
        `SELECT ${[rowid, ...asked.map(quote)].join(', ')} FROM ${quote(table)}
           WHERE ${key.map((column) => `${quote(column)} = ?`).join(' AND ')}`,
      )
      .lists(...names)
    if (found.length > 1) return false
    const [before] = found
    if (before === undefined) {
      const places = columns.map(() => '?').join(', ')
      database
        .prepare(`INSERT INTO ${quote(table)} (${columns.map(quote).join(', ')}) VALUES (${places})`)
        .run(...values)
    } else {
      const [number = null, ...said] = before
      onRow(table, toTold(asked, said))
      const set = columns.map((column) => `${quote(column)} = ?`).join(', ')
      database.prepare(`UPDATE ${quote(table)} SET ${set} WHERE ${rowid} = ?`).run(...values, number)
    }
    onRow(
      table,
      toTold(
        asked,
        asked.map((column) => row[column] ?? null),
      ),
    )
    return true
  }
}

function toTold(columns: readonly string[], values: readonly SqlValue[]): Row {
  const row: Record<string, SqlValue> = Object.create(null)
  for (const [at, column] of columns.entries()) row[column] = values[at] ?? null
  return row
}

function isPlain(value: SqlValue): boolean {
  return typeof value === 'string' || typeof value === 'number'
}

function tailBefore(files: Files, path: string, end: number): string {
  const fd = files.openRead(path)
  try {
    const hash = createHash('sha256')
    for (const part of readPart(files, fd, Math.max(0, end - TAIL_BYTES), end)) hash.update(part)
    return hash.digest('hex')
  } finally {
    files.close(fd)
  }
}

async function* partOf(files: Files, path: string, from: number, to: number): AsyncGenerator<Buffer> {
  const fd = files.openRead(path)
  try {
    yield* readPart(files, fd, from, to)
  } finally {
    files.close(fd)
  }
}
