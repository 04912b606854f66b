/**
 * Finds the calls that we saw ourselves (by proxy or wrapper, or as answers of a replay) among those that agents logged under names of their
 * own, and puts a recording into the session that its agent logged. Done anew for each stretch of time in which anything has changed, from
 * all that is known of it: the order of syncs decides nothing.
 */
import type { Replayed } from '../archive/replayed.ts'
import type { Database } from '../sqlite/driver.ts'
import { asNumber, asObject, asString, parseJson } from '../transcript/json.ts'
import { matchCalls, SAME_CALL_MS } from '../transcript/same-calls.ts'
import { joinRecordings } from './join-recordings.ts'
import { readLogged, readReplayed, readSeen, type Logged, type Seen } from './sightings.ts'
import { lastReading } from './reading-numbers.ts'
import { prepared } from './state-statements.ts'
import {
  changedSince,
  joinStretches,
  overlap,
  ownRecordings,
  type OwnRecording,
  type Stretch,
} from './stretches.ts'

export function matchSeenCalls(database: Database, replays: readonly Replayed[]): void {
  const last = lastMatched(database)
  if (last.reading === lastReading(database) && last.replays === replays.length) return
  const own = ownRecordings(database)
  const answered = replays.map(({ at }) => ({ from: at - SAME_CALL_MS, to: at + SAME_CALL_MS }))
  const changed = own.length + replays.length === 0 ? [] : changedSince(database, last.reading)
  const renewed = changed.length === 0 ? NONE : renewedSince(database, last.reading, replays)
  const isFresh = (nth: number): boolean => nth >= last.replays || renewed.has(replays[nth]?.call)
  const fresh = [...changed, ...answered.filter((_, nth) => isFresh(nth))]
  for (const stretch of joinStretches([...own, ...answered]))
    if (fresh.some((one) => overlap(stretch, one))) {
      const within = own.filter((one) => overlap(stretch, one))
      const given = replays.filter(({ at }) => at >= stretch.from && at <= stretch.to)
      database.transaction(() => matchWithin(database, stretch, within, given))
    }
  const said = JSON.stringify({ reading: lastReading(database), replays: replays.length })
  prepared(database, `INSERT OR REPLACE INTO facts (name, value) VALUES ('same', ?)`).run(said)
}

const NONE: ReadonlySet<unknown> = new Set()

/** Recorded calls that a pass since then says more of: what a replay gave of them may be found by it. */
function renewedSince(
  database: Database,
  reading: number,
  replays: readonly Replayed[],
): ReadonlySet<unknown> {
  const rows = prepared(
    database,
    `SELECT DISTINCT calls.key FROM json_each(?2) AS asked CROSS JOIN calls ON calls.key = asked.value
       JOIN units ON units.reading = calls.reading WHERE units.reading > ?1 OR units.extended > ?1`,
  ).lists(reading, JSON.stringify(replays.map(({ call }) => call)))
  return new Set(rows.flat())
}

function matchWithin(
  database: Database,
  stretch: Stretch,
  own: readonly OwnRecording[],
  replays: readonly Replayed[],
): void {
  const logged = readLogged(database, stretch)
  const seen = readSeen(database, own)
  // Where the log goes by the provider's id, there is nothing to find.
  const byId = new Set(replays.map(({ call }) => call))
  const known = new Set(logged.map(({ key }) => key))
  for (const { key } of seen) if (known.has(key)) byId.add(key)
  const isOpen = ({ key }: Seen | Logged): boolean => !byId.has(key)
  const pairs = matchCalls<Seen, Logged>(
    [...seen.filter(isOpen), ...readReplayed(database, replays)],
    logged.filter(isOpen),
  )
  const logs = new Map(seen.filter((call) => !isOpen(call)).map(({ key }) => [key, key]))
  const replayed: string[] = []
  for (const [{ key, reading }, log] of pairs) {
    if (reading === undefined) replayed.push(log.key)
    else logs.set(key, log.key)
  }
  const sessions = joinRecordings(database, own, { seen, logged, logs })

  const paired = new Set<Seen | Logged>(pairs.flat())
  const left = (call: Seen | Logged): boolean => isOpen(call) && !paired.has(call)
  const ours = seen.filter(left).map((call) => ({ ...call, session: sessions.get(call.reading ?? 0) }))
  const theirs = logged.filter(left).map((call) => ({ ...call, session: call.sessions[0] }))
  const lone = [
    ...ours.filter((call) => isLone(call, theirs)),
    ...theirs.filter((call) => isLone(call, ours)),
  ]
  write(
    database,
    [...seen, ...logged].map(({ key }) => key),
    [
      ...lone.map(({ key }): SameCall => [key, key, 0]),
      ...[...logs].filter(([key, log]) => key !== log).map(([key, log]): SameCall => [key, log, 0]),
      ...replayed.map((key): SameCall => [key, key, 1]),
    ],
  )
}

type Left = { readonly session: string | undefined; readonly at: number }

/**
 * Whether only one source of a session saw a call, for certain: none is near that only the other saw, which could be the same with counts
 * that the two do not agree on. Of those that are near, the recording that speaks for the session counts its own.
 */
function isLone(call: Left, others: readonly Left[]): boolean {
  return others.every(({ session, at }) => session !== call.session || Math.abs(at - call.at) > SAME_CALL_MS)
}

type SameCall = readonly [key: string, same: string, replayed: number]

/** `keys`: all that anything may have been found of before. What is found is billed anew: its rows may be those of another pass. */
function write(database: Database, keys: readonly string[], found: readonly SameCall[]): void {
  const all = JSON.stringify(keys)
  const question = prepared(
    database,
    `INSERT OR IGNORE INTO stale_calls SELECT key FROM same_calls WHERE key IN (SELECT value FROM json_each(?1))
       UNION SELECT same FROM same_calls WHERE key IN (SELECT value FROM json_each(?1))`,
  )
  question.run(all)
  prepared(database, 'DELETE FROM same_calls WHERE key IN (SELECT value FROM json_each(?))').run(all)
  const insert = prepared(
    database,
    'INSERT OR REPLACE INTO same_calls (key, same, replayed) VALUES (?, ?, ?)',
  )
  for (const row of found) insert.run(...row)
  question.run(all)
}

function lastMatched(database: Database): { readonly reading: number; readonly replays: number } {
  const row = prepared(database, `SELECT value FROM facts WHERE name = 'same'`).get()
  const said = asObject(parseJson(asString(row?.['value']) ?? ''))
  return { reading: asNumber(said?.['reading']) ?? 0, replays: asNumber(said?.['replays']) ?? 0 }
}
