/**
 * The tables of another program's database, a batch at a time: at most some MB in memory and no lock between batches.
 * Only plain columns of plain tables are asked for, as bytes, so nothing in the schema is run and no text can hurt; and
 * no more is read than a file of its size can hold, because the pages of a hostile one point in circles.
 */
import { HansardError, isHansardError, messageOf } from '../errors.ts'
import type { DamageKind } from '../transcript/damage.ts'
import type { RowOptions, SourceDatabase } from '../transcript/source.ts'
import { answer } from './database-answers.ts'
import { createBounds } from './database-keys.ts'
import { readPages } from './database-pages.ts'
import { createAsker } from './database-questions.ts'
import { createTableReader, type Packing, patiently } from './database-table-reader.ts'
import { decoderFor, isOfTheBytes, listTables, quote } from './database-tables.ts'
import type { Database, Statement } from './driver.ts'

/** Told of what cannot be given, and why. */
export type Reported = (kind: DamageKind, reason: string) => void

export type Tables = {
  readonly sizeBytes: number
  /** False once the bytes changed under a reader that holds no lock. */
  readonly whole: () => boolean
  readonly report: Reported
  readonly closed: () => Promise<void>
}

/** Throws what SQLite throws when the first page or the schema cannot be read. */
export function readTables(opened: Database, { sizeBytes, whole, report, closed }: Tables): SourceDatabase {
  const database = { ...opened, prepare: rememberStatements(opened) }
  for (const pragma of PRAGMAS) database.exec(`PRAGMA ${pragma}`)
  const decode = decoderFor(database)
  const tables = listTables(database, decode, (reason) => report('not-an-entry', reason))
  const ask = createAsker(database, createBounds(sizeBytes, '').maxRows)
  const packing: Packing = new Map()
  return {
    tables: () => [...tables.keys()].sort(),
    columns: (table) => tables.get(table)?.columns ?? [],
    key: (table) => tables.get(table)?.unique ?? [],
    async *rows(name, options = {}) {
      const table = tables.get(name)
      if (table === undefined) return
      const bounds = createBounds(sizeBytes, name)
      const columns = table.columns.filter((column) => options.columns?.includes(column) ?? true)
      const reader = createTableReader(database, {
        name,
        table,
        columns,
        decode,
        bounds,
        packing,
        report,
        large: options.large,
      })
      try {
        if (isPlain(options)) for await (const batch of readPages(reader)) yield checked(batch, whole)
        else {
          for (const question of ask(table, name, options))
            for await (const batch of answer(reader, question)) yield checked(batch, whole)
        }
      } catch (error) {
        if (!isOfTheBytes(error)) throw error
        report('missing', `rows of the table ${name} are missing: ${reasonOf(error)}`)
      }
    },
    async count(name) {
      if (!tables.has(name)) return 0
      // Pages that point in circles are counted to an end too.
      const { maxRows } = createBounds(sizeBytes, name)
      const sql = `SELECT count(*) FROM (SELECT 1 FROM ${quote(name)} LIMIT ${maxRows + 1})`
      try {
        return Number((await patiently(() => database.prepare(sql).lists()))[0]?.[0])
      } catch (error) {
        if (!isOfTheBytes(error)) throw error
        return Number.NaN
      }
    },
    async last(name) {
      const table = tables.get(name)
      const [number] = table?.key ?? []
      if (table === undefined || number === undefined || table.columns.includes(number)) return undefined
      try {
        const sql = `SELECT max(${number}) FROM ${quote(name)}`
        const last = (await patiently(() => database.prepare(sql).lists()))[0]?.[0]
        return last === null ? 0 : typeof last === 'number' ? last : undefined
      } catch (error) {
        if (!isOfTheBytes(error)) throw error
        return undefined
      }
    },
    async close() {
      database.close()
      await closed()
    },
  }
}

/** 8 MB of pages: neighbours in an index lie far apart in the table. */
const PRAGMAS = [
  'trusted_schema = OFF',
  'query_only = ON',
  'cell_size_check = ON',
  'mmap_size = 0',
  'cache_size = -8000',
]

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

function isPlain({ orderBy, where, since }: RowOptions): boolean {
  return where === undefined && since === undefined && (orderBy === undefined || orderBy.length === 0)
}

function checked<T>(batch: T, whole: () => boolean): T {
  if (!whole()) throw new HansardError('io', 'it was written to while it was read')
  return batch
}

function reasonOf(error: unknown): string {
  return messageOf(isHansardError(error) && error.cause !== undefined ? error.cause : error)
}
