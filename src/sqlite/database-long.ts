/**
 * Rows of more than a MB. Cells that are long come in slices, put together here: a value of 30 MB handed over in one piece would be there
 * three times. Long text stays the bytes it is, for whoever needs it as a string holds that as well.
 */
import { isUtf8 } from 'node:buffer'
import { allocateLong } from '../transcript/long-bytes.ts'
import { LONG_TEXT, type Row, type SqlValue, TextBytes } from '../transcript/source.ts'
import { type Key, MAX_ROW_BYTES } from './database-keys.ts'
import { type Decode, quote } from './database-tables.ts'
import type { Database } from './driver.ts'

export type LongRows = {
  /** Undefined where it is gone, or has become too large meanwhile. */
  read(key: Key, notText: () => void): Row | undefined
  /** What names the row, for people. */
  nameOf(key: Key): string
}

type Options = {
  readonly columns: readonly string[]
  readonly unique: readonly string[]
  readonly decode: Decode
  /** SQL from FROM on, for one row of a table called `t`. */
  readonly byKey: string
}

/** SQLite reads all of a value for each slice of it: so they are few. */
const SLICE_BYTES = 4 * 1024 * 1024
const MOST_SLICES = 8
/** Columns that are asked for with one statement, three values each: SQLite gives 2,000 at most. */
const TOGETHER = 500
/** Of a key, in bytes: a longer one names nothing to anybody. */
const NAME_BYTES = 200

export function createLongRows(database: Database, { columns, unique, decode, byKey }: Options): LongRows {
  const each = columns.map((column) => {
    const name = `t.${quote(column)}`
    return `typeof(${name}) = 'text', octet_length(${name}), CASE WHEN octet_length(${name}) > ${LONG_TEXT} THEN NULL
      WHEN typeof(${name}) = 'text' THEN CAST(${name} AS BLOB) ELSE ${name} END`
  })
  const slices = (column: string, length: number, key: Key): Buffer<ArrayBuffer> | undefined => {
    const bytes = allocateLong(length).subarray(0, length)
    const step = Math.max(SLICE_BYTES, Math.ceil(length / MOST_SLICES))
    const slice = database.prepare(`SELECT substr(CAST(t.${quote(column)} AS BLOB), ?, ?) ${byKey}`)
    for (let at = 0; at < length; at += step) {
      const [some] = slice.lists(at + 1, step, ...key)
      const part = some?.[0]
      // What is not filled is memory of something else.
      if (!(part instanceof Uint8Array) || part.length !== Math.min(step, length - at)) return undefined
      bytes.set(part, at)
    }
    return bytes
  }
  const toText = (bytes: Buffer<ArrayBuffer>, notText: () => void): SqlValue => {
    if (decode.isUtf8 && isUtf8(bytes)) return toTextBytes(bytes)
    const text = decode.isUtf8 ? undefined : decode(bytes)
    if (text === undefined) notText()
    return text ?? bytes
  }
  const read = (key: Key, notText: () => void): Row | undefined => {
    const raw: SqlValue[] = []
    for (let at = 0; at < each.length; at += TOGETHER) {
      const [some] = database
        .prepare(`SELECT ${each.slice(at, at + TOGETHER).join(', ')} ${byKey}`)
        .lists(...key)
      if (some === undefined) return undefined
      raw.push(...some)
    }
    const lengths = columns.map((_, at) => Number(raw[at * 3 + 1] ?? 0))
    if (lengths.reduce((sum, length) => sum + length, 0) > MAX_ROW_BYTES) return undefined
    const row: Record<string, SqlValue> = Object.create(null)
    for (const [at, column] of columns.entries()) {
      const length = lengths[at] as number
      const isText = raw[at * 3] === 1
      if (length > LONG_TEXT) {
        const bytes = slices(column, length, key)
        if (bytes === undefined) return undefined
        row[column] = isText ? toText(bytes, notText) : bytes
        continue
      }
      const value = raw[at * 3 + 2] ?? null
      if (!isText) row[column] = value
      else {
        const text = decode(value) ?? (value === null ? '' : undefined)
        if (text === undefined) notText()
        row[column] = text ?? value
      }
    }
    return row
  }
  return {
    // All slices are of one moment.
    read: (key, notText) => atOnce(database, () => read(key, notText)),
    nameOf(key) {
      const named = unique.map((column) => {
        const name = `t.${quote(column)}`
        return `CASE WHEN octet_length(${name}) > ${NAME_BYTES} THEN NULL WHEN typeof(${name}) = 'text' THEN CAST(${name} AS BLOB) ELSE ${name} END`
      })
      const [found = []] =
        named.length === 0 ? [] : database.prepare(`SELECT ${named.join(', ')} ${byKey}`).lists(...key)
      const said = unique.flatMap((column, at) => {
        const value = decode(found[at]) ?? found[at]
        return typeof value === 'string' || typeof value === 'number'
          ? [`${column} ${JSON.stringify(value)}`]
          : []
      })
      return said.length === 0 ? `number ${String(key[0])}` : said.join(', ')
    },
  }
}

function toTextBytes(bytes: Buffer<ArrayBuffer>): TextBytes {
  return new TextBytes(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function atOnce<T>(database: Database, work: () => T): T {
  database.exec('BEGIN')
  try {
    return work()
  } finally {
    try {
      database.exec('ROLLBACK')
    } catch {
      // Whatever went wrong has ended it.
    }
  }
}
