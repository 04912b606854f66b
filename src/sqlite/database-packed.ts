/**
 * A row as one value: `5,i13,n,` and then the bytes of its cells one after another, because handing over a value costs more than
 * what is in it. For tables of text and whole numbers in UTF-8; a row with anything else, or a large cell, says so and is asked for alone.
 */
import type { SqlValue } from '../transcript/source.ts'
import { type Cells, SMALL_BYTES } from './database-cells.ts'
import { type Decode, quote } from './database-tables.ts'

/** A chain of `||` is as deep as it is long, and SQLite takes 1,000. */
export const MAX_PACKED = 50

const COMMA = 0x2c
const ZERO = 0x30
const [INTEGER, NULL, ELSE] = ['i', 'n', 'x'].map((kind) => kind.charCodeAt(0))

export function packedCells(columns: readonly string[], decode: Decode): Cells {
  const names = columns.map((column) => `t.${quote(column)}`)
  const heads = names.map(
    (name) =>
      `CASE typeof(${name}) WHEN 'text' THEN CASE WHEN octet_length(${name}) > ${SMALL_BYTES} THEN 'x' ELSE octet_length(${name}) END
       WHEN 'integer' THEN 'i' || octet_length(${name}) WHEN 'null' THEN 'n' ELSE 'x' END || ','`,
  )
  const bodies = names.map(
    (name) =>
      `CASE WHEN typeof(${name}) IN ('text', 'integer') AND octet_length(${name}) <= ${SMALL_BYTES} THEN ${name} ELSE '' END`,
  )
  const kinds = new Uint8Array(columns.length)
  const lengths = new Uint32Array(columns.length)

  /** Where the cells begin; undefined when one of them is not here. */
  const readHead = (bytes: Buffer): number | undefined => {
    let at = 0
    for (let cell = 0; cell < columns.length; cell += 1) {
      let kind = 0
      let length = 0
      for (let byte = bytes[at]; byte !== COMMA; at += 1, byte = bytes[at]) {
        if (byte === undefined || byte === ELSE) return undefined
        if (byte === INTEGER || byte === NULL) kind = byte
        else length = length * 10 + byte - ZERO
      }
      kinds[cell] = kind
      lengths[cell] = length
      at += 1
    }
    return at
  }
  return {
    sql: `CAST(${[...heads, ...bodies].join(' || ')} AS BLOB)`,
    toRow(values, from, notText) {
      const bytes = values[from]
      const start = Buffer.isBuffer(bytes) ? readHead(bytes) : undefined
      if (!Buffer.isBuffer(bytes) || start === undefined) return undefined
      const row: Record<string, SqlValue> = Object.create(null)
      let at = start
      for (let cell = 0; cell < columns.length; cell += 1) {
        const end = at + (lengths[cell] as number)
        const kind = kinds[cell]
        const text = kind === NULL ? '' : bytes.toString('utf8', at, end)
        const column = columns[cell] as string
        if (kind === NULL) row[column] = null
        else if (kind === INTEGER) row[column] = toInteger(text)
        else if (!text.includes('\uFFFD')) row[column] = text
        else {
          // U+FFFD may stand there, or stand for what is no text.
          const own = Buffer.from(bytes.subarray(at, end))
          const strict = decode(own)
          if (strict === undefined) notText()
          row[column] = strict ?? own
        }
        at = end
      }
      return row
    },
  }
}

function toInteger(text: string): number | bigint {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : BigInt(text)
}
