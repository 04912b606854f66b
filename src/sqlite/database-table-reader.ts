/** One table as it is read: its statements, prepared once, what they may give at most, and patience with a program that is writing. */
import { setImmediate, setTimeout } from 'node:timers/promises'
import { isHansardError } from '../errors.ts'
import type { DamageKind } from '../transcript/damage.ts'
import { LONG_TEXT, type Row } from '../transcript/source.ts'
import { bytesOf, type Cells, cellsOf } from './database-cells.ts'
import { type Bounds, type Key, type Keys, keysOf, MAX_ROW_BYTES } from './database-keys.ts'
import { createLongRows } from './database-long.ts'
import { MAX_PACKED, packedCells } from './database-packed.ts'
import { type Decode, quote, type Table } from './database-tables.ts'
import type { Database, Statement } from './driver.ts'

/** Rows in memory at a time. */
export const BATCH_BYTES = 4 * 1024 * 1024

export type TableReader = {
  readonly name: string
  readonly keys: Keys
  readonly columns: readonly string[]
  readonly bounds: Bounds
  /** How rows that come with others are best asked for now, and those that come alone. */
  readonly small: () => Cells
  readonly whole: Cells
  /** Told how many rows came, and how many of them had to be asked for alone. */
  readonly came: (rows: number, alone: number) => void
  readonly prepare: (sql: string) => Statement
  /** The one row, however large; undefined when it is gone, or over what a row may be, which is told. */
  readonly single: (key: Key) => Promise<Found | undefined>
  readonly notText: () => void
}

type Found = { readonly row: Row; readonly bytes: number }

export type TableOptions = {
  readonly name: string
  readonly table: Table
  /** Those that are asked for. */
  readonly columns: readonly string[]
  readonly decode: Decode
  readonly bounds: Bounds
  /** What is known of the tables of this database. */
  readonly packing: Packing
  readonly report: (kind: DamageKind, reason: string) => void
  /** Asked before a row of more than a MB is read. */
  readonly large?: ((bytes: number) => Promise<void>) | undefined
}

/** By table: rows that came, and those of them that had to be asked for alone. */
export type Packing = Map<string, { rows: number; alone: number }>

export function createTableReader(
  database: Database,
  { name, table, columns, decode, bounds, packing, report, large }: TableOptions,
): TableReader {
  const keys = keysOf(table)
  const whole = cellsOf(columns, decode, { evenLarge: true })
  const plain = cellsOf(columns, decode)
  const packed = decode.isUtf8 && columns.length <= MAX_PACKED ? packedCells(columns, decode) : undefined
  const known = packing.get(name) ?? { rows: 0, alone: 0 }
  packing.set(name, known)
  const bytes = bytesOf(columns)
  const notText = (): void => report('not-utf8', `text in the table ${name} is not text`)
  const byKey = `FROM ${quote(name)} AS t WHERE (${keys.columns.join(', ')}) IS (${keys.bound}) LIMIT 1`
  const long = createLongRows(database, { columns, unique: table.unique, decode, byKey })
  const tooLarge = (key: Key, size: number): void =>
    report(
      'too-large',
      `a row of the table ${name} is ${size} bytes, over ${MAX_ROW_BYTES}: ${long.nameOf(key)}`,
    )
  return {
    name,
    keys,
    columns,
    bounds,
    small: () => (packed !== undefined && known.alone * 8 <= known.rows ? packed : plain),
    whole,
    came(rows, alone) {
      known.rows += rows
      known.alone += alone
    },
    prepare: (sql) => database.prepare(sql),
    async single(key) {
      const [size] = await patiently(() => database.prepare(`SELECT ${bytes} ${byKey}`).lists(...key))
      const found = Number(size?.[0] ?? 0)
      if (size === undefined) return undefined
      if (found > MAX_ROW_BYTES) {
        await patiently(() => tooLarge(key, found))
        return undefined
      }
      if (found > LONG_TEXT) {
        await large?.(found)
        const row = await patiently(() => long.read(key, notText))
        return row && { row, bytes: found }
      }
      const [raw] = await patiently(() => database.prepare(`SELECT ${whole.sql} ${byKey}`).lists(...key))
      const row = raw && whole.toRow(raw, 0, notText)
      return row && { row, bytes: found }
    },
    notText,
  }
}

/** A program that writes to a database without a log locks it for moments: they are waited for, while other things go on. */
export async function patiently<T>(work: () => T): Promise<T> {
  asked += 1
  if (asked % ASKED_IN_A_TURN === 0) await setImmediate()
  for (let attempt = 1; ; attempt += 1) {
    try {
      return work()
    } catch (error) {
      if (attempt === PATIENCE || !isHansardError(error) || error.code !== 'locked') throw error
      await setTimeout(attempt * 20)
    }
  }
}

/**
 * What an engine holds for a statement that was answered is let go of only between turns of the event loop. Without one, reading a
 * large database holds 100 MB more; and a server that reads one still answers.
 */
const ASKED_IN_A_TURN = 16
let asked = 0

/** About two seconds, and as long again inside SQLite. */
const PATIENCE = 10
