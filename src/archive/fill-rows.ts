/**
 * Kept rows put into the private database that they are read from: every line in its order, then of each row the last version at the
 * place where it first stood.
 */
import type { Files } from '../journal/files.ts'
import { quote } from '../sqlite/database-tables.ts'
import type { Database } from '../sqlite/driver.ts'
import type { Damage } from '../transcript/damage.ts'
import { parseJson } from '../transcript/json.ts'
import { nextTurn } from '../transcript/next-turn.ts'
import type { Row, SqlValue } from '../transcript/source.ts'
import { byteLines } from './byte-lines.ts'
import { readChunks } from './bytes.ts'
import { isColumnsLine, toRow } from './kept-row-lines.ts'
import type { LongCells } from './long-cells.ts'
import { hashOf, toHex } from './row-hashes.ts'

/** What is wrong, and where in the file of kept rows. */
export type RowsDamage = Omit<Damage, 'file'>

export type Table = { readonly columns: readonly string[]; readonly key: readonly string[] }

/** Rows written in one transaction: the database is thrown away when this ends early, so none is undone. */
const COMMIT_ROWS = 10_000

export type Loading = {
  readonly files: Files
  readonly path: string
  readonly tables: ReadonlyMap<string, Table>
  readonly damaged: (damage: RowsDamage) => void
}

/** Gives how many bytes of the file were read. */
export async function fillRows(
  database: Database,
  { files, path, tables, damaged }: Loading,
  long: LongCells,
): Promise<number> {
  database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE')
  // Names are sorted, and indexes are: of a million rows that is a hundred megabytes, in memory where nobody says otherwise.
  database.exec('PRAGMA temp_store = FILE')
  // Columns without a type keep every value as it is.
  for (const [table, { columns }] of tables)
    database.exec(`CREATE TABLE ${quote(table)} (${columns.map(quote).join(', ')})`)
  const versions = createVersions(database, tables)
  const puts = new Map(
    [...tables].map(([table, { columns }]) => [table, createPut(database, table, columns)]),
  )
  const keyOf = (table: string): readonly string[] => tables.get(table)?.key ?? []
  let rows = 0
  let read = 0
  database.exec('BEGIN')
  for await (const lines of byteLines(readChunks(files, path), isColumnsLine)) {
    // Of hundreds of MB, whoever else has something to do must not wait for the last.
    await nextTurn()
    for (const line of lines) {
      const { number, offset, length, bytes, isWhole } = line
      const place = { line: number, byteOffset: offset, byteLength: length }
      read = offset + length + 1
      if (!isWhole) {
        damaged({ kind: 'torn', ...place, reason: 'a line of the kept rows is torn' })
        continue
      }
      const kept = bytes === undefined ? long.row(line, keyOf) : toRow(parseJson(bytes.toString()))
      const put = kept && puts.get(kept.table)
      if (kept !== undefined && put !== undefined) versions.note(kept.name, kept.table, put.add(kept.row))
      else if (bytes === undefined || !isColumnsLine(bytes))
        damaged({ kind: 'not-an-entry', ...place, reason: 'a line of the kept rows is no row' })
      rows += 1
      if (rows % COMMIT_ROWS === 0) database.exec('COMMIT; BEGIN')
    }
  }
  for (const put of puts.values()) put.end()
  versions.end()
  database.exec('COMMIT')
  return read
}

/** Rows that go in with one statement: each costs more than what is in it. */
const TOGETHER = 16
const HELD_BYTES = 1024 * 1024
/** SQLite takes 32,766 values in a statement. */
const MAX_VALUES = 16_000

type Put = {
  /** The number of the row in its table, from 1. */
  add(row: Row): number
  end(): void
}

