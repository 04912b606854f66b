/**
 * What was read on of a unit, put to what its last whole pass wrote: a few rows, whatever the unit's size, in one step. Its number stays
 * that of the pass; `extended` says that there is more of it.
 */
import type { Database } from '../sqlite/driver.ts'
import type { Row, SqlValue } from '../transcript/source.ts'
import { CALL_COLUMNS, hasCount, KEY, SESSION, toCallRow, type CallRow } from './call-rows.ts'
import type { Added, Counted } from './followed-units.ts'
import type { Mention } from './session-facts.ts'
import { insertCalls, replaceSaid } from './state-calls.ts'
import { questionListing } from './state-listing.ts'
import { insertMentions } from './state-mentions.ts'
import { nextReading } from './reading-numbers.ts'
import { insertDrift, lastSaid } from './state-readings.ts'
import { insertRecording } from './state-recordings.ts'
import { recordedOnce } from './state-recorded.ts'
import { refreshOwn } from './state-sessions.ts'
import { UNSETTLED } from './state-speakers.ts'
import { prepared } from './state-statements.ts'
import { bornOf } from './state.ts'
import type { KnownUnit } from './state-units.ts'

/** `extended`: the unit's from now on. */
export type Extended = { readonly entries: number; readonly damage: number; readonly extended: number }

/** How many entries and damaged records there are more. Undefined, and nothing is written, where the pass is not of the same session. */
export function extendReading(
  database: Database,
  unit: Pick<KnownUnit, 'id' | 'path' | 'reading' | 'format'>,
  root: string,
  added: Added,
): Extended | undefined {
  const { id, path, reading, format } = unit
  const { facts, bill, isAnew = false } = added
  if (reading === undefined || format === undefined) return undefined
  return database.transaction(() => {
    if (!isOf(database, reading, added)) return undefined
    const { damage } = lastSaid(database, id)
    const calls = callsBySession(added)
    let entries = 0
    if (isAnew) prepared(database, 'DELETE FROM drift WHERE reading = ?').run(reading)
    insertDrift(database, reading, facts.drift)
    putMentions(database, reading, facts.mentions, isAnew)
    for (const one of facts.sessions) {
      const known = recordingOf(database, reading, one.key)
      const rows = calls.get(one.key) ?? []
      if (isAnew) replaceCalls(database, reading, one.key, rows)
      else for (const row of rows) putCall(database, reading, row)
      const isShared = isAnew || questionShared(database, reading, rows)
      prepared(database, 'DELETE FROM recordings WHERE reading = ? AND session = ?').run(reading, one.key)
      const place = { reading, format: String(known?.['format'] ?? format), file: path, root }
      const recording = insertRecording(database, place, one, Number(known?.['chosen'] ?? UNSETTLED))
      const own = { key: one.key, session: one.session, recorded: recordedOnce(recording, one.work) }
      questionListing(database, one.key)
      const isOwn = bill !== undefined && !isShared && isOnly(database, one.key)
      if (!isOwn || !refreshOwn(database, own, bill)) questionSession(database, one.key)
      entries += one.entries - Number(known?.['entries'] ?? 0)
    }
    const extended = nextReading(database)
    prepared(
      database,
      'UPDATE units SET extended = ?, damage = ?, dirty = 0, problem = NULL WHERE id = ?',
    ).run(extended, facts.damage, id)
    return { entries, damage: facts.damage - damage, extended }
  })
}

/** What tells one pass over a unit, with what was put to it, from any other, also of another state. */
export function passOf(
  database: Database,
  { reading, extended }: Pick<KnownUnit, 'reading' | 'extended'>,
): string {
  return `${bornOf(database)} ${reading ?? 0} ${extended ?? 0}`
}

/** Whether a pass over a unit said what was counted: the same sessions, each with as many entries, and as much damage. */
export function isAsRead(
  database: Database,
  { id, reading }: Pick<KnownUnit, 'id' | 'reading'>,
  { sessions, damage }: Counted,
): boolean {
  if (reading === undefined || !hasRows(database, reading) || sessions.length === 0) return false
  if (countRecordings(database, reading) !== sessions.length) return false
  const isSame = sessions.every(
    ({ key, entries }) => recordingOf(database, reading, key)?.['entries'] === entries,
  )
  return isSame && lastSaid(database, id).damage === damage
}

/** A log is one session, which the pass was of; of a database some are read anew, and others may have come. */
function isOf(database: Database, reading: number, { facts, isAnew }: Added): boolean {
  if (!hasRows(database, reading)) return false
  const count = countRecordings(database, reading)
  if (isAnew === true) return count > 0
  const [one, other] = facts.sessions
  if (one === undefined || other !== undefined || count !== 1) return false
  return recordingOf(database, reading, one.key) !== undefined
}

/** The calls of a pass are rows. */
function hasRows(database: Database, reading: number): boolean {
  return prepared(database, 'SELECT 1 FROM packed_calls WHERE reading = ?').get(reading) === undefined
}

