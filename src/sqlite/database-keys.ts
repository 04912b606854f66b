/**
 * What a row is asked for by, and the keys of many rows in order with how large each row is, before any of it is read: so that a
 * batch can be made to fit in memory. A file gives no more rows and bytes than it can hold, whatever its pages say.
 */
import { HansardError } from '../errors.ts'
import type { SqlValue } from '../transcript/source.ts'
import { quote, type Table } from './database-tables.ts'

export const MAX_ROW_BYTES = 64 * 1024 * 1024
/** Sorted rows are known by their keys first, all of them: 16 bytes each. */
export const MAX_SORTED_ROWS = 2_000_000
/** A row takes four bytes at the very least: two where it is pointed to, two of its own. */
const LEAST_ROW_BYTES = 4

export type Bounds = {
  readonly maxRows: number
  /** Throws when the rows given so far are more than the file can hold. */
  count(rows: number, bytes: number): void
}

export function createBounds(sizeBytes: number, table: string): Bounds {
  let rows = 0
  let bytes = 0
  return {
    maxRows: Math.ceil(sizeBytes / LEAST_ROW_BYTES),
    count(moreRows, moreBytes) {
      rows += moreRows
      bytes += moreBytes
      if (rows * LEAST_ROW_BYTES <= sizeBytes && bytes <= sizeBytes * 4) return
      throw new HansardError('io', `${table} gives more than its file can hold: its pages point in circles`)
    },
  }
}

/** A row's key as it is bound. */
export type Key = readonly SqlValue[]

/** The key of a table's rows in SQL, for a table called `t`. */
export type Keys = {
  /** True for the rowid: one number, which can be asked for among others. */
  readonly isNumber: boolean
  readonly columns: readonly string[]
  /** What is selected for it, and how many values that is. */
  readonly select: string
  readonly width: number
  /** What it is compared with. */
  readonly bound: string
  /** Out of the values selected for it. */
  read(values: readonly SqlValue[]): Key
}

export function keysOf({ key, columns }: Table): Keys {
  const [only] = key
  if (key.length === 1 && only !== undefined && !columns.includes(only)) {
    // `+` makes an expression of it: an engine that looks for its declared type would trip over a hostile one.
    const select = `+t.${only}`
    return {
      isNumber: true,
      columns: [`t.${only}`],
      select,
      width: 1,
      bound: '?',
      read: (values) => [values[0] ?? null],
    }
  }
  const names = key.map((part) => `t.${quote(part)}`)
  const bound = names.map(() => 'CASE WHEN ? THEN CAST(? AS TEXT) ELSE ? END').join(', ')
  const each = names.map(
    (name) =>
      `typeof(${name}) = 'text', CASE typeof(${name}) WHEN 'text' THEN CAST(${name} AS BLOB) ELSE ${name} END`,
  )
  return {
    isNumber: false,
    columns: names,
    select: each.join(', '),
    width: names.length * 2,
    bound,
    read: (values) =>
      names.flatMap((_, at) => {
        const isText = values[at * 2] ?? null
        const value = values[at * 2 + 1] ?? (isText === 1 ? Buffer.alloc(0) : null)
        return [isText, value, value]
      }),
  }
}

/** Keys in order, each with its row's bytes. */
export type KeyList = {
  readonly length: number
  add(key: Key, bytes: number): void
  key(at: number): Key
  bytes(at: number): number
}

/** Numbers are held as numbers, so that two million of them are 32 MB. */
export function createKeyList({ isNumber }: Keys): KeyList {
  let numbers = new BigInt64Array(1024)
  let sizes = new Float64Array(1024)
  const others: Key[] = []
  let length = 0
  const grow = (): void => {
    const [before, bytes] = [numbers, sizes]
    numbers = new BigInt64Array(isNumber ? before.length * 2 : 0)
    if (isNumber) numbers.set(before)
    sizes = new Float64Array(bytes.length * 2)
    sizes.set(bytes)
  }
  return {
    get length() {
      return length
    },
    add(key, bytes) {
      if (length === sizes.length) grow()
      if (isNumber) numbers[length] = BigInt(key[0] as number | bigint)
      else others.push(key)
      sizes[length] = bytes
      length += 1
    },
    key: (at) => (isNumber ? [numbers[at] as bigint] : (others[at] as Key)),
    bytes: (at) => sizes[at] as number,
  }
}