function createPut(database: Database, table: string, columns: readonly string[]): Put {
  const into = `INSERT INTO ${quote(table)} (${[rowidOf(columns), ...columns.map(quote)].join(', ')}) VALUES`
  const places = `(${['?', ...columns.map(() => '?')].join(', ')})`
  const together = Math.max(1, Math.min(TOGETHER, Math.floor(MAX_VALUES / (columns.length + 1))))
  const many = database.prepare(`${into} ${Array.from({ length: together }, () => places).join(', ')}`)
  const one = database.prepare(`${into} ${places}`)
  let last = 0
  let held: SqlValue[][] = []
  let heldBytes = 0
  const flush = (): void => {
    if (held.length === together) many.run(...held.flat())
    else for (const values of held) one.run(...values)
    held = []
    heldBytes = 0
  }
  return {
    add(row) {
      last += 1
      const values = columns.map((column) => row[column] ?? null)
      if (values.some(hasNul)) {
        // One engine ends a text at its first NUL: such a one goes in as bytes.
        const cast = values.map((value) => (hasNul(value) ? 'CAST(? AS TEXT)' : '?'))
        database.prepare(`${into} (${['?', ...cast].join(', ')})`).run(last, ...values.map(toBound))
        return last
      }
      held.push([last, ...values])
      for (const value of values)
        heldBytes += typeof value === 'string' || value instanceof Uint8Array ? value.length : 0
      if (held.length === together || heldBytes > HELD_BYTES) flush()
      return last
    },
    end: flush,
  }
}

/** No table of another program's is called so: SQLite's own names begin with `sqlite_` and cannot be made. */
const NAMES = '"hansard: the rows by name"'

type Versions = {
  /** Notes the version of a row that has this name. */
  note(name: string, table: string, at: number): void
  /** Leaves of each row the last version, at the place of the first. */
  end(): void
}

/** Names are sorted once at the end: most rows have one version, and looking for another each time costs more than the row. */
function createVersions(database: Database, tables: ReadonlyMap<string, Table>): Versions {
  const names = [...tables.keys()]
  const numbers = new Map(names.map((table, number) => [table, number]))
  database.exec(`CREATE TABLE ${NAMES} (name TEXT, source INTEGER, at INTEGER)`)
  const many = database.prepare(
    `INSERT INTO ${NAMES} VALUES ${Array.from({ length: TOGETHER }, () => '(?, ?, ?)').join(', ')}`,
  )
  const one = database.prepare(`INSERT INTO ${NAMES} VALUES (?, ?, ?)`)
  let held: SqlValue[][] = []
  return {
    note(name, table, at) {
      held.push([toHex(hashOf(name)), numbers.get(table) ?? null, at])
      if (held.length < TOGETHER) return
      many.run(...held.flat())
      held = []
    },
    end() {
      for (const values of held) one.run(...values)
      database.exec(
        `CREATE TEMP TABLE versions AS SELECT name, source, min(at) AS first, max(at) AS last FROM ${NAMES}
         GROUP BY name, source HAVING count(*) > 1`,
      )
      database.exec('CREATE INDEX temp.versions_by_name ON versions (name, source)')
      for (const [source, table] of names.entries()) {
        const rowid = rowidOf(tables.get(table)?.columns ?? [])
        const to = quote(table)
        database.exec(
          `DELETE FROM ${to} WHERE ${rowid} IN (SELECT n.at FROM ${NAMES} AS n, temp.versions AS v
             WHERE v.source = ${source} AND n.name = v.name AND n.source = v.source AND n.at < v.last)`,
        )
        database.exec(
          `UPDATE ${to} SET ${rowid} = v.first FROM temp.versions AS v
           WHERE v.source = ${source} AND ${to}.${rowid} = v.last`,
        )
      }
      database.exec(`DROP TABLE temp.versions; DROP TABLE ${NAMES}`)
    },
  }
}

/** A name of the rowid that no column has. */
export function rowidOf(columns: readonly string[]): string {
  const taken = new Set(columns.map((column) => column.toLowerCase()))
  return ['rowid', '_rowid_', 'oid'].find((name) => !taken.has(name)) ?? 'rowid'
}

function toBound(value: SqlValue): SqlValue {
  return hasNul(value) ? Buffer.from(value) : value
}

export function hasNul(value: SqlValue): value is string {
  return typeof value === 'string' && value.includes('\0')
}
