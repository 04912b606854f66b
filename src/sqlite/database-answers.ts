/**
 * The rows that a question is about, in the order asked for. Few come with one statement. Of more, all keys are taken
 * first, so that no sorter holds the rows and no lock is kept while they are read.
 */
import { HansardError } from '../errors.ts'
import type { Row, SqlValue } from '../transcript/source.ts'
import { bytesOf, type Cells, rowsAtOnce } from './database-cells.ts'
import { createKeyList, type Key, type KeyList, MAX_ROW_BYTES, MAX_SORTED_ROWS } from './database-keys.ts'
import { toBatches } from './database-pages.ts'
import type { Question } from './database-questions.ts'
import { BATCH_BYTES, patiently, type TableReader } from './database-table-reader.ts'
import { isOfTheBytes, quote } from './database-tables.ts'

/** Rows that are few: with the largest of small cells, 16 MB. */
const FEW_ROWS = 1000

export async function* answer(reader: TableReader, question: Question): AsyncGenerator<readonly Row[]> {
  const few = await findFew(reader, question)
  if (few !== undefined) {
    yield* toBatches(reader, few.page, few.cells)
    return
  }
  // Sorting reads everything before it gives anything: first make sure that there is an end.
  await patiently(() => measure(reader, question))
  const { keys, columns, prepare } = reader
  const { from, values, place, order } = question
  const by = [...(place === undefined ? [] : [place]), ...order, ...keys.columns].join(', ')
  const sql = `SELECT ${keys.select}, ${bytesOf(columns)} ${from} ORDER BY ${by} LIMIT ${MAX_SORTED_ROWS}`
  const list = await patiently(() => {
    const found = createKeyList(keys)
    for (const raw of prepare(sql).eachList(...values)) found.add(keys.read(raw), Number(raw[keys.width]))
    return found
  })
  yield* readKeys(reader, list)
}

type Few = { readonly page: readonly SqlValue[][]; readonly cells: Cells }

/** The rows, with one statement; undefined where they are not few, or a page among them is damaged. */
async function findFew(reader: TableReader, question: Question): Promise<Few | undefined> {
  const { name, keys, prepare } = reader
  const cells = reader.small()
  if (!keys.isNumber) return undefined
  const { from, values, place = '0', order } = question
  const [rowid] = keys.columns
  // Which they are is asked first, to an end; then they are sorted.
  const some = `SELECT ${place} AS place, ${rowid} AS number ${from} LIMIT ${FEW_ROWS + 1}`
  const sql = `SELECT ${keys.select}, ${cells.sql} FROM (${some}) AS few CROSS JOIN ${quote(name)} AS t
    WHERE ${rowid} = few.number ORDER BY ${['few.place', ...order, rowid].join(', ')}`
  try {
    const page = await patiently(() => prepare(sql).lists(...values))
    return page.length > FEW_ROWS ? undefined : { page, cells }
  } catch (error) {
    if (!isOfTheBytes(error)) throw error
    return undefined
  }
}

function measure({ columns, prepare, bounds }: TableReader, { from, values }: Question): void {
  const limit = Math.min(bounds.maxRows, MAX_SORTED_ROWS) + 1
  const each = `SELECT min(${bytesOf(columns)}, ${MAX_ROW_BYTES}) AS bytes ${from} LIMIT ${limit}`
  const [found = []] = prepare(`SELECT count(*), total(bytes) FROM (${each})`).lists(...values)
  const [rows, bytes] = [Number(found[0]), Number(found[1])]
  bounds.count(rows, bytes)
  if (rows > MAX_SORTED_ROWS) throw new HansardError('io', `more than ${MAX_SORTED_ROWS} rows to sort`)
}

async function* readKeys(reader: TableReader, list: KeyList): AsyncGenerator<readonly Row[]> {
  let batch: Row[] = []
  let held = 0
  const atOnce = rowsAtOnce(reader.columns)
  for (let at = 0; at < list.length;) {
    const from = at
    let bytes = 0
    do {
      bytes += list.bytes(at)
      at += 1
    } while (at < list.length && at - from < atOnce && bytes + list.bytes(at) <= BATCH_BYTES)
    if (batch.length > 0 && held + bytes > BATCH_BYTES) {
      yield batch
      // Whoever asks for more is done with these: a row may be of many MB, and the next one too.
      batch.length = 0
      batch = []
      held = 0
    }
    const keys = Array.from({ length: at - from }, (_, place) => list.key(from + place))
    batch.push(...(await find(reader, keys)))
    held += bytes
  }
  if (batch.length > 0) yield batch
}

/** In the order of the keys. One that was deleted since it was listed is as if it had never been seen. */
async function find(reader: TableReader, keys: readonly Key[]): Promise<readonly Row[]> {
  const { name, keys: sql, columns, whole, prepare, notText } = reader
  const singly = async (): Promise<readonly Row[]> => {
    const rows: Row[] = []
    for (const key of keys) {
      const found = await reader.single(key)
      if (found !== undefined) rows.push(found.row)
    }
    return rows
  }
  if (!sql.isNumber || keys.length < 3) return singly()
  const places = Array.from({ length: rowsAtOnce(columns) }, () => '?').join(', ')
  const many = `SELECT ${sql.select}, ${whole.sql} FROM ${quote(name)} AS t WHERE ${sql.columns[0]} IN (${places})`
  const padded = Array.from({ length: rowsAtOnce(columns) }, (_, at) => keys[at]?.[0] ?? null)
  try {
    const found = new Map<string, Row>()
    for (const raw of await patiently(() => prepare(many).lists(...padded))) {
      const row = whole.toRow(raw, sql.width, notText)
      if (row !== undefined) found.set(String(raw[0]), row)
    }
    return keys.flatMap((key) => {
      const row = found.get(String(key[0]))
      return row === undefined ? [] : [row]
    })
  } catch (error) {
    if (!isOfTheBytes(error)) throw error
    // A page among these is damaged: one row at a time up to it.
    return singly()
  }
}
