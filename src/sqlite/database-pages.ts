/** All rows of a table in its own order, a page at a time, each page a statement of its own: no lock is kept between them. */
import type { Row, SqlValue } from '../transcript/source.ts'
import { type Cells, rowsAtOnce } from './database-cells.ts'
import type { Key } from './database-keys.ts'
import { BATCH_BYTES, patiently, type TableReader } from './database-table-reader.ts'
import { isOfTheBytes, quote } from './database-tables.ts'

export async function* readPages(reader: TableReader): AsyncGenerator<readonly Row[]> {
  const { name, keys, columns, prepare } = reader
  const order = keys.columns.join(', ')
  let last: Key | undefined
  let limit = rowsAtOnce(columns)
  for (;;) {
    let page: readonly SqlValue[][]
    const cells = reader.small()
    const after = last === undefined ? '' : `WHERE (${order}) > (${keys.bound})`
    const sql = `SELECT ${keys.select}, ${cells.sql} FROM ${quote(name)} AS t ${after} ORDER BY ${order} LIMIT ?`
    try {
      page = await patiently(() => prepare(sql).lists(...(last ?? []), limit))
    } catch (error) {
      if (limit === 1 || !isOfTheBytes(error)) throw error
      // A page among these is damaged: one row at a time up to it.
      limit = 1
      continue
    }
    const end = page.at(-1)
    if (end === undefined) return
    last = keys.read(end)
    yield* toBatches(reader, page, cells)
    if (page.length < limit) return
  }
}

/** Rows that are large are asked for alone, in their place among the others. */
export async function* toBatches(
  { keys, bounds, single, came, notText }: TableReader,
  page: readonly SqlValue[][],
  cells: Cells,
): AsyncGenerator<readonly Row[]> {
  let batch: Row[] = []
  let held = 0
  let alone = 0
  for (const values of page) {
    bounds.count(1, smallBytes(values))
    const row = cells.toRow(values, keys.width, notText)
    if (row !== undefined) {
      batch.push(row)
      continue
    }
    alone += 1
    // Nothing here may hold on to a row of many MB while the next one is read.
    const bytes = await single(keys.read(values)).then((found) => {
      if (found !== undefined) batch.push(found.row)
      return found?.bytes ?? 0
    })
    bounds.count(0, bytes)
    held += bytes
    if (held <= BATCH_BYTES) continue
    yield batch
    // Whoever asks for more is done with these.
    batch.length = 0
    batch = []
    held = 0
  }
  came(page.length, alone)
  if (batch.length > 0) yield batch
}

function smallBytes(values: readonly SqlValue[]): number {
  let bytes = 0
  for (const value of values) if (value instanceof Uint8Array) bytes += value.length
  return bytes
}
