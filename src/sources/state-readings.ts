/**
 * One pass over a unit, put in the state: written row by row beside the last one, and made the unit's last in one step. A crash
 * leaves the last whole pass, and rows that nobody counts.
 */
import { journal } from '../journal/format.ts'
import type { Database } from '../sqlite/driver.ts'
import { storedText } from '../sqlite/stored.ts'
import type { Session } from '../transcript/session.ts'
import { insertMentions, questionMentions } from './state-mentions.ts'
import { questionNew, questionOld } from './state-billing.ts'
import { insertCalls, takeOverCalls } from './state-calls.ts'
import { prepared } from './state-statements.ts'
import { refreshSessions } from './state-sessions.ts'
import { sumBills } from './state-sums.ts'
import type { Call, UnitFacts } from './unit-facts.ts'

export type Reading = {
  /** A batch of the calls met. */
  calls(calls: readonly Call[]): void
  /** All that the pass found: from now on the unit's last word. Says how many sessions there are, and entries. */
  end(format: string, facts: UnitFacts): { readonly sessions: number; readonly entries: number }
}

/** The last batch of calls is held back: a unit of one batch, as most are, is put in the state in one transaction. */
export function beginReading(database: Database, unit: number): Reading {
  let reading: number | undefined
  let held: readonly Call[] = []
  const write = (into: number): void => {
    insertCalls(database, into, held)
    held = []
  }
  return {
    calls(calls) {
      if (held.length > 0) {
        reading = database.transaction(() => {
          const begun = reading ?? begin(database)
          write(begun)
          return begun
        })
      }
      held = calls
    },
    end: (format, facts) =>
      database.transaction(() => {
        const before = currentReading(database, unit)
        const whole = reading ?? nextReading(database)
        if (reading === undefined && before !== undefined)
          takeOverCalls(database, { before, reading: whole }, held)
        else write(whole)
        if (reading !== undefined) ended(database, reading)
        return endReading(database, { unit, format, reading: whole, before }, facts)
      }),
  }
}

/** A unit that holds no session any more, or never did. */
export function clearReading(database: Database, unit: number, problem: string | undefined): void {
  database.transaction(() => {
    const old = currentReading(database, unit)
    questionMentions(database, old, undefined)
    if (old !== undefined) questionOld(database, old, undefined)
    prepared(database, 'UPDATE units SET reading = NULL, dirty = 0, problem = ? WHERE id = ?').run(
      problem ?? null,
      unit,
    )
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
  readonly before: number | undefined
}

function endReading(
  database: Database,
  { unit, format, reading, before }: Ended,
  { sessions, mentions, damage, drift }: UnitFacts,
): { sessions: number; entries: number } {
  const insert = prepared(
    database,
    `INSERT INTO recordings (reading, session, id, format, facts, started_at, ended_at, parent, entries,
       tool_calls, prompt, work) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  let all = 0
  for (const { key, session, entries, toolCalls, prompt, work } of sessions) {
    const { startedAt = null, endedAt = null, parent } = session
    const facts = JSON.stringify(session satisfies Session)
    insert.run(
      reading,
      key,
      session.id,
      // Of a unit that was rewritten in another format, each session is in the one that it was read in.
      format === journal.id ? format : (session.recordings?.[0]?.by ?? format),
      facts,
      startedAt,
      endedAt,
      parent?.session ?? null,
      entries,
      toolCalls,
      prompt === undefined ? null : storedText(prompt),
      JSON.stringify(work),
    )
    all += entries
  }
  const note = prepared(
    database,
    'INSERT OR REPLACE INTO drift (reading, kind, name, version, count) VALUES (?, ?, ?, ?, ?)',
  )
  for (const { kind, name, version = '', count } of drift) note.run(reading, kind, name, version, count)

  insertMentions(database, reading, mentions)

  if (before !== undefined || mentions.length > 0) questionMentions(database, before, reading)
  if (before !== undefined) questionOld(database, before, reading)
  prepared(
    database,
    'UPDATE units SET reading = ?, format = ?, damage = ?, dirty = 0, problem = NULL WHERE id = ?',
  ).run(reading, format, damage, unit)
  if (before !== undefined) removeReading(database, before)
  prepared(
    database,
    'UPDATE calls SET billed_to = session WHERE reading = ? AND billed_to IS NOT session',
  ).run(reading)
  questionNew(database, reading)
  // Listed at once, though what it shares with others is settled when all is read.
  const keys = sessions.map(({ key }) => key)
  refreshSessions(database, keys)
  sumBills(database, keys)
  return { sessions: sessions.length, entries: all }
}

/** Also above readings that a crash left: their rows must not be taken for this one's. */
function nextReading(database: Database): number {
  const next = prepared(
    database,
    `INSERT INTO facts (name, value) VALUES ('reading', '1')
       ON CONFLICT (name) DO UPDATE SET value = CAST(value + 1 AS TEXT) RETURNING value`,
  ).get()
  return Number(next?.['value'])
}

/** A reading in more than one step: what a crash leaves of it is known by this. */
function begin(database: Database): number {
  const reading = nextReading(database)
  prepared(database, 'INSERT INTO begun (reading) VALUES (?)').run(reading)
  return reading
}

function currentReading(database: Database, unit: number): number | undefined {
  const reading = prepared(database, 'SELECT reading FROM units WHERE id = ?').get(unit)?.['reading']
  return typeof reading === 'number' ? reading : undefined
}

function removeReading(database: Database, reading: number): void {
  for (const table of ['recordings', 'mentions', 'calls', 'drift'])
    prepared(database, `DELETE FROM ${table} WHERE reading = ?`).run(reading)
}

function ended(database: Database, reading: number): void {
  prepared(database, 'DELETE FROM begun WHERE reading = ?').run(reading)
}
