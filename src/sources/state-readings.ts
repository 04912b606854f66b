/**
 * One pass over a unit, put in the state: written row by row beside the last one, and made the unit's last in one step. A crash
 * leaves the last whole pass, and rows that nobody counts.
 */
import type { Database } from '../sqlite/driver.ts'
import { insertMentions, questionMentions } from './state-mentions.ts'
import { questionNew, questionOld, questionSessions } from './state-billing.ts'
import { FULLEST, UNSETTLED } from './state-speakers.ts'
import { rowsOf, weightOf, type CallRow, type CallTable } from './call-rows.ts'
import { insertCalls, takeOverCalls } from './state-calls.ts'
import { unpackCalls, type PackedCalls } from './packed-calls.ts'
import { noCalls, type OwnBill, type OwnBills } from './state-own-bill.ts'
import { nextReading } from './reading-numbers.ts'
import { prepared } from './state-statements.ts'
import { refreshOwn, refreshSessions, type OwnRecording } from './state-sessions.ts'
import { sumBills } from './state-sums.ts'
import { hasManyRecordings, recordedOnce } from './state-recorded.ts'
import { insertRecording, isUnknown, letIn, waitWith } from './state-recordings.ts'
import type { SessionsPart } from './read-unit.ts'
import type { UnitFacts } from './session-facts.ts'

export type Reading = {
  /** A batch of the calls met. */
  calls(calls: CallTable): void
  /** All of them. */
  packed(calls: PackedCalls): void
  /** Some of the sessions met, after their calls. */
  sessions(part: SessionsPart): void
  /** All else that the pass found: from now on the unit's last word. `bills`: what the calls of its sessions come to. */
  end(format: string, facts: UnitFacts, bills: OwnBills): ReadingEnd
}

/** How many sessions there are, and entries. */
export type ReadingEnd = { readonly sessions: number; readonly entries: number }

/** Calls held back until the pass is whole, by `weightOf`: it is then put in the state in one step, as nearly all are. */
export const MOST_HELD = 5000

export function beginReading(database: Database, unit: number): Reading {
  let reading: number | undefined
  let held: CallRow[] = []
  let weight = 0
  const waiting = { sessions: 0, entries: 0, mentions: 0 }
  const write = (into: number, isBilled: boolean): void => {
    insertCalls(database, into, held, isBilled)
    held = []
    weight = 0
  }
  const take = (calls: CallTable): void => {
    const more = weightOf(calls)
    if (held.length > 0 && weight + more > MOST_HELD) {
      reading = database.transaction(() => {
        const begun = reading ?? begin(database)
        write(begun, false)
        return begun
      })
    }
    for (const row of rowsOf(calls)) held.push(row)
    weight += more
  }
  return {
    calls: take,
    packed: (calls) => take(unpackCalls(calls)),
    sessions(part) {
      reading = database.transaction(() => {
        const begun = reading ?? begin(database)
        write(begun, false)
        waitWith(database, begun, part)
        // Of a pass that is not whole nobody asks what it says of others.
        insertMentions(database, begun, part.mentions)
        return begun
      })
      waiting.sessions += part.sessions.length
      waiting.mentions += part.mentions.length
      for (const { entries } of part.sessions) waiting.entries += entries
    },
    end: (format, facts, bills) =>
      database.transaction(() => {
        const before = unitNow(database, unit)
        const whole = reading ?? nextReading(database)
        if (reading === undefined && before.reading !== undefined)
          takeOverCalls(database, { before: before.reading, reading: whole }, held)
        else write(whole, reading === undefined)
        if (reading !== undefined) ended(database, reading)
        return endReading(
          database,
          { unit, format, reading: whole, before, bills, isInSteps: reading !== undefined, waiting },
          facts,
        )
      }),
  }
}

/** A unit that holds no session any more, or never did. */
export function clearReading(database: Database, unit: number, problem: string | undefined): void {
  database.transaction(() => {
    const { reading: old } = unitNow(database, unit)
    questionMentions(database, old, undefined)
    if (old !== undefined) questionOld(database, old, undefined)
    prepared(
      database,
      'UPDATE units SET reading = NULL, extended = NULL, dirty = 0, problem = ? WHERE id = ?',
    ).run(problem ?? null, unit)
    if (old !== undefined) removeReading(database, old)
  })
}

/** What a crash left of passes that were not ended. */
export function removeLeftovers(database: Database): void {
  for (const { reading } of prepared(database, 'SELECT reading FROM begun').all()) {
    database.transaction(() => {
      removeReading(database, Number(reading))
      ended(database, Number(reading))
    })
  }
}

type Ended = {
  readonly unit: number
  readonly format: string
  readonly reading: number
  readonly before: UnitNow
  readonly bills: OwnBills
  readonly isInSteps: boolean
  /** What was put in waiting before. */
  readonly waiting: ReadingEnd & { readonly mentions: number }
}

