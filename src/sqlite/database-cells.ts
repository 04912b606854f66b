/**
 * The cells of a row, asked for so that nothing in them can hurt: text as bytes, decoded here, and in a statement over many rows
 * only cells that are small. A row with a larger one is known by it, and asked for alone.
 */
import type { Row, SqlValue } from '../transcript/source.ts'
import { type Decode, quote } from './database-tables.ts'

export type Cells = {
  /** What stands after SELECT and the key, for a table called `t`. */
  readonly sql: string
  /** The row, out of the values from `from` on; undefined when a cell of it was left out. */
  readonly toRow: (values: readonly SqlValue[], from: number, notText: () => void) => Row | undefined
}

/** Cells over this many bytes do not come with others. */
export const SMALL_BYTES = 16 * 1024
/** What a cell is, two bits each, so that 25 of them fit where a double holds them all. */
const FLAGS_EACH = 25
const TEXT = 1
const LARGE = 2

/** Rows of a statement, so that not even the largest of small cells come to more than some MB. */
export function rowsAtOnce(columns: readonly string[]): number {
  return Math.min(256, Math.max(1, Math.floor(1024 / Math.max(1, columns.length))))
}

export function cellsOf(
  columns: readonly string[],
  decode: Decode,
  { evenLarge = false }: { readonly evenLarge?: boolean } = {},
): Cells {
  const names = columns.map((column) => `t.${quote(column)}`)
  const isLarge = (name: string): string => (evenLarge ? '0' : `octet_length(${name}) > ${SMALL_BYTES}`)
  const flags: string[] = []
  for (let at = 0; at < names.length; at += FLAGS_EACH) {
    const some = names.slice(at, at + FLAGS_EACH).map((name, place) => {
      const kind = `CASE WHEN ${isLarge(name)} THEN ${LARGE} ELSE typeof(${name}) = 'text' END`
      return `(${kind}) * ${4 ** place}`
    })
    flags.push(some.join(' + '))
  }
  const values = names.map(
    (name) =>
      `CASE WHEN ${isLarge(name)} THEN NULL WHEN typeof(${name}) = 'text' THEN CAST(${name} AS BLOB) ELSE ${name} END`,
  )
  return {
    sql: [...flags, ...values].join(', '),
    toRow(raw, from, notText) {
      const row: Record<string, SqlValue> = Object.create(null)
      let kinds = 0
      for (let at = 0; at < columns.length; at += 1) {
        if (at % FLAGS_EACH === 0) kinds = Number(raw[from + at / FLAGS_EACH])
        const kind = kinds % 4
        kinds = (kinds - kind) / 4
        if (kind === LARGE) return undefined
        const value = raw[from + flags.length + at] ?? null
        row[columns[at] as string] = kind === TEXT ? toText(value, decode, notText) : value
      }
      return row
    },
  }
}

/** How many bytes the cells are, whatever they are. */
export function bytesOf(columns: readonly string[]): string {
  const each = columns.map((column) => `coalesce(octet_length(t.${quote(column)}), 0)`)
  return each.length === 0 ? '0' : each.join(' + ')
}

/** Text that is not text stays the bytes it is. */
function toText(value: SqlValue, decode: Decode, notText: () => void): SqlValue {
  const text = decode(value) ?? (value === null ? '' : undefined)
  if (text === undefined) notText()
  return text ?? value
}
