/**
 * Calls that wait, packed, to be rows. What a state that is filled for the first time is asked first needs none of them: they follow when
 * it has been said that it can be asked. Until then whoever asks for single calls asks for `allCalls`.
 */
import type { Database } from '../sqlite/driver.ts'
import type { Row } from '../transcript/source.ts'
import { COPIES, insertTable, type CallsTable } from './state-load-calls.ts'
import { unpackCalls, type PackedCalls } from './packed-calls.ts'
import { prepared } from './state-statements.ts'

/** `first`: the id of the first. */
export function putPacked(
  database: Database,
  reading: number,
  first: number,
  { count, calls }: Pick<PackedCalls, 'count' | 'calls'>,
): void {
  prepared(database, 'INSERT INTO packed_calls (reading, first, count, calls) VALUES (?, ?, ?, ?)').run(
    reading,
    first,
    count,
    calls,
  )
}

export function hasPacked(database: Database): boolean {
  return prepared(database, 'SELECT 1 FROM packed_calls LIMIT 1').get() !== undefined
}

/** Passes that are made rows of in one step. */
const STEP = 100

/** All of them. In steps, each whole, so that at any time every call is there once. */
export function unpackAll(database: Database): void {
  const next = prepared(database, `SELECT reading FROM packed_calls ORDER BY reading LIMIT ${STEP}`)
  for (let some = next.lists(); some.length > 0; some = next.lists())
    database.transaction(() => some.forEach(([reading]) => unpack(database, Number(reading))))
}

/**
 * Those that bills in question may hang on, and no others. `shared`: passes with calls that are met elsewhere, too. With a session come all
 * passes that recorded it, and with a pass all its sessions.
 */
export function unpackQuestioned(database: Database, shared: ReadonlySet<number>): void {
  const sessionsOf = prepared(
    database,
    'SELECT DISTINCT session FROM recordings WHERE reading IN (SELECT value FROM json_each(?))',
  )
  const readingsOf = prepared(
    database,
    'SELECT DISTINCT reading FROM recordings WHERE session IN (SELECT value FROM json_each(?))',
  )
  const readings = new Set(shared)
  const sessions = new Set<unknown>()
  let newReadings: readonly unknown[] = [...shared]
  let newSessions: readonly unknown[] = prepared(database, 'SELECT key FROM stale_sessions').lists().flat()
  while (newReadings.length > 0 || newSessions.length > 0) {
    const found = [...newSessions, ...sessionsOf.lists(JSON.stringify(newReadings)).flat()]
    newSessions = found.filter((key) => !sessions.has(key))
    for (const key of newSessions) sessions.add(key)
    newReadings = readingsOf
      .lists(JSON.stringify(newSessions))
      .flat()
      .map(Number)
      .filter((reading) => !readings.has(reading))
    for (const reading of newReadings) readings.add(Number(reading))
    newSessions = []
  }
  database.transaction(() => {
    for (const reading of readings) unpack(database, reading)
  })
}

/** Those of these passes. */
export function unpackReadings(database: Database, readings: readonly number[]): void {
  if (hasPacked(database)) for (const reading of readings) unpack(database, reading)
}

function unpack(database: Database, reading: number): void {
  const row = prepared(
    database,
    'DELETE FROM packed_calls WHERE reading = ? RETURNING reading, first, count, calls',
  ).get(reading)
  if (row !== undefined) insertPacked(database, row)
}

function insertPacked(database: Database, row: Row, into: CallsTable = 'calls'): void {
  const table = unpackCalls({ count: Number(row['count']), calls: String(row['calls']) })
  insertTable(database, { reading: Number(row['reading']), first: Number(row['first']), into }, table)
}

/** The last pass whose calls were copied, by connection. */
const copied = new WeakMap<Database, number>()

/**
 * Makes a view of all calls, `all_calls`, for this connection alone: those that are packed are copied for it. Of a pass that is made rows
 * of meanwhile the rows count.
 */
export function copyPacked(database: Database): void {
  if (!copied.has(database)) {
    database.exec(`CREATE TEMP TABLE ${COPIES} AS SELECT * FROM calls WHERE false;
      CREATE TEMP VIEW all_calls AS SELECT * FROM main.calls
        UNION ALL SELECT * FROM temp.${COPIES} WHERE reading IN (SELECT reading FROM main.packed_calls)`)
    copied.set(database, 0)
  }
  let last = copied.get(database) ?? 0
  const next = prepared(
    database,
    `SELECT * FROM packed_calls WHERE reading > ? ORDER BY reading LIMIT ${STEP}`,
  )
  for (let some = next.all(last); some.length > 0; some = next.all(last)) {
    database.transaction(() => some.forEach((row) => insertPacked(database, row, COPIES)))
    last = Number(some.at(-1)?.['reading'])
    copied.set(database, last)
  }
}
