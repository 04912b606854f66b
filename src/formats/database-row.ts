/** Values out of another program's database as JSON, so that what is not understood can be kept in an entry. */
import { isHansardError } from '../errors.ts'
import type { Damage } from '../transcript/damage.ts'
import { parseJson, type Json, type JsonObject } from '../transcript/json.ts'
import { parseLong } from '../transcript/long-json.ts'
import {
  LONG_TEXT,
  SQLITE_MAGIC,
  type Row,
  type RowOptions,
  type SourceDatabase,
  type SourceFile,
  type SqlValue,
  TextBytes,
} from '../transcript/source.ts'
import type { Place } from './placing.ts'

export async function isDatabase(file: SourceFile): Promise<boolean> {
  if (file.database === undefined) return false
  const head = await file.head(SQLITE_MAGIC.length)
  return head.equals(Buffer.from(SQLITE_MAGIC))
}

/** The database, or the damage that keeps it from being read: one that is locked costs itself and nothing else. */
export async function openOrDamage(file: SourceFile): Promise<SourceDatabase | Damage> {
  try {
    const database = await file.database?.()
    if (database !== undefined) return database
  } catch (error) {
    if (!isHansardError(error) || error.code === 'disk-full') throw error
    return toDamage(file, error.message)
  }
  return toDamage(file, 'a database, which cannot be opened from here')
}

export function isDamage(opened: SourceDatabase | Damage): opened is Damage {
  return 'kind' in opened
}

export async function* eachRow(
  database: SourceDatabase,
  table: string,
  options: RowOptions = {},
): AsyncGenerator<Row> {
  for await (const batch of database.rows(table, options)) yield* batch
}

/** The whole row. Bytes that are text are text; others are base64. */
export function rowToJson(row: Row): JsonObject {
  const json = Object.create(null) as Record<string, Json>
  for (const [column, value] of Object.entries(row)) json[column] = valueToJson(value)
  return json
}

export function valueToJson(value: SqlValue): Json {
  if (typeof value === 'bigint') return String(value)
  const left = leftOut(value)
  if (left !== undefined) return left
  if (value instanceof Uint8Array) return textOf(value) ?? { $base64: toBuffer(value).toString('base64') }
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  return value
}

/** What a value says that is not held: how long it is, and how it begins. */
type LeftOut = { readonly $bytes: number; readonly $begins: string }

/** In bytes: values that would be more as a string stay in their row, and are told of. */
export const MOST_TEXT = 64 * 1024 * 1024
const BEGINNING = 1000

/** Undefined for a value that is not too large. */
export function leftOut(value: SqlValue | undefined): LeftOut | undefined {
  if (value instanceof Beginning) return value.left
  if (!(value instanceof Uint8Array) || value.length * 2 <= MOST_TEXT) return undefined
  return weightOf(value) <= MOST_TEXT ? undefined : toLeftOut(value)
}

function toLeftOut(value: Uint8Array): LeftOut {
  return { $bytes: value.length, $begins: toBuffer(value).toString('utf8', 0, BEGINNING) }
}

/** The beginning of a value that is left out. */
class Beginning extends TextBytes {
  readonly left: LeftOut
  constructor(value: Uint8Array) {
    super(0)
    this.left = toLeftOut(value)
  }
}

/** Bytes of the string that a long value is: two a character as soon as one is beyond Latin. 0 for what is short, and for numbers. */
export function weightOf(value: SqlValue | undefined): number {
  if (!(value instanceof Uint8Array) || value.length <= LONG_TEXT) return 0
  let [units, most] = [0, 0]
  for (let at = 0; at < value.length; at += 1) {
    const byte = value[at] as number
    if ((byte & 0xc0) !== 0x80) units += byte >= 0xf0 ? 2 : 1
    if (byte > most) most = byte
  }
  // 0xc3 begins the last letters that take one byte each.
  return most <= 0xc3 ? units : units * 2
}

/** For who has read a row: frames that wait hold on to it, and would to its long values, while others are read. */
export function letGoOfLong(...rows: readonly Row[]): void {
  for (const row of rows)
    for (const [column, value] of Object.entries(row))
      if ((value instanceof Uint8Array || typeof value === 'string') && value.length > LONG_TEXT)
        (row as Record<string, SqlValue>)[column] = null
}

/** For who asks for the texts of a row more than once: long ones are strings from here on, and no longer there as bytes, too. */
export function decodeLong(row: Row): void {
  for (const [column, value] of Object.entries(row)) {
    if (!(value instanceof TextBytes) || leftOut(value) !== undefined) continue
    ;(row as Record<string, SqlValue>)[column] = value.toString()
  }
}

/** What is told of a row whose column holds no JSON that can be read. `what`: what it would be. */
export function lossOf(row: Row, column: string, what: string): Pick<Damage, 'kind' | 'reason'> {
  const left = leftOut(row[column])
  if (left === undefined) return { kind: 'not-json', reason: `${what} that is not JSON` }
  const { id } = row
  const name = typeof id === 'number' ? String(id) : (textOf(id) ?? textOf(row['key']))
  const named = name === undefined ? '' : ` (${name.slice(0, 200)})`
  return {
    kind: 'too-large',
    reason: `${what} of ${left.$bytes} bytes${named}: kept, and too large to be read`,
  }
}

/** The same of every value of a row that is too large to be read: for rows whose columns are not all asked for by name. */
export function tooLargeIn(row: Row, what: string, { file, number }: Place): readonly Damage[] {
  const columns = Object.keys(row).filter((column) => leftOut(row[column]) !== undefined)
  return columns.map((column) => ({
    ...lossOf(row, column, `the ${column} of ${what}`),
    file,
    line: number,
    byteOffset: 0,
    byteLength: 0,
  }))
}

/** The row without its long values. */
export function withoutLong(row: Row): Row {
  const short: Record<string, SqlValue> = Object.create(null)
  for (const [column, value] of Object.entries(row))
    short[column] = value instanceof Uint8Array && value.length > LONG_TEXT ? new Beginning(value) : value
  return short
}

/** Text of a column, whether it was written as text or as bytes. Undefined for one that is too large. */
export function textOf(value: SqlValue | undefined): string | undefined {
  if (typeof value === 'string') return value
  if (!(value instanceof Uint8Array) || leftOut(value) !== undefined) return undefined
  if (value instanceof TextBytes) return value.toString()
  try {
    return STRICT.decode(value)
  } catch {
    return undefined
  }
}

/** A column that holds JSON; undefined where it does not. */
export function jsonOf(value: SqlValue | undefined): Json | undefined {
  if (value instanceof Uint8Array && value.length > LONG_TEXT) {
    if (leftOut(value) !== undefined) return undefined
    const long = parseLong(toBuffer(value), { isKept: true })
    if (long !== undefined) return long.value
  }
  const text = textOf(value)
  return text === undefined ? undefined : parseJson(text)
}

const STRICT = new TextDecoder('utf-8', { fatal: true })

function toBuffer(value: Uint8Array): Buffer {
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
}

function toDamage(file: SourceFile, reason: string): Damage {
  return { kind: 'missing', file: file.path, byteOffset: 0, byteLength: file.sizeBytes, reason }
}
