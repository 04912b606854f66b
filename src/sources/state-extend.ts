/**
 * What was read on of a unit, put to what its last whole pass wrote: a few rows, whatever the unit's size, in one step. Its number stays
 * that of the pass; `extended` says that there is more of it.
 */
import type { Database } from '../sqlite/driver.ts'
import type { Row, SqlValue } from '../transcript/source.ts'
import { CALL_COLUMNS, hasCount, KEY, SESSION, toCallRow, type CallRow } from './call-rows.ts'
import type { Added } from './followed-units.ts'
import type { Mention, UnitFacts } from './session-facts.ts'
import { insertCalls } from './state-calls.ts'
import { insertMentions } from './state-mentions.ts'
import { insertDrift, lastSaid, nextReading } from './state-readings.ts'
import { insertRecording } from './state-recordings.ts'
import { recordedOnce } from './state-recorded.ts'
import { refreshOwn } from './state-sessions.ts'
import { prepared } from './state-statements.ts'
import { bornOf } from './state.ts'
import type { KnownUnit } from './state-units.ts'

/** `extended`: the unit's from now on. */
export type Extended = { readonly entries: number; readonly damage: number; readonly extended: number }

/** How many entries and damaged records there are more. Undefined, and nothing is written, where the pass is not of the same session. */
export function extendReading(
  database: Database,
  unit: Pick<KnownUnit, 'id' | 'path' | 'reading'>,
  root: string,
  { facts, calls, bill }: Added,
): Extended | undefined {
  const { id, path, reading } = unit
  const [one, ...others] = facts.sessions
  if (reading === undefined || one === undefined || others.length > 0) return undefined
  return database.transaction(() => {
    const known = recordingOf(database, reading)
    if (known === undefined || known['session'] !== one.key) return undefined
    const { entries, damage } = lastSaid(database, id)
    const rows = calls.map(toCallRow)
    for (const row of rows) putCall(database, reading, row)
    const isShared = questionShared(database, reading, rows)
    prepared(database, 'DELETE FROM recordings WHERE reading = ?').run(reading)
    const place = { reading, format: String(known['format']), file: path, root }
    const recording = insertRecording(database, place, one, Number(known['chosen']))
    insertDrift(database, reading, facts.drift)
    putMentions(database, reading, facts.mentions)
    const own = { key: one.key, session: one.session, recorded: recordedOnce(recording, one.work) }
    const isOwn = bill !== undefined && !isShared && isOnly(database, one.key)
    if (!isOwn || !refreshOwn(database, own, bill)) questionSession(database, one.key)
    const extended = nextReading(database)
    prepared(
      database,
      'UPDATE units SET extended = ?, damage = ?, dirty = 0, problem = NULL WHERE id = ?',
    ).run(extended, facts.damage, id)
    return { entries: one.entries - entries, damage: facts.damage - damage, extended }
  })
}

/** What tells one pass over a unit, with what was put to it, from any other, also of another state. */
export function passOf(
  database: Database,
  { reading, extended }: Pick<KnownUnit, 'reading' | 'extended'>,
): string {
  return `${bornOf(database)} ${reading ?? 0} ${extended ?? 0}`
}

/** Whether a pass over a unit said what these facts say: its one session, as many of everything that it counts. */
export function isAsRead(
  database: Database,
  { id, reading }: Pick<KnownUnit, 'id' | 'reading'>,
  { sessions, damage }: UnitFacts,
): boolean {
  const known = reading === undefined ? undefined : recordingOf(database, reading)
  const [one] = sessions
  if (known === undefined || one === undefined) return false
  const { failed, errors, repeats, rereads, touched } = one.work
  const counts = [one.key, one.entries, one.toolCalls, failed, errors, repeats, rereads, touched, damage]
  return (
    JSON.stringify(counts) ===
    JSON.stringify([...COUNTED.map((name) => known[name]), lastSaid(database, id).damage])
  )
}

/** The one recording of a pass whose calls are rows. */
function recordingOf(database: Database, reading: number): Row | undefined {
  const rows = prepared(
    database,
    `SELECT session, format, chosen, entries, tool_calls, ${WORK.map((name) => `work ->> '${name}' AS ${name}`).join(', ')} FROM recordings WHERE reading = ?1
       AND NOT EXISTS (SELECT 1 FROM packed_calls WHERE reading = ?1) LIMIT 2`,
  ).all(reading)
  return rows.length === 1 ? rows[0] : undefined
}

const WORK = ['failed', 'errors', 'repeats', 'rereads', 'touched']
const COUNTED = ['session', 'entries', 'tool_calls', ...WORK]

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

/** They only become more. */
function putMentions(database: Database, reading: number, mentions: readonly Mention[]): void {
  const known = new Map(
    prepared(database, 'SELECT session, title, parent FROM mentions WHERE reading = ?')
      .all(reading)
      .map(({ session, title, parent }) => [session, `${String(title)}\n${String(parent)}`]),
  )
  const toWords = ({ title, parent }: Mention): string =>
    `${String(title ?? null)}\n${parent === undefined ? 'null' : JSON.stringify(parent)}`
  const others = mentions.filter((mention) => known.get(mention.session) !== toWords(mention))
  insertMentions(database, reading, others)
  for (const { session } of others) questionSession(database, session)
}
