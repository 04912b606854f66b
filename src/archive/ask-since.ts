/**
 * Which rows of a database are asked for: all that count, or what was written since an export left off. What a table cannot be asked is
 * left to a look at all of its rows, which is taken when there is time.
 */
import type { KeysKept, RowsKept } from '../formats/format.ts'
import type { Row, RowOptions, SourceDatabase } from '../transcript/source.ts'
import { columnsLine } from './kept-row-lines.ts'
import type { LiveNames } from './live-names.ts'
import type { Left } from './rows-memory.ts'

/** `most`: of so many bytes the rest is left. */
export type AskedRows = RowOptions & { readonly most?: number }

/** By table, one after the other: what is asked later may hang on what came. */
export type Asked = ReadonlyMap<string, () => Iterable<AskedRows>>

/** Clocks are put right while programs run: rows of so long before are asked for once more. */
const MARGIN_MS = 2 * 60_000
/** Of a table that does not say when its rows were changed, all are asked for, if they are no more. */
const FEW_ROWS = 5000
/** Of rows with one name, those that may have been changed where they are: what is written to is what came last. */
const NEWEST = 100
const NEWEST_BYTES = 2 * 1024 * 1024

/** True where some of the tables can be asked for what was written since. */
export function canAskSince(rows: readonly RowsKept[]): boolean {
  return rows.some(({ changedAt, where }) => changedAt !== undefined || where?.heads !== undefined)
}

/** Undefined where what was written since cannot be told from what the tables say. */
export async function askSince(
  database: SourceDatabase,
  rows: readonly RowsKept[],
  { declared, marks, beganAt }: Left,
  live: LiveNames,
): Promise<Asked | undefined> {
  const asked = new Map<string, () => Iterable<AskedRows>>()
  const tables = new Set(database.tables())
  for (const { table, where, changedAt, isAppended } of rows) {
    if (!tables.has(table)) continue
    const [columns, key, mark] = [database.columns(table), database.key(table), marks.get(table)]
    const isSame = declared.get(table) === columnsLine({ table, columns, key })
    if (!isSame || key.length === 0 || mark === undefined) return undefined
    const last = await database.last?.(table)
    // Fewer than before: rows may have been dealt other numbers.
    if (last === undefined || last < mark.number) return undefined
    const { number } = mark
    if (where !== undefined) {
      // Asked by again and again: there has to be an index.
      if (where.heads === undefined || key.length > 1 || key[0] !== where.column) return undefined
      const { heads } = where
      asked.set(table, () => keysSince({ ...where, heads }, number, () => live.recent(table)))
    } else if (changedAt !== undefined && columns.includes(changedAt)) {
      // A time that is still to come, by a clock that was wrong, must not hide all that come before it.
      const least = Math.max(0, Math.min(mark.changedAt, beganAt) - MARGIN_MS)
      asked.set(table, () => [{ since: { number, changed: { column: changedAt, least } } }])
    } else if (isAppended === true) asked.set(table, () => [{ since: { number } }])
    else if (((await database.count?.(table)) ?? Number.NaN) <= FEW_ROWS) asked.set(table, () => [{}])
    else return undefined
  }
  return asked
}

/** Those that were added, or took the place of others; then those that may have been changed where they are. */
function* keysSince(
  { column, prefixes, heads }: KeysKept & { readonly heads: string },
  number: number,
  recent: () => readonly string[],
): Generator<AskedRows> {
  for (const prefix of prefixes) yield { since: { number, begins: { column, prefix } } }
  const newest = (prefix: string): AskedRows => ({
    where: { column, prefix, newest: NEWEST },
    most: NEWEST_BYTES,
  })
  yield newest(heads)
  for (const name of recent()) for (const prefix of prefixes) yield newest(`${prefix}${name}`)
}

/** All rows that count. */
export function askAll(where: KeysKept | undefined): readonly AskedRows[] {
  if (where === undefined) return [{}]
  return where.prefixes.map((prefix) => ({ where: { column: where.column, prefix } }))
}

export async function* rowsAsked(
  database: SourceDatabase,
  table: string,
  asked: Iterable<AskedRows>,
): AsyncGenerator<readonly Row[]> {
  for (const { most = Number.POSITIVE_INFINITY, ...options } of asked) {
    let bytes = 0
    for await (const batch of database.rows(table, options)) {
      // Before it is given: who has it may let go of what is in it.
      if (Number.isFinite(most)) bytes += bytesOf(batch)
      yield batch
      if (bytes >= most) break
    }
  }
}

function bytesOf(batch: readonly Row[]): number {
  let bytes = 0
  for (const row of batch)
    for (const value of Object.values(row))
      if (typeof value === 'string' || value instanceof Uint8Array) bytes += value.length
  return bytes
}
