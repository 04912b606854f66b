/** Which recordings of a session count, and which one speaks for it. */
import type { Database } from '../sqlite/driver.ts'
import { bestRecording } from '../transcript/billing.ts'
import type { Row } from '../transcript/source.ts'
import { prepared } from './state-statements.ts'
import { IS_COUNTED, toUsage, USAGE_SUMS } from './state-usage.ts'

/** Marks of a recording: just read, not counted, counted, and the one that speaks for the session. */
export const UNSETTLED = -1
export const NOT_CHOSEN = 0
const CHOSEN = 1
export const FULLEST = 2

/** What the last passes over their units say of a session. */
export const LAST = `FROM recordings JOIN units ON units.reading = recordings.reading JOIN places ON places.id = units.place
  WHERE recordings.session = ?1`

/**
 * Of a session that several formats recorded, one speaks: its counts are never added to another's. Recordings in that format add up
 * call by call; what names no call is taken from the fullest of them. True when its calls have to be billed anew. There may be any number
 * of them: none is held.
 */
export function chooseRecordings(database: Database, session: string): boolean {
  const [one, other] = prepared(database, `SELECT recordings.reading, chosen ${LAST} LIMIT 2`).all(session)
  if (one === undefined) return false
  if (other === undefined) return chooseOnly(database, session, one)
  const formats = prepared(
    database,
    `SELECT recordings.format AS format, max(entries) AS entries ${LAST} GROUP BY recordings.format`,
  ).all(session)
  const best = bestRecording(
    formats.map(({ format, entries }) => totalsOf(database, session, String(format), Number(entries))),
  )
  // Of equals the first by where it lies: the order of syncs decides nothing.
  const fullest = prepared(
    database,
    `SELECT recordings.reading ${LAST} AND recordings.format = ?2 ORDER BY entries DESC, places.root, units.path LIMIT 1`,
  ).get(session, best?.by ?? '')
  const reading = Number(fullest?.['reading'])
  prepared(database, CHOOSE).run(session, reading, best?.by ?? '')
  prepared(database, BILL_NAMELESS).run(session, reading)
  return true
}

const IS_LAST = 'EXISTS (SELECT 1 FROM units WHERE units.reading = recordings.reading)'
const MARK = `CASE WHEN reading = ?2 THEN ${FULLEST} WHEN format = ?3 THEN ${CHOSEN} ELSE ${NOT_CHOSEN} END`
const CHOOSE = `UPDATE recordings SET chosen = ${MARK} WHERE session = ?1 AND chosen <> ${MARK} AND ${IS_LAST}`
const PAYER = 'CASE WHEN reading = ?2 THEN ?1 END'
const BILL_NAMELESS = `UPDATE calls SET billed_to = ${PAYER} WHERE session = ?1 AND key IS NULL AND billed_to IS NOT ${PAYER}
  AND reading IN (SELECT reading FROM recordings WHERE session = ?1 AND ${IS_LAST})`

function chooseOnly(database: Database, session: string, only: Row): boolean {
  const [reading, chosen] = [Number(only['reading']), Number(only['chosen'])]
  if (chosen === FULLEST) return false
  prepared(database, 'UPDATE recordings SET chosen = ? WHERE reading = ? AND session = ?').run(
    FULLEST,
    reading,
    session,
  )
  if (chosen === UNSETTLED) return false
  // Another one spoke for the session, and is gone.
  prepared(database, BILL_NAMELESS).run(session, reading)
  return true
}

/** Copies of one recording have no more calls than one of them: a call with a name is counted once, and others as the fullest has them. */
function totalsOf(database: Database, session: string, by: string, entries: number) {
  const own = `FROM calls WHERE session = ?1
    AND reading IN (SELECT reading FROM recordings WHERE session = ?1 AND format = ?2 AND ${IS_LAST})`
  const row = prepared(
    database,
    `SELECT ${USAGE_SUMS}, count(DISTINCT CASE WHEN ${IS_COUNTED} THEN key END) AS named,
       (SELECT max(count) FROM (SELECT count(*) AS count ${own} AND key IS NULL AND ${IS_COUNTED} GROUP BY reading)) AS nameless
       ${own}`,
  ).get(session, by)
  const usage = row && toUsage(row)
  const calls = Number(row?.['named'] ?? 0) + Number(row?.['nameless'] ?? 0)
  return { by, calls, entries, ...(usage && { usage }) }
}
