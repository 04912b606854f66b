/** What an engine of SQLite is to the driver, and how its values become ours. */
import type { Row, SqlValue } from '../transcript/source.ts'

export type OpenMode = 'read-write' | 'read-only' | 'immutable'

/** What both engines can be made to look like. */
export type Connection = {
  exec(sql: string): void
  prepare(sql: string): EngineStatement
  close(): void
}
export type EngineStatement = {
  rows(values: readonly SqlValue[]): Iterable<Row>
  /** The first of them, and the statement is done. */
  first(values: readonly SqlValue[]): Row | undefined
  lists(values: readonly SqlValue[]): Iterable<SqlValue[]>
  run(values: readonly SqlValue[]): number
}
export type Connect = (
  path: string,
  options: { readonly mode: OpenMode; readonly busyMs: number },
) => Connection

/** A row without a prototype: a column may be called anything, `__proto__` too. */
export function toRow(names: readonly string[], values: readonly unknown[]): Row {
  const row: Record<string, SqlValue> = Object.create(null)
  for (let at = 0; at < names.length; at += 1) row[names[at] as string] = toValue(values[at])
  return row
}

export function toValue(value: unknown): SqlValue {
  if (typeof value === 'bigint') {
    const number = Number(value)
    return Number.isSafeInteger(number) ? number : value
  }
  if (typeof value === 'string' || typeof value === 'number') return value
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  return value instanceof ArrayBuffer ? Buffer.from(value) : null
}