function endReading(database: Database, ended: Ended, facts: UnitFacts): ReadingEnd {
  const { unit, format, reading, bills } = ended
  const { sessions, mentions, damage, drift } = facts
  const { reading: before, file, root } = ended.before
  const own: (OwnRecording & { readonly bill: OwnBill })[] = []
  const others: string[] = []
  let all = ended.waiting.entries
  const isInParts = ended.waiting.sessions > 0
  if (isInParts) letIn(database, reading)
  for (const one of sessions) {
    const mayBeOwn = !isInParts && before === undefined && isUnknown(database, one.key)
    const bill = mayBeOwn ? billOf(bills, one.key) : undefined
    const chosen = bill === undefined ? UNSETTLED : FULLEST
    const recording = insertRecording(database, { reading, format, file, root }, one, chosen)
    if (bill === undefined) others.push(one.key)
    else {
      const recorded = recordedOnce(recording, one.work)
      own.push({ key: one.key, session: one.session, recorded, bill })
    }
    all += one.entries
  }
  insertDrift(database, reading, drift)
  insertMentions(database, reading, mentions)

  if (before !== undefined || mentions.length + ended.waiting.mentions > 0)
    questionMentions(database, before, reading)
  if (before !== undefined) questionOld(database, before, reading)
  unitRead(database, { unit, format, reading, damage })
  if (before !== undefined) removeReading(database, before)
  if (ended.isInSteps || before !== undefined) billAll(database, reading)
  if (isInParts || others.length > 0 || bills.size > 0)
    questionNew(database, reading, isInParts || others.length > 0)
  // Listed at once, though what it shares with others is settled when all is read.
  for (const one of own) if (!refreshOwn(database, one, one.bill)) others.push(one.key)
  // Each is asked for several times, and of any number that is too much for one step: they are listed when bills are settled.
  if (isInParts) questionSessions(database, reading)
  else {
    // What many recorded is in question already.
    const few = others.filter((key) => !hasManyRecordings(database, key))
    refreshSessions(database, few)
    sumBills(database, few)
  }
  return { sessions: ended.waiting.sessions + sessions.length, entries: all }
}

/** Of what was taken over or written in steps, nothing was on a bill before the pass was whole. */
function billAll(database: Database, reading: number): void {
  prepared(
    database,
    'UPDATE calls SET billed_to = session WHERE reading = ? AND billed_to IS NOT session',
  ).run(reading)
}

/** Undefined where its calls have to be asked for. */
export function billOf(bills: OwnBills, session: string): OwnBill | undefined {
  return bills.has(session) ? bills.get(session) : noCalls()
}

export function insertDrift(database: Database, reading: number, drift: UnitFacts['drift']): void {
  const note = prepared(
    database,
    'INSERT OR REPLACE INTO drift (reading, kind, name, version, count) VALUES (?, ?, ?, ?, ?)',
  )
  for (const { kind, name, version = '', count } of drift) note.run(reading, kind, name, version, count)
}

type UnitRead = {
  readonly unit: number
  readonly format: string
  readonly reading: number
  readonly damage: number
}

export function unitRead(database: Database, { unit, format, reading, damage }: UnitRead): void {
  prepared(
    database,
    'UPDATE units SET reading = ?, extended = NULL, format = ?, damage = ?, dirty = 0, problem = NULL WHERE id = ?',
  ).run(reading, format, damage, unit)
}

/** What the last pass over a unit came to. */
export function lastSaid(
  database: Database,
  unit: number,
): { readonly entries: number; readonly damage: number } {
  const row = prepared(
    database,
    `SELECT damage, (SELECT total(entries) FROM recordings WHERE recordings.reading = units.reading) AS entries
       FROM units WHERE id = ?`,
  ).get(unit)
  return { entries: Number(row?.['entries'] ?? 0), damage: Number(row?.['damage'] ?? 0) }
}

/** A reading in more than one step: what a crash leaves of it is known by this. */
function begin(database: Database): number {
  const reading = nextReading(database)
  prepared(database, 'INSERT INTO begun (reading) VALUES (?)').run(reading)
  return reading
}

/** What is known of a unit before a pass ends: the pass before, and where it lies. */
type UnitNow = { readonly reading: number | undefined; readonly file: string; readonly root: string }

function unitNow(database: Database, unit: number): UnitNow {
  const row = prepared(
    database,
    'SELECT reading, path, root FROM units JOIN places ON places.id = units.place WHERE units.id = ?',
  ).get(unit)
  const { reading, path, root } = row ?? {}
  return {
    reading: typeof reading === 'number' ? reading : undefined,
    file: String(path ?? ''),
    root: String(root ?? ''),
  }
}

function removeReading(database: Database, reading: number): void {
  for (const table of ['recordings', 'mentions', 'calls', 'packed_calls', 'drift'])
    prepared(database, `DELETE FROM ${table} WHERE reading = ?`).run(reading)
}

function ended(database: Database, reading: number): void {
  prepared(database, 'DELETE FROM begun WHERE reading = ?').run(reading)
}
