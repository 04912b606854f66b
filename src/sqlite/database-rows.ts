/**
 * The tables of another program's database, a batch at a time: at most some MB in memory and no lock between batches.
 * Only plain columns of plain tables are asked for, as bytes, so nothing in the schema is run and no text can hurt; and
 * no more is read than a file of its size can hold, because the pages of a hostile one point in circles.
 */
import { HansardError, isHansardError, messageOf } from '../errors.ts'
import type { Database, Statement } from './driver.ts'
import type { DamageKind } from '../transcript/damage.ts'
import type { Row, SourceDatabase, SqlValue } from '../transcript/source.ts'
import { createBounds, type KeyedSize, keysOf, MAX_ROW_BYTES } from './database-keys.ts'
import {
  type Decode,
  decoderFor,
  isOfTheBytes,
  listTables,
  quote,
  quoteKey,
  type Table,
} from './database-tables.ts'

/** Told of what cannot be given, and why. */
export type Reported = (kind: DamageKind, reason: string) => void

export type Tables = {
  readonly sizeBytes: number
  /** False once the bytes changed under a reader that holds no lock. */
  readonly whole: () => Promise<boolean>
  readonly report: Reported
  readonly closed: () => Promise<void>
}

const BATCH_BYTES = 4 * 1024 * 1024

/** Throws what SQLite throws when the first page or the schema cannot be read. */
export function readTables(opened: Database, { sizeBytes, whole, report, closed }: Tables): SourceDatabase {
  const database = { ...opened, prepare: rememberStatements(opened) }
  for (const pragma of ['trusted_schema = OFF', 'query_only = ON', 'cell_size_check = ON', 'mmap_size = 0']) {
    database.exec(`PRAGMA ${pragma}`)
  }
  const decode = decoderFor(database)
  const tables = listTables(database, decode, (reason) => report('not-an-entry', reason))
  return {
    tables: () => [...tables.keys()].sort(),
    columns: (table) => tables.get(table)?.columns ?? [],
    key: (table) => tables.get(table)?.unique ?? [],
    async *rows(name, options = {}) {
      const table = tables.get(name)
      if (table === undefined) return
      const bounds = createBounds(sizeBytes, name)
      const columns = table.columns.filter((column) => options.columns?.includes(column) ?? true)
      const read = readerOf(database, name, { ...table, asked: columns }, decode)
      try {
        for (const keys of keysOf(database, name, table, options, bounds)) {
          for (const batch of read(keys, report)) {
            if (!(await whole())) throw new HansardError('io', 'it was written to while it was read')
            yield batch
          }
        }
      } catch (error) {
        if (!isOfTheBytes(error)) throw error
        report('missing', `rows of the table ${name} are missing: ${reasonOf(error)}`)
      }
    },
    async close() {
      database.close()
      await closed()
    },
  }
}

type ReadRows = (keys: readonly KeyedSize[], report: Reported) => Generator<readonly Row[]>

/** Many small questions are asked of the same table: preparing each anew costs more than its answer. */
function rememberStatements(database: Database): Database['prepare'] {
  const statements = new Map<string, Statement>()
  return (sql) => {
    const known = statements.get(sql) ?? database.prepare(sql)
    if (statements.size < MAX_STATEMENTS) statements.set(sql, known)
    return known
  }
}

const MAX_STATEMENTS = 200
/** Rows asked for at a time, where they are known by one number. */
const CHUNK_ROWS = 64

type Asked = Table & { readonly asked: readonly string[] }

