/**
 * Every call of the archive on one bill: of all rows that mention it, one is billed, to the session that the others come from. What
 * is settled does not depend on the order of syncs.
 */
import type { Replayed } from '../archive/replayed.ts'
import type { Database } from '../sqlite/driver.ts'
import type { Candidate } from '../transcript/billing.ts'
import { nextTurn } from '../transcript/next-turn.ts'
import { matchSeenCalls } from './state-same-calls.ts'
import { billKeys } from './state-bill-calls.ts'
import { chooseRecordings, FULLEST, UNSETTLED } from './state-speakers.ts'
import { prepared } from './state-statements.ts'
import { sumBills } from './state-sums.ts'

/**
 * Notes what the end of a pass puts in question: its sessions, and the calls that other passes, or other sessions of its own, mention
 * too. Settled once, however many passes say it. `next`: the pass that takes its place, and speaks for itself.
 */
export function questionOld(database: Database, reading: number, next: number | undefined): void {
  questionCalls(database, reading, next)
  questionSessions(database, reading)
  // Who pays for a row that goes may not pay for the one that takes its place.
  prepared(
    database,
    `INSERT OR IGNORE INTO stale_sessions SELECT billed_to FROM calls
       WHERE reading = ? AND billed_to IS NOT NULL AND billed_to <> session`,
  ).run(reading)
}

/**
 * The same for a pass that came: a session that nothing else recorded, as most are, speaks for itself, and only its calls are asked
 * for. Whoever ends the pass makes it say what is known now, so nothing of it is left in question. `hasUnsettled`: it is not known
 * already that nothing else recorded them.
 */
export function questionNew(database: Database, reading: number, hasUnsettled: boolean): void {
  questionCalls(database, reading, undefined)
  if (!hasUnsettled) return
  prepared(
    database,
    `UPDATE recordings SET chosen = ${FULLEST} WHERE reading = ? AND NOT EXISTS (SELECT 1 FROM recordings other
       WHERE other.session = recordings.session AND other.reading <> recordings.reading)`,
  ).run(reading)
  prepared(
    database,
    `INSERT OR IGNORE INTO stale_sessions SELECT session FROM recordings WHERE reading = ? AND chosen = ${UNSETTLED}`,
  ).run(reading)
  prepared(
    database,
    `DELETE FROM stale_sessions WHERE key IN (SELECT session FROM recordings WHERE reading = ? AND chosen = ${FULLEST})`,
  ).run(reading)
}

/** All sessions of a pass. */
export function questionSessions(database: Database, reading: number): void {
  prepared(
    database,
    'INSERT OR IGNORE INTO stale_sessions SELECT session FROM recordings WHERE reading = ?',
  ).run(reading)
}

function questionCalls(database: Database, reading: number, besides: number | undefined): void {
  prepared(
    database,
    `INSERT OR IGNORE INTO stale_calls SELECT own.key FROM calls own WHERE own.reading = ? AND own.key IS NOT NULL
       AND EXISTS (SELECT 1 FROM calls other WHERE other.key = own.key AND other.id <> own.id AND other.reading IS NOT ?)`,
  ).run(reading, besides ?? null)
}

/**
 * Bills anew all that is in question, and makes the sessions say so. In steps, each whole: what a crash leaves is still in question
 * for the next.
 */
export async function settleBills(
  database: Database,
  refresh: (keys: Iterable<string>) => void,
  replays: readonly Replayed[] = [],
): Promise<void> {
  const take = (table: string): string[] =>
    prepared(database, `SELECT key FROM ${table} ORDER BY key LIMIT ${BATCH}`)
      .all()
      .map(({ key }) => String(key))
  const forget = (table: string, keys: readonly string[]): void => {
    const remove = prepared(database, `DELETE FROM ${table} WHERE key = ?`)
    for (const key of keys) remove.run(key)
  }
  matchSeenCalls(database, replays)
  const rest = createRest()
  await questionRecordings(database, rest)
  const candidates = new Map<string, Candidate>()
  const candidate = (session: string): Candidate => {
    const known = candidates.get(session) ?? candidateOf(database, session)
    if (candidates.size < MOST_CANDIDATES) candidates.set(session, known)
    return known
  }
  for (let keys = take('stale_calls'); keys.length > 0; keys = take('stale_calls')) {
    database.transaction(() => {
      const changed = new Set<string>()
      billKeys(database, keys, candidate, changed)
      const note = prepared(database, 'INSERT OR IGNORE INTO stale_sessions (key) VALUES (?)')
      for (const session of changed) note.run(session)
      forget('stale_calls', keys)
    })
    await rest()
  }
  for (let keys = take('stale_sessions'); keys.length > 0; keys = take('stale_sessions')) {
    database.transaction(() => {
      refresh(keys)
      sumBills(database, keys)
      forget('stale_sessions', keys)
    })
    await rest()
  }
}

/** Steps until what is left of them is let go: V8 would wait until there is twice as much as is needed. */
const STEPS_LEFT = 50

/** Between two steps: what the driver took for the first is given back. */
function createRest(): () => Promise<void> {
  let steps = 0
  return async () => {
    steps += 1
    if (steps % STEPS_LEFT === 0) (await import('./one-at-a-time.ts')).collect()
    await nextTurn()
  }
}

/** True when a crash, or a sync at work, has left something in question. */
export function isSettled(database: Database): boolean {
  const row = prepared(
    database,
    `SELECT EXISTS (SELECT 1 FROM stale_calls) + EXISTS (SELECT 1 FROM stale_sessions)
       + EXISTS (SELECT 1 FROM facts WHERE name = 'loading' AND value = '1') AS stale`,
  ).get()
  return row?.['stale'] === 0
}

/** Which recording speaks may change what its session's calls are. All are chosen before the first call is billed. */
async function questionRecordings(database: Database, rest: () => Promise<void>): Promise<void> {
  const next = prepared(database, `SELECT key FROM stale_sessions WHERE key > ? ORDER BY key LIMIT ${BATCH}`)
  const question = prepared(
    database,
    `INSERT OR IGNORE INTO stale_calls SELECT calls.key FROM recordings
       JOIN units ON units.reading = recordings.reading
       JOIN calls ON calls.reading = recordings.reading AND calls.session = recordings.session
       WHERE recordings.session = ? AND calls.key IS NOT NULL`,
  )
  for (let rows = next.all(''); rows.length > 0; rows = next.all(String(rows.at(-1)?.['key']))) {
    database.transaction(() => {
      for (const { key } of rows) if (chooseRecordings(database, String(key))) question.run(String(key))
    })
    await rest()
  }
}

/** Held while settling: asked for again and again by calls that many sessions mention. */
const MOST_CANDIDATES = 20_000

/** Keys asked for at a time: each question to the database costs more than its answer. */
const BATCH = 200

/** By all that its recordings say: the earliest beginning, the latest end. */
function candidateOf(database: Database, session: string): Candidate {
  const row = prepared(
    database,
    `SELECT min(started_at) AS started, max(ended_at) AS ended, min(parent) AS parent
       FROM recordings JOIN units ON units.reading = recordings.reading WHERE session = ?`,
  ).get(session)
  const { started, ended, parent } = row ?? {}
  return {
    session,
    ...(typeof started === 'string' && { startedAt: started }),
    ...(typeof ended === 'string' && { endedAt: ended }),
    ...(typeof parent === 'string' && { parent }),
  }
}
