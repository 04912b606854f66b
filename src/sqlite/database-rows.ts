/**
 * The tables of another program's database, a batch at a time: at most some MB in memory and no lock between batches.
 * Only plain columns of plain tables are asked for, as bytes, so nothing in the schema is run and no text can hurt; and
 * no more is read than a file of its size can hold, because the pages of a hostile one point in circles.
 */
import { HansardError, isHansardError, messageOf } from '../errors.ts'
import type { Database } from './driver.ts'
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
export function readTables(database: Database, { sizeBytes, whole, report, closed }: Tables): SourceDatabase {
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

type Asked = Table & { readonly asked: readonly string[] }

function readerOf(database: Database, name: string, table: Asked, decode: Decode): ReadRows {
  const values = table.asked.map((column, at) => {
    const quoted = quote(column)
    return `typeof(${quoted}) = 'text' AS t${at},
            CASE typeof(${quoted}) WHEN 'text' THEN CAST(${quoted} AS BLOB) ELSE ${quoted} END AS v${at}`
  })
  const key = table.key.map(quoteKey(table))
  const one = database.prepare(
    `SELECT ${['1', ...values].join(', ')} FROM ${quote(name)} WHERE ${key.map((part) => `${part} IS ?`).join(' AND ')} LIMIT 1`,
  )
  return function* (keys, report) {
    let batch: Row[] = []
    let held = 0
    for (const { key, bytes } of keys) {
      if (bytes > MAX_ROW_BYTES) {
        report('too-large', `a row of the table ${name} is over ${MAX_ROW_BYTES} bytes`)
        continue
      }
      const raw = one.get(...key)
      // Deleted since it was listed: as if it had never been seen.
      if (raw === undefined) continue
      batch.push(
        toRow(table.asked, raw, decode, () => report('not-utf8', `text in the table ${name} is not text`)),
      )
      held += bytes
      if (held < BATCH_BYTES) continue
      yield batch
      batch = []
      held = 0
    }
    if (batch.length > 0) yield batch
  }
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
