/** Values out of another program's database as JSON, so that what is not understood can be kept in an entry. */
import { isHansardError } from '../errors.ts'
import type { Damage } from '../transcript/damage.ts'
import { parseJson, type Json, type JsonObject } from '../transcript/json.ts'
import {
  SQLITE_MAGIC,
  type Row,
  type RowOptions,
  type SourceDatabase,
  type SourceFile,
  type SqlValue,
} from '../transcript/source.ts'

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
  if (value instanceof Uint8Array) return textOf(value) ?? { $base64: toBuffer(value).toString('base64') }
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  return value
}

/** Text of a column, whether it was written as text or as bytes. */
export function textOf(value: SqlValue | undefined): string | undefined {
  if (typeof value === 'string') return value
  if (!(value instanceof Uint8Array)) return undefined
  try {
    return STRICT.decode(value)
  } catch {
    return undefined
  }
}

/** A column that holds JSON; undefined where it does not. */
export function jsonOf(value: SqlValue | undefined): Json | undefined {
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
