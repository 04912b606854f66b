/** Calls put in a table without indexes, many with one statement, each value that they share given once. */
import type { Database } from '../sqlite/driver.ts'
import type { SqlValue } from '../transcript/source.ts'
import { CALL_COLUMNS, KEY, rowsOf, SESSION, toTable, valueAt, type CallTable } from './call-rows.ts'
import { lastReports } from './state-calls.ts'
import { prepared } from './state-statements.ts'

/** Each call once, as the index has it that comes later. */
export function unlike(tables: readonly CallTable[]): readonly CallTable[] {
  const seen = new Set<string>()
  for (const { count, columns } of tables) {
    for (let at = 0; at < count; at += 1) {
      const key = valueAt(columns[KEY], at)
      if (key === null) continue
      // Of two providers, or sessions, the same one is another: looked at closely when it comes to that.
      if (seen.has(String(key))) return [toTable(lastReports(tables.flatMap(rowsOf)))]
      seen.add(String(key))
    }
  }
  return tables
}

/** Rows put in by one statement: as many as are left, in so many at a time. */
const STEPS = [64, 16, 4, 1]
/** Kinds of tables, by what their rows share, that statements are made for. */
const MOST_KINDS = 16
const kinds = new Map<string, readonly string[]>()

/** Where copies of those that are packed lie, for one connection alone. */
export const COPIES = 'copied_calls'
export type CallsTable = 'calls' | typeof COPIES

type Where = { readonly reading: number; readonly first: number; readonly into?: CallsTable }

/** `first`: the id of the first of them; the others' follow it. */
export function insertTable(
  database: Database,
  { reading, first, into = 'calls' }: Where,
  table: CallTable,
): void {
  const { statements, columns } = statementsFor(table)
  const shared: SqlValue[] = []
  const each: (readonly SqlValue[])[] = []
  for (const column of columns) {
    if (Array.isArray(column)) each.push(column as readonly SqlValue[])
    else shared.push(column as SqlValue)
  }
  let row = 0
  for (const [at, rows] of STEPS.entries()) {
    const statement = prepared(database, `INSERT INTO ${into} ${statements[at] ?? ''}`)
    for (; table.count - row >= rows; row += rows) {
      const values = [reading, first + row, ...shared]
      for (let n = row; n < row + rows; n += 1) for (const column of each) values.push(column[n] ?? null)
      statement.run(...values)
    }
  }
}

/** The statements for each of `STEPS`, and the columns as these take them. */
function statementsFor({ count, columns }: CallTable): {
  readonly statements: readonly string[]
  readonly columns: CallTable['columns']
} {
  const kind = columns.map((column) => (Array.isArray(column) ? 'e' : 's')).join('')
  const known = kinds.get(kind)
  if (known !== undefined) return { statements: known, columns }
  const isOne = kinds.size < MOST_KINDS
  const own = isOne
    ? columns
    : columns.map((_, at) => Array.from({ length: count }, (_, row) => valueAt(columns[at], row)))
  const name = isOne ? kind : 'e'.repeat(columns.length)
  const made = kinds.get(name) ?? STEPS.map((rows) => toSql(name, rows))
  kinds.set(name, made)
  return { statements: made, columns: own }
}

function toSql(kind: string, rows: number): string {
  const isShared = (at: number): boolean => kind[at] === 's'
  let next = 3
  const shared = CALL_COLUMNS.map((_, at) => (isShared(at) ? next++ : 0))
  const row = (_: unknown, at: number): string => {
    const places = CALL_COLUMNS.map((_, at) => `?${isShared(at) ? (shared[at] ?? 0) : next++}`)
    return `(?2 + ${at}, ?1, ${places[SESSION] ?? ''}, ${places.join(', ')})`
  }
  return `(id, reading, billed_to, ${CALL_COLUMNS.join(', ')}) VALUES ${Array.from({ length: rows }, row).join(', ')}`
}