function countRecordings(database: Database, reading: number): number {
  const row = prepared(database, 'SELECT count(*) AS count FROM recordings WHERE reading = ?').get(reading)
  return Number(row?.['count'])
}

function recordingOf(database: Database, reading: number, session: string): Row | undefined {
  return prepared(
    database,
    'SELECT format, chosen, entries FROM recordings WHERE reading = ? AND session = ?',
  ).get(reading, session)
}

function callsBySession({ calls }: Added): ReadonlyMap<string, readonly CallRow[]> {
  const rows = new Map<string, CallRow[]>()
  for (const call of calls) {
    const known = rows.get(call.session)
    if (known === undefined) rows.set(call.session, [toCallRow(call)])
    else known.push(toCallRow(call))
  }
  return rows
}

/** All that the pass says of the calls of a session. Who pays for those that others mention, too, is settled anew. */
function replaceCalls(database: Database, reading: number, session: string, rows: readonly CallRow[]): void {
  questionOf(database, reading, session)
  replaceSaid(database, { reading, session }, rows)
  questionOf(database, reading, session)
}

function questionOf(database: Database, reading: number, session: string): void {
  prepared(
    database,
    `INSERT OR IGNORE INTO stale_calls SELECT own.key FROM calls own WHERE own.reading = ? AND own.session = ?
       AND own.key IS NOT NULL AND EXISTS (SELECT 1 FROM calls other WHERE other.key = own.key AND other.id <> own.id)`,
  ).run(reading, session)
  prepared(
    database,
    `INSERT OR IGNORE INTO stale_sessions SELECT billed_to FROM calls
       WHERE reading = ? AND session = ? AND billed_to IS NOT NULL AND billed_to <> session`,
  ).run(reading, session)
}

const COUNTS = CALL_COLUMNS.slice(5, 11).join(', ')

/** A call is one row of its pass. What is said of one after it was let go of, and counts nothing, says less than is known. */
function putCall(database: Database, reading: number, row: CallRow): void {
  const [session, key] = [row[SESSION] as SqlValue, row[KEY] as SqlValue]
  const before =
    key === null
      ? undefined
      : prepared(
          database,
          `SELECT id, billed_to, coalesce(${COUNTS}) IS NOT NULL AS counted FROM calls
             WHERE reading = ? AND session = ? AND key = ?`,
        ).get(reading, session, key)
  if (before !== undefined) {
    if (!hasCount(row) && before['counted'] === 1) return
    const { billed_to: payer } = before
    if (typeof payer === 'string' && payer !== session) questionSession(database, payer)
    prepared(database, 'DELETE FROM calls WHERE id = ?').run(before['id'] ?? null)
  }
  insertCalls(database, reading, [row], true)
}

function questionSession(database: Database, key: string): void {
  prepared(database, 'INSERT OR IGNORE INTO stale_sessions (key) VALUES (?)').run(key)
}

/** Nothing else recorded it, and nothing of it is in question. */
function isOnly(database: Database, key: string): boolean {
  const row = prepared(
    database,
    `SELECT (SELECT count(*) FROM recordings WHERE session = ?1) AS recordings,
       EXISTS (SELECT 1 FROM stale_sessions WHERE key = ?1) AS stale`,
  ).get(key)
  return row?.['recordings'] === 1 && row['stale'] === 0
}

/** Calls that other passes mention too: who pays for them is settled anew. True when there are such. */
function questionShared(database: Database, reading: number, rows: readonly CallRow[]): boolean {
  const { changes } = prepared(
    database,
    `INSERT OR IGNORE INTO stale_calls SELECT asked.value FROM json_each(?) AS asked
       WHERE EXISTS (SELECT 1 FROM calls WHERE calls.key = asked.value AND calls.reading <> ?)`,
  ).run(JSON.stringify(rows.flatMap((row) => row[KEY] ?? [])), reading)
  return changes > 0
}

/** `isAll`: what is not said any more is gone. Else they only become more. */
function putMentions(
  database: Database,
  reading: number,
  mentions: readonly Mention[],
  isAll: boolean,
): void {
  const known = new Map(
    prepared(database, 'SELECT session, title, parent FROM mentions WHERE reading = ?')
      .all(reading)
      .map(({ session, title, parent }) => [String(session), `${String(title)}\n${String(parent)}`]),
  )
  const toWords = ({ title, parent }: Mention): string =>
    `${String(title ?? null)}\n${parent === undefined ? 'null' : JSON.stringify(parent)}`
  const others = mentions.filter((mention) => known.get(mention.session) !== toWords(mention))
  if (isAll) {
    for (const { session } of mentions) known.delete(session)
    const changed = [...known.keys(), ...others.map(({ session }) => session)]
    const remove = prepared(database, 'DELETE FROM mentions WHERE reading = ? AND session = ?')
    for (const session of changed) remove.run(reading, session)
    for (const session of known.keys()) questionSession(database, session)
  }
  insertMentions(database, reading, others)
  for (const { session } of others) questionSession(database, session)
}
