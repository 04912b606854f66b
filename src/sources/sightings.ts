/** Calls as they are compared: those of our own recordings, those that agents logged at the time, and answers that a replay gave. */
import type { Replayed } from '../archive/replayed.ts'
import { JOURNAL } from '../journal/format-id.ts'
import type { Database } from '../sqlite/driver.ts'
import { asString } from '../transcript/json.ts'
import type { Sighting } from '../transcript/same-calls.ts'
import type { Row } from '../transcript/source.ts'
import { unpackReadings } from './state-packed-calls.ts'
import { prepared } from './state-statements.ts'
import type { OwnRecording, Stretch } from './stretches.ts'

/** `reading`: of the recording; absent for an answer of a replay. `isMain`: the main agent made it. */
export type Seen = Sighting & { readonly reading?: number; readonly isMain: boolean }
/** `sessions`: the keys of those that mention it, the first to start before the others. */
export type Logged = Sighting & { readonly sessions: readonly string[] }

const CALL = `calls.key, calls.model, calls.at, calls.tools, calls.source, calls.session, calls.reading,
  ifnull(input, 0) || ' ' || ifnull(cache_read, 0) || ' ' || (ifnull(cache_write_5m, 0) + ifnull(cache_write_1h, 0)) || ' ' || ifnull(output, 0) AS counts,
  json_extract(recordings.facts, '$.agent') AS agent`
const COUNTED =
  'calls.key IS NOT NULL AND coalesce(input, cache_read, cache_write_5m, cache_write_1h, output) IS NOT NULL'
const OF_THESE = `FROM json_each(?1) AS asked CROSS JOIN calls ON calls.reading = asked.value
  JOIN recordings ON recordings.reading = calls.reading AND recordings.session = calls.session WHERE ${COUNTED}`

export function readSeen(database: Database, own: readonly OwnRecording[]): readonly Seen[] {
  const readings = own.map(({ reading }) => reading)
  unpackReadings(database, readings)
  const rows = prepared(database, `SELECT ${CALL} ${OF_THESE}`).all(JSON.stringify(readings))
  return onePerKey(rows).flatMap((row) => {
    const sighting = toSighting(row)
    return sighting === undefined
      ? []
      : { ...sighting, reading: Number(row['reading']), isMain: row['source'] === 'primary' }
  })
}

export function readLogged(database: Database, { from, to }: Stretch): readonly Logged[] {
  const [first, last] = [from, to].map((at) => new Date(at).toISOString())
  const readings = prepared(
    database,
    `SELECT DISTINCT recordings.reading AS reading FROM recordings JOIN units ON units.reading = recordings.reading
       WHERE (ended_at >= ?1 OR ended_at IS NULL) AND started_at <= ?2 AND recordings.format <> '${JOURNAL}'`,
  )
    .all(first ?? '', last ?? '')
    .map(({ reading }) => Number(reading))
  unpackReadings(database, readings)
  const rows = prepared(
    database,
    `SELECT ${CALL} ${OF_THESE} AND at BETWEEN ?2 AND ?3 ORDER BY recordings.started_at, calls.session`,
  ).all(JSON.stringify(readings), first ?? '', last ?? '')
  const sessions = new Map<string, string[]>()
  for (const { key, session } of rows)
    sessions.set(String(key), [...(sessions.get(String(key)) ?? []), String(session)])
  return onePerKey(rows).flatMap((row) => {
    const sighting = toSighting(row)
    return sighting === undefined ? [] : { ...sighting, sessions: sessions.get(sighting.key) ?? [] }
  })
}

/** What was answered is what was recorded: the counts are those of the call that it comes from. */
export function readReplayed(database: Database, replays: readonly Replayed[]): readonly Seen[] {
  const keys = JSON.stringify(replays.map(({ call }) => call))
  const readings = prepared(
    database,
    `SELECT DISTINCT recordings.reading AS reading FROM json_each(?) AS asked JOIN recordings ON recordings.id = asked.value
       JOIN units ON units.reading = recordings.reading`,
  ).all(JSON.stringify([...new Set(replays.map(({ session }) => session))]))
  unpackReadings(
    database,
    readings.map(({ reading }) => Number(reading)),
  )
  const rows = prepared(
    database,
    `SELECT ${CALL} FROM calls JOIN recordings ON recordings.reading = calls.reading AND recordings.session = calls.session
       WHERE ${COUNTED} AND calls.key IN (SELECT value FROM json_each(?))`,
  ).all(keys)
  const recorded = new Map(onePerKey(rows).map((row) => [String(row['key']), row]))
  return replays.flatMap(({ call, at }, nth) => {
    const row = recorded.get(call)
    const sighting = row && toSighting({ ...row, at: new Date(at).toISOString(), agent: null })
    return sighting === undefined ? [] : { ...sighting, key: `${call} ${nth}`, isMain: false }
  })
}

/** Several recordings may mention a call. */
function onePerKey(rows: readonly Row[]): readonly Row[] {
  const first = new Map<string, Row>()
  for (const row of rows) if (!first.has(String(row['key']))) first.set(String(row['key']), row)
  return [...first.values()]
}

function toSighting({ key, counts, model, tools, agent, at }: Row): Sighting | undefined {
  const time = Date.parse(String(at))
  if (Number.isNaN(time)) return undefined
  return {
    key: String(key),
    counts: String(counts),
    model: asString(model),
    tools: asString(tools) ?? '',
    agent: asString(agent),
    at: time,
  }
}
