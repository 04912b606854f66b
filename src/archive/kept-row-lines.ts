/**
 * Rows of a database as lines of JSON and back, so that a row always makes the same bytes: `{"table","key","row"}`, columns that
 * are NULL left out, bytes as `{"$base64"}`, integers that no double holds as `{"$int"}`. Before a table's first row, and when its
 * columns change, a line `{"columns","key","table"}` says their order.
 */
import { isObject, parseJson, toJson, type Json } from '../transcript/json.ts'
import type { Row, SqlValue } from '../transcript/source.ts'

export type Columns = {
  readonly table: string
  readonly columns: readonly string[]
  readonly key: readonly string[]
}
export type KeptRow = { readonly name: string; readonly table: string; readonly row: Row }

/** A row of a database is at most 64 MB, and no text of it comes to more as JSON than Node can hold in a string. */
export const ROW_LINE_LIMIT = 500 * 1024 * 1024

/** What stands before the row itself names the row; it occurs nowhere earlier, for inside a string its quotes are escaped. */
const BEFORE_ROW = ',"row":'
const COLUMNS_START = '{"columns":'

/** What a line has before its row: what names it. `key` is what `keyOf` or `contentKey` gave. */
export function rowName(table: string, key: string): string {
  return `{"table":${JSON.stringify(table)},"key":${key}`
}

/** Both lines without their newline. `row` is what `rowParts` gave. */
export function rowLine(name: string, row: readonly string[]): readonly string[] {
  return [name, BEFORE_ROW, ...row, '}']
}

export function columnsLine({ table, columns, key }: Columns): string {
  return `${COLUMNS_START}${JSON.stringify(columns)},"key":${JSON.stringify(key)},"table":${JSON.stringify(table)}}`
}

/** The row as an object, columns in their order. In parts: put together, a value of many MB would be there once more. */
export function rowParts(columns: readonly string[], row: Row): readonly string[] {
  const parts: string[] = []
  for (const column of columns) {
    const value = row[column] ?? null
    if (value === null) continue
    parts.push(`${parts.length === 0 ? '{' : ','}${JSON.stringify(column)}:`, cellJson(value))
  }
  return parts.length === 0 ? ['{}'] : [...parts, '}']
}

/** Undefined where a column of the key is NULL: SQLite lets many rows have that. */
export function keyOf(columns: readonly string[], row: Row): string | undefined {
  const values = columns.map((column) => row[column] ?? null)
  if (values.length === 0 || values.includes(null)) return undefined
  return `[${values.map((value) => cellJson(value as Exclude<SqlValue, null>)).join(',')}]`
}

/** For a row that nothing names: the hash, in hex, of what it holds, and which of its equals it is. */
export function contentKey(hash: string, nth: number): string {
  return `{"content":"${hash}","nth":${nth}}`
}

/** What names the row of a line, whose bytes are not made into text for it; undefined for a line that is no row. */
export function nameInBytes(line: Buffer): string | undefined {
  const at = isColumnsLine(line) ? -1 : line.indexOf(BEFORE_ROW)
  return at === -1 ? undefined : line.toString('utf8', 0, at)
}

export function isColumnsLine(line: Buffer): boolean {
  return line.subarray(0, COLUMNS_START.length).equals(COLUMNS_BYTES)
}

const COLUMNS_BYTES = Buffer.from(COLUMNS_START)

export function parseColumns(line: string): Columns | undefined {
  const value = line.startsWith(COLUMNS_START) ? parseJson(line) : undefined
  if (!isObject(value)) return undefined
  const { table, columns, key } = value
  return typeof table === 'string' && isTexts(columns) && isTexts(key) ? { table, columns, key } : undefined
}

/** A row by what its line says. */
export function toRow(value: Json | undefined): KeptRow | undefined {
  if (!isObject(value) || typeof value['table'] !== 'string' || !isObject(value['row'])) return undefined
  const row: Record<string, SqlValue> = Object.create(null)
  for (const [column, cell] of Object.entries(value['row'])) {
    const parsed = parseCell(cell)
    if (parsed === undefined) return undefined
    row[column] = parsed
  }
  const { table, key } = value
  // As it was written: these have one spelling.
  return { name: rowName(table, toJson(key)), table, row }
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

function cellJson(value: Exclude<SqlValue, null>): string {
  if (typeof value === 'bigint') return `{"$int":"${value}"}`
  if (typeof value === 'number' && (!Number.isFinite(value) || Object.is(value, -0)))
    return `{"$real":"${Object.is(value, -0) ? '-0' : value}"}`
  if (value instanceof Uint8Array)
    return `{"$base64":"${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')}"}`
  return JSON.stringify(value)
}

function parseCell(cell: unknown): Exclude<SqlValue, null> | undefined {
  if (typeof cell === 'string' || typeof cell === 'number') return cell
  if (!isObject(cell)) return undefined
  const { $int, $real, $base64 } = cell
  if (typeof $base64 === 'string') return Buffer.from($base64, 'base64')
  if (typeof $real === 'string') return Number($real)
  return typeof $int === 'string' && /^-?\d{1,19}$/.test($int) ? BigInt($int) : undefined
}
