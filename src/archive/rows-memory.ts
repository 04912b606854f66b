/**
 * What an export left of a database that is followed: what every kept row was, and how far its tables had come. The next one then asks
 * for what was written since, instead of for all. In memory alone, and only believed while the file of kept rows is as it was left.
 */
import type { RowsKept } from '../formats/format.ts'
import type { Files } from '../journal/files.ts'
import type { RowOptions, SourceDatabase } from '../transcript/source.ts'
import { columnsLine } from './kept-row-lines.ts'
import { tailOf } from './rows-appender.ts'
import type { RowHashes } from './row-hashes.ts'

export type Left = {
  readonly hashes: RowHashes
  /** The lines that declare columns, by table. */
  readonly declared: Map<string, string>
  readonly marks: ReadonlyMap<string, Mark>
  readonly bytes: number
  readonly tail: string
  /**
   * When the export began, the last one that asked for all rows, and the first after that which did not. In milliseconds since 1970.
   */
  readonly beganAt: number
  readonly wholeAt: number
  readonly someSince: number | undefined
}

/** How far a table had come: the highest number of its rows before they were read, and the highest time of a change. */
export type Mark = { readonly number: number; readonly changedAt: number }

/** Of one database. */
export type RowsMemory = {
  /** Nothing is left until it is left again. Undefined where all is to be read. */
  take(files: Files, path: string): Left | undefined
  leave(left: Left): void
  hasLeft(): boolean
  /** True when all rows are asked for again, though somebody waits: some program may not write down when it changes one. */
  isDue(left: Left): boolean
  /** True when all rows should be looked at as soon as nobody waits: some were asked for since, and the last time is a while ago. */
  mayLook(): boolean
  close(): void
}

/** Between looks at all rows, while there is time for one after each change. */
const LOOK_MS = 60_000
/** When a program writes for so long without a rest, all rows are asked for in between. */
const DUE_MS = 5 * 60_000
/** Clocks are put right while programs run: rows of so long before are asked for once more. */
const MARGIN_MS = 2 * 60_000
/** Of a table that does not say when its rows were changed, all are asked for, if they are no more. */
const FEW_ROWS = 5000

export function createRowsMemory({ dueMs = DUE_MS, lookMs = LOOK_MS } = {}): RowsMemory {
  let left: Left | undefined
  return {
    take(files, path) {
      const taken = left
      left = undefined
      if (taken === undefined) return undefined
      if (files.identityAt(path)?.size === taken.bytes && tailOf(files, path) === taken.tail) return taken
      taken.hashes.close()
      return undefined
    },
    leave(now) {
      left = now
    },
    hasLeft: () => left !== undefined,
    isDue({ someSince, beganAt }) {
      const now = Date.now()
      // After a rest there is time for a look at all of them right behind.
      return someSince !== undefined && now - someSince >= dueMs && now - beganAt < lookMs
    },
    mayLook: () => left?.someSince !== undefined && Math.abs(Date.now() - left.wholeAt) >= lookMs,
    close() {
      left?.hashes.close()
      left = undefined
    },
  }
}

export type RowsMemories = {
  /** That of a database, by any name that it has alone. */
  of(name: string): RowsMemory
  has(name: string): boolean
  forget(name: string): void
}

/** Of a million and a half rows 50 MB are held. */
const MOST_MEMORIES = 2

export function createRowsMemories(most: number = MOST_MEMORIES): RowsMemories {
  /** The one that was asked for last is the last. */
  const all = new Map<string, RowsMemory>()
  const forget = (name: string): void => {
    all.get(name)?.close()
    all.delete(name)
  }
  return {
    of(name) {
      const memory = all.get(name) ?? createRowsMemory()
      all.delete(name)
      all.set(name, memory)
      for (const oldest of all.keys()) if (all.size > most) forget(oldest)
      return memory
    },
    has: (name) => all.has(name),
    forget,
  }
}

export type Asked = ReadonlyMap<string, RowOptions>

/** By table, how to ask for what was written since. Undefined where that cannot be told from what the tables say. */
export async function askSince(
  database: SourceDatabase,
  rows: readonly RowsKept[],
  { declared, marks, beganAt }: Left,
): Promise<Asked | undefined> {
  const asked = new Map<string, RowOptions>()
  const tables = new Set(database.tables())
  for (const { table, where, changedAt, isAppended } of rows) {
    if (!tables.has(table)) continue
    const [columns, key, mark] = [database.columns(table), database.key(table), marks.get(table)]
    const isSame = declared.get(table) === columnsLine({ table, columns, key })
    if (!isSame || key.length === 0 || mark === undefined || where !== undefined) return undefined
    const last = await database.last?.(table)
    // Fewer than before: rows may have been dealt other numbers.
    if (last === undefined || last < mark.number) return undefined
    const { number } = mark
    if (changedAt !== undefined && columns.includes(changedAt)) {
      // A time that is still to come, by a clock that was wrong, must not hide all that come before it.
      const least = Math.max(0, Math.min(mark.changedAt, beganAt) - MARGIN_MS)
      asked.set(table, { since: { number, changed: { column: changedAt, least } } })
    } else if (isAppended === true) asked.set(table, { since: { number } })
    else if (((await database.count?.(table)) ?? Number.NaN) <= FEW_ROWS) asked.set(table, {})
    else return undefined
  }
  return asked
}