function readerOf(database: Database, name: string, table: Asked, decode: Decode): ReadRows {
  const find = finderOf(database, name, table)
  return function* (keys, report) {
    let batch: Row[] = []
    let held = 0
    const fitting = keys.filter(({ bytes }) => bytes <= MAX_ROW_BYTES)
    for (let more = keys.length - fitting.length; more > 0; more -= 1)
      report('too-large', `a row of the table ${name} is over ${MAX_ROW_BYTES} bytes`)
    for (const chunk of chunksOf(fitting)) {
      if (batch.length > 0 && held + chunk.bytes > BATCH_BYTES) {
        yield batch
        batch = []
        held = 0
      }
      for (const raw of find(chunk.keys)) {
        batch.push(
          toRow(table.asked, raw, decode, () => report('not-utf8', `text in the table ${name} is not text`)),
        )
      }
      held += chunk.bytes
    }
    if (batch.length > 0) yield batch
  }
}

type Find = (keys: readonly KeyedSize[]) => Iterable<Row>

/** The rows of some keys in their order. One that was deleted since it was listed is as if it had never been seen. */
function finderOf(database: Database, name: string, table: Asked): Find {
  const values = table.asked.map((column, at) => {
    const quoted = quote(column)
    return `typeof(${quoted}) = 'text' AS t${at},
            CASE typeof(${quoted}) WHEN 'text' THEN CAST(${quoted} AS BLOB) ELSE ${quoted} END AS v${at}`
  })
  const key = table.key.map(quoteKey(table))
  const select = `SELECT ${[`+${key[0]} AS k`, ...values].join(', ')} FROM ${quote(name)} WHERE`
  const one = database.prepare(
    `SELECT ${['1', ...values].join(', ')} FROM ${quote(name)} WHERE ${key.map((part) => `${part} IS ?`).join(' AND ')} LIMIT 1`,
  )
  function* singly(keys: readonly KeyedSize[]): Generator<Row> {
    for (const keyed of keys) {
      const raw = one.get(...keyed.key)
      if (raw !== undefined) yield raw
    }
  }
  // Keys that are columns may be text, which no engine may be asked for.
  if (key.length > 1 || table.columns.includes(table.key[0] ?? '')) return singly
  const many = database.prepare(
    `${select} ${key[0]} IN (${Array.from({ length: CHUNK_ROWS }, () => '?').join(', ')})`,
  )
  return (keys) => {
    if (keys.length < 3) return singly(keys)
    const asked = keys.map((keyed) => keyed.key[0] ?? null)
    const padded = [...asked, ...Array.from({ length: CHUNK_ROWS - asked.length }, () => null)]
    try {
      const found = new Map(many.all(...padded).map((row) => [String(row['k']), row]))
      return asked.flatMap((rowid) => {
        const row = found.get(String(rowid))
        return row === undefined ? [] : [row]
      })
    } catch (error) {
      if (!isOfTheBytes(error)) throw error
      // A page among these is damaged: one row at a time up to it.
      return singly(keys)
    }
  }
}

type Chunk = { readonly keys: KeyedSize[]; bytes: number }

function* chunksOf(keys: readonly KeyedSize[]): Generator<Chunk> {
  let chunk: Chunk = { keys: [], bytes: 0 }
  for (const keyed of keys) {
    const isFull = chunk.keys.length === CHUNK_ROWS || chunk.bytes + keyed.bytes > BATCH_BYTES
    if (isFull && chunk.keys.length > 0) {
      yield chunk
      chunk = { keys: [], bytes: 0 }
    }
    chunk.keys.push(keyed)
    chunk.bytes += keyed.bytes
  }
  if (chunk.keys.length > 0) yield chunk
}

/** Text that is not text stays the bytes it is. */
function toRow(columns: readonly string[], raw: Row, decode: Decode, notText: () => void): Row {
  const row: Record<string, SqlValue> = Object.create(null)
  for (const [at, column] of columns.entries()) {
    const value = raw[`v${at}`] ?? null
    if (raw[`t${at}`] !== 1) row[column] = value
    else {
      const text = decode(value) ?? (value === null ? '' : undefined)
      if (text === undefined) notText()
      row[column] = text ?? value
    }
  }
  return row
}

function reasonOf(error: unknown): string {
  return messageOf(isHansardError(error) && error.cause !== undefined ? error.cause : error)
}
