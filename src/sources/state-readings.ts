/**
 * One pass over a unit, put in the state: written row by row beside the last one, and made the unit's last in one step. A crash
 * leaves the last whole pass, and rows that nobody counts.
 */
import { journal } from '../journal/format.ts'
import type { Database } from '../sqlite/driver.ts'
import { storedText } from '../sqlite/stored.ts'
import type { Session } from '../transcript/session.ts'
import { hasCounts, qualityRank } from '../transcript/usage.ts'
import { insertMentions, questionMentions } from './state-mentions.ts'
import { questionNew, questionOld } from './state-billing.ts'
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
        const whole = reading ?? nextReading(database)
        write(whole)
        if (reading !== undefined) ended(database, reading)
        return endReading(database, { unit, format, reading: whole }, facts)
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

type Ended = { readonly unit: number; readonly format: string; readonly reading: number }

function endReading(
  database: Database,
  { unit, format, reading }: Ended,
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

  const old = currentReading(database, unit)
  if (old !== undefined || mentions.length > 0) questionMentions(database, old, reading)
  if (old !== undefined) questionOld(database, old, reading)
  prepared(
    database,
    'UPDATE units SET reading = ?, format = ?, damage = ?, dirty = 0, problem = NULL WHERE id = ?',
  ).run(reading, format, damage, unit)
  if (old !== undefined) removeReading(database, old)
  prepared(database, 'UPDATE calls SET billed_to = session WHERE reading = ?').run(reading)
  questionNew(database, reading)
  // Listed at once, though what it shares with others is settled when all is read.
  const keys = sessions.map(({ key }) => key)
  refreshSessions(database, keys)
  sumBills(database, keys)
  return { sessions: sessions.length, entries: all }
}

function insertCalls(database: Database, reading: number, calls: readonly Call[]): void {
  // A call may be reported again after it was settled: the last report wins, unless it counts nothing.
  const toInsert = (verb: 'REPLACE' | 'IGNORE') =>
    prepared(
      database,
      `INSERT OR ${verb} INTO calls (reading, session, key, provider, model, at, input, cache_read, cache_write_5m,
       cache_write_1h, output, reasoning, quality, pico, unpriced, source, tools, work)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
  const [replace, addOnly] = [toInsert('REPLACE'), toInsert('IGNORE')]
  for (const call of calls) {
    const { session, key, provider, model, at, usage, pico, unpriced, source, tools, work } = call
    const insert = hasCounts(usage) ? replace : addOnly
    insert.run(
      reading,
      session,
      // Keys are asked for in JSON, where SQLite ends a text at this.
      key?.replaceAll('\0', '\uFFFD') ?? null,
      provider ?? '',
      model ?? null,
      at ?? null,
      toCount(usage.input),
      toCount(usage.cacheRead),
      toCount(usage.cacheWrite5m),
      toCount(usage.cacheWrite1h),
      toCount(usage.output),
      toCount(usage.reasoning),
      qualityRank(usage.quality),
      pico !== undefined && pico <= MOST_PICO ? pico : null,
      unpriced ?? null,
      source ?? null,
      tools === undefined ? null : JSON.stringify(tools),
      work === undefined ? null : JSON.stringify(work),
    )
  }
}

/** No call has a billion tokens, or costs a thousand dollars: a file that says so must not make sums overflow. */
export const MOST_TOKENS = 1_000_000_000
export const MOST_PICO = 1_000_000_000_000_000n

function toCount(tokens: number | undefined): number | null {
  return tokens !== undefined && tokens <= MOST_TOKENS ? tokens : null
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
