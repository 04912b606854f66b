/**
 * Rows of a database as lines of JSON and back, so that a row always makes the same bytes: `{"table","key","row"}`, columns that
 * are NULL left out, bytes as `{"$base64"}`, integers that no double holds as `{"$int"}`. Before a table's first row, and when its
 * columns change, a line `{"columns","key","table"}` says their order.
 */
import { isObject, parseJson, toJson, type Json } from '../transcript/json.ts'
import { LONG_TEXT, type Row, type SqlValue, TextBytes } from '../transcript/source.ts'

export type Columns = {
  readonly table: string
  readonly columns: readonly string[]
  readonly key: readonly string[]
}
/** Of a line: its JSON, or of a value of many MB what makes it, a piece at a time. */
export type LinePart = string | (() => Generator<Buffer>)
export type KeptRow = { readonly name: string; readonly table: string; readonly row: Row }

/** What stands before the row itself names the row; it occurs nowhere earlier, for inside a string its quotes are escaped. */
const BEFORE_ROW = ',"row":'
const COLUMNS_START = '{"columns":'

/** What a line has before its row: what names it. `key` is what `keyOf` or `contentKey` gave. */
export function rowName(table: string, key: string): string {
  return `{"table":${JSON.stringify(table)},"key":${key}`
}

/** Both lines without their newline. `row` is what `rowParts` gave. */
export function rowLine(name: string, row: readonly LinePart[]): readonly LinePart[] {
  return [name, BEFORE_ROW, ...row, '}']
}

export function columnsLine({ table, columns, key }: Columns): string {
  return `${COLUMNS_START}${JSON.stringify(columns)},"key":${JSON.stringify(key)},"table":${JSON.stringify(table)}}`
}

/** The row as an object, columns in their order. In parts: put together, a value of many MB would be there once more. */
export function rowParts(columns: readonly string[], row: Row): readonly LinePart[] {
  const parts: LinePart[] = []
  for (const column of columns) {
    const value = row[column] ?? null
    if (value === null) continue
    parts.push(
      `${parts.length === 0 ? '{' : ','}${JSON.stringify(column)}:`,
      isLongCell(value) ? () => longJson(value) : cellJson(value),
    )
  }
  return parts.length === 0 ? ['{}'] : [...parts, '}']
}

/** The line, or the row; undefined for one that is long: put together, it would be there twice. */
export function joined(parts: readonly LinePart[]): string | undefined {
  let length = 0
  for (const part of parts) {
    if (typeof part !== 'string') return undefined
    length += part.length
  }
  return length > LONG_TEXT ? undefined : parts.join('')
}

export function* piecesOf(parts: readonly LinePart[]): Generator<string | Buffer> {
  for (const part of parts) {
    if (typeof part === 'string') yield part
    else yield* part()
  }
}

/** Undefined where a column of the key is NULL, for SQLite lets many rows have that; or is of many MB, which names nothing. */
export function keyOf(columns: readonly string[], row: Row): string | undefined {
  const values = columns.map((column) => row[column] ?? null)
  if (values.length === 0 || values.includes(null) || values.some(isLongCell)) return undefined
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

/** In bytes: what names a row is at most some values of 1 MB, six times as long where all of it is escapes. */
const MOST_NAME = 64 * 1024 * 1024

/** The same of a line in parts, as bytes: no more of them is read. */
export function nameInParts(parts: Iterable<Buffer>): Buffer | undefined {
  const held: Buffer[] = []
  let length = 0
  for (const part of parts) {
    held.push(part)
    length += part.length
    if (isColumnsLine(held[0] as Buffer) || length > MOST_NAME) return undefined
    // What was looked for may lie in two of them.
    const before = Buffer.concat(held.slice(-2, -1)).subarray(1 - BEFORE_ROW.length)
    const at = Buffer.concat([before, part]).indexOf(BEFORE_ROW)
    if (at !== -1) return Buffer.concat(held).subarray(0, length - part.length - before.length + at)
  }
  return undefined
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

type LongCell = string | Uint8Array

function isLongCell(value: SqlValue): value is LongCell {
  return (typeof value === 'string' || value instanceof Uint8Array) && value.length > LONG_TEXT
}

/** Of three bytes each, so that base64 has no end but its last. */
const PIECE = 3 * 16 * 1024

/** The same bytes as of a shorter value. */
function* longJson(value: LongCell): Generator<Buffer> {
  if (typeof value === 'string') {
    yield Buffer.from('"')
    for (let at = 0; at < value.length;) {
      const end = Math.min(value.length, at + PIECE)
      // Half a character is not text.
      const to = end < value.length && (value.charCodeAt(end - 1) & 0xfc00) === 0xd800 ? end - 1 : end
      yield Buffer.from(JSON.stringify(value.slice(at, to)).slice(1, -1))
      at = to
    }
    yield Buffer.from('"')
    return
  }
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  if (!(value instanceof TextBytes)) {
    yield Buffer.from('{"$base64":"')
    for (let at = 0; at < bytes.length; at += PIECE)
      yield Buffer.from(bytes.toString('base64', at, at + PIECE), 'latin1')
    yield Buffer.from('"}')
    return
  }
  yield Buffer.from('"')
  for (let at = 0; at < bytes.length;) {
    let to = Math.min(bytes.length, at + PIECE)
    while (to < bytes.length && ((bytes[to] as number) & 0xc0) === 0x80) to -= 1
    yield Buffer.from(JSON.stringify(bytes.toString('utf8', at, to)).slice(1, -1))
    at = to
  }
  yield Buffer.from('"')
}

function cellJson(value: Exclude<SqlValue, null>): string {
  if (typeof value === 'bigint') return `{"$int":"${value}"}`
  if (typeof value === 'number' && (!Number.isFinite(value) || Object.is(value, -0)))
    return `{"$real":"${Object.is(value, -0) ? '-0' : value}"}`
  if (value instanceof TextBytes) return JSON.stringify(value.toString())
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
