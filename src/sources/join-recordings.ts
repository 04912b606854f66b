/**
 * Recordings of ours whose client did not say which conversation it is: each is put into the session whose log has most of its calls, and
 * taken out of it when the log no longer has them.
 */
import type { Database } from '../sqlite/driver.ts'
import type { Logged, Seen } from './sightings.ts'
import { nextReading } from './reading-numbers.ts'
import { UNSETTLED } from './state-speakers.ts'
import { prepared } from './state-statements.ts'
import type { OwnRecording } from './stretches.ts'

type Calls = {
  readonly seen: readonly Seen[]
  readonly logged: readonly Logged[]
  /** By which name the log has a call. */
  readonly logs: ReadonlyMap<string, string>
}

/** The session of each, by its reading. */
export function joinRecordings(
  database: Database,
  own: readonly OwnRecording[],
  { seen, logged, logs }: Calls,
): ReadonlyMap<number, string> {
  const sessionOf = new Map(logged.map(({ key, sessions }) => [key, sessions[0]]))
  const byReading = new Map<number | undefined, Seen[]>()
  for (const call of seen) byReading.set(call.reading, [...(byReading.get(call.reading) ?? []), call])
  const joined = new Map<number, string>()
  for (const recording of own) {
    const { reading, id, key, isNameless } = recording
    const calls = byReading.get(reading) ?? []
    const found = isNameless ? mostOf(calls, ({ key }) => sessionOf.get(logs.get(key) ?? '')) : key
    const session = found ?? id
    joined.set(reading, session)
    if (session !== key) move(database, recording, session)
  }
  return joined
}

/** The session that at least half of the calls are of, and of these most of the main agent's. */
function mostOf(calls: readonly Seen[], sessionOf: (call: Seen) => string | undefined): string | undefined {
  const votes = new Map<string, number>()
  let found = 0
  for (const call of calls) {
    const session = sessionOf(call)
    if (session === undefined) continue
    found += 1
    votes.set(session, (votes.get(session) ?? 0) + (call.isMain ? calls.length : 1))
  }
  if (found * 2 < calls.length) return undefined
  return [...votes].toSorted(([a, one], [b, other]) => other - one || (a < b ? -1 : 1))[0]?.[0]
}

function move(database: Database, { reading, key }: OwnRecording, session: string): void {
  const question = prepared(database, 'INSERT OR IGNORE INTO stale_sessions (key) VALUES (?), (?)')
  question.run(key, session)
  prepared(
    database,
    `INSERT OR IGNORE INTO stale_calls SELECT key FROM calls WHERE reading = ? AND session = ? AND key IS NOT NULL`,
  ).run(reading, key)
  prepared(
    database,
    `UPDATE recordings SET session = ?, chosen = ${UNSETTLED} WHERE reading = ? AND session = ?`,
  ).run(session, reading, key)
  prepared(
    database,
    `UPDATE calls SET session = ?1, billed_to = NULL WHERE reading = ?2 AND session = ?3`,
  ).run(session, reading, key)
  // Its entries are another session's now: whoever has words of it reads it again.
  prepared(database, 'UPDATE units SET extended = ? WHERE reading = ?').run(nextReading(database), reading)
}
