/**
 * The calls of a pass as rows. What the pass before said word for word is handed on instead of written: of a log that grew by a line,
 * all but the last, and their keys lie anywhere in an index of gigabytes of logs.
 */
import type { Database } from '../sqlite/driver.ts'
import { CALL_COLUMNS, hasCount, KEY, PROVIDER, SESSION, type CallRow } from './call-rows.ts'
import { prepared } from './state-statements.ts'

const COLUMNS = CALL_COLUMNS.join(', ')
const PLACES = CALL_COLUMNS.map(() => '?').join(', ')
const REPLACE = `INSERT OR REPLACE INTO calls (${COLUMNS}, reading, billed_to) VALUES (${PLACES}, ?, ?)`
const ADD_ONLY = REPLACE.replace('REPLACE', 'IGNORE')
/** Of a pass with more of them, all are written anew: comparing takes memory. */
const MOST_COMPARED = 2000

/**
 * A call may be reported again after it was settled: the last report wins, unless it counts nothing. `isBilled`: they are on their
 * session's bill at once, for nobody sees the pass before it is whole.
 */
export function insertCalls(
  database: Database,
  reading: number,
  rows: readonly CallRow[],
  isBilled = false,
): void {
  const [replace, addOnly] = [prepared(database, REPLACE), prepared(database, ADD_ONLY)]
  for (const row of rows)
    (hasCount(row) ? replace : addOnly).run(...row, reading, isBilled ? (row[SESSION] ?? null) : null)
}

/** All calls of a pass, those that `before` said too with the rows that it wrote. What is left of it then is what it alone said. */
export function takeOverCalls(
  database: Database,
  { before, reading }: { readonly before: number; readonly reading: number },
  rows: readonly CallRow[],
): void {
  const ids = new Map<string, number[]>()
  const written = prepared(
    database,
    `SELECT id, ${COLUMNS} FROM calls WHERE reading = ? LIMIT ${MOST_COMPARED}`,
  ).lists(before)
  if (written.length < MOST_COMPARED) {
    for (const [id, ...values] of written) {
      const words = JSON.stringify(values)
      ids.set(words, [...(ids.get(words) ?? []), Number(id)])
    }
  }
  const same: number[] = []
  const others = lastReports(rows).filter((row) => {
    const id = ids.get(JSON.stringify(row))?.pop()
    if (id !== undefined) same.push(id)
    return id === undefined
  })
  prepared(database, 'UPDATE calls SET reading = ? WHERE id IN (SELECT value FROM json_each(?))').run(
    reading,
    JSON.stringify(same),
  )
  insertCalls(database, reading, others)
}

/** What a pass says of the calls of a session, in place of what it said before. Those that are as they were keep their rows. */
export function replaceSaid(
  database: Database,
  { reading, session }: { readonly reading: number; readonly session: string },
  rows: readonly CallRow[],
): void {
  const ids = new Map<string, number[]>()
  const written = prepared(database, `SELECT id, ${COLUMNS} FROM calls WHERE reading = ? AND session = ?`)
  for (const [id, ...values] of written.lists(reading, session)) {
    const words = JSON.stringify(values)
    ids.set(words, [...(ids.get(words) ?? []), Number(id)])
  }
  const others = lastReports(rows).filter((row) => ids.get(JSON.stringify(row))?.pop() === undefined)
  const remove = prepared(database, 'DELETE FROM calls WHERE id = ?')
  for (const gone of ids.values()) for (const id of gone) remove.run(id)
  insertCalls(database, reading, others, true)
}

/** As rows that take each other's place would be. Without a key, no call is another's report. */
export function lastReports(rows: readonly CallRow[]): readonly CallRow[] {
  const last = new Map<unknown, CallRow>()
  for (const row of rows) {
    const name = row[KEY] === null ? row : JSON.stringify([row[SESSION], row[KEY], row[PROVIDER]])
    if (hasCount(row) || !last.has(name)) last.set(name, row)
  }
  return [...last.values()]
}
