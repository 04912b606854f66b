/** Stretches of time in which calls are compared: those of our own recordings, and of sessions that were read since. */
import { JOURNAL } from '../journal/format-id.ts'
import type { Database } from '../sqlite/driver.ts'
import { asString } from '../transcript/json.ts'
import { SAME_CALL_MS } from '../transcript/same-calls.ts'
import type { Row } from '../transcript/source.ts'
import { prepared } from './state-statements.ts'

/** Milliseconds since 1970, both included. */
export type Stretch = { readonly from: number; readonly to: number }

/** `key`: the session that it is listed under. */
export type OwnRecording = Stretch & {
  readonly reading: number
  readonly id: string
  readonly key: string
  /** Its client did not say which conversation it is. */
  readonly isNameless: boolean
  readonly agent: string | undefined
}

const ENDED = `coalesce(ended_at, json_extract(work, '$.lastAt'), started_at)`

export function ownRecordings(database: Database): readonly OwnRecording[] {
  const rows = prepared(
    database,
    `SELECT recordings.reading, recordings.id, session, started_at, ${ENDED} AS ended_at, json_extract(facts, '$.agent') AS agent,
       json_extract(facts, '$.native') IS NULL AS nameless
       FROM recordings JOIN units ON units.reading = recordings.reading
       WHERE recordings.format = '${JOURNAL}' AND started_at IS NOT NULL`,
  ).all()
  return rows.flatMap((row): readonly OwnRecording[] => {
    const stretch = toStretch(row)
    if (stretch === undefined) return []
    const { reading, id, session, agent, nameless } = row
    const isNameless = nameless === 1
    return [
      {
        ...stretch,
        reading: Number(reading),
        id: String(id),
        key: String(session),
        isNameless,
        agent: asString(agent),
      },
    ]
  })
}

/** When the sessions were that any pass since then is of. */
export function changedSince(database: Database, reading: number): readonly Stretch[] {
  const rows = prepared(
    database,
    `SELECT min(started_at) AS started_at, max(${ENDED}) AS ended_at FROM recordings
       WHERE reading IN (SELECT reading FROM units WHERE reading > ?1 UNION SELECT reading FROM units WHERE extended > ?1)
       GROUP BY reading`,
  ).all(reading)
  return rows.flatMap((row) => toStretch(row) ?? [])
}

export const overlap = (one: Stretch, other: Stretch): boolean => one.from <= other.to && other.from <= one.to

/** Those that overlap as one, in order. */
export function joinStretches(stretches: readonly Stretch[]): readonly Stretch[] {
  const joined: { from: number; to: number }[] = []
  for (const { from, to } of stretches.toSorted((a, b) => a.from - b.from)) {
    const last = joined.at(-1)
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to)
    else joined.push({ from, to })
  }
  return joined
}

function toStretch({ started_at, ended_at }: Row): Stretch | undefined {
  const [from, to] = [Date.parse(String(started_at)), Date.parse(String(ended_at))]
  if (Number.isNaN(from)) return undefined
  return { from: from - SAME_CALL_MS, to: Math.max(from, Number.isNaN(to) ? from : to) + SAME_CALL_MS }
}
