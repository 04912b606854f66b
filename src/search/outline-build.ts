/**
 * An outline made in one pass over a session. Where there is one of before, rows that are still right stay, and what is new comes after
 * them; from the first that differs on, a new generation is written. Nothing is held but the rows of one write.
 */
import { openArchive, type Archive } from '../archive/archive.ts'
import { outlineSession, readSession } from '../archive/read-session.ts'
import type { PriceRow } from '../cost/prices.ts'
import type { ReadItem } from '../formats/format.ts'
import { allCalls } from '../sources/all-calls.ts'
import { oneSession } from '../sources/one-session.ts'
import { sessionStreams, sessionUnits, type SessionUnit } from '../sources/session-streams.ts'
import { peekState } from '../sources/state.ts'
import { getSession } from '../sources/state-sessions.ts'
import type { Database } from '../sqlite/driver.ts'
import { createAloneness } from './outline-alone.ts'
import {
  makeFolder,
  takeOutline,
  writeNote,
  type Names,
  type OutlineFolder,
  type OutlineNote,
} from './outline-files.ts'
import { createOutlineFold } from './outline-fold.ts'
import { openRowWriter } from './outline-write.ts'
import { redactorOf } from './searched-entry.ts'

export type OutlineJob = OutlineFolder & {
  readonly home: string
  readonly key: string
  readonly id: string
  readonly stamp: string
  /** Of the stamp, what is the same while a log only grows. */
  readonly basis: string
  readonly prices?: readonly PriceRow[]
  readonly before?: OutlineNote
}

export type OutlineProgress = Names & { readonly generation: string; readonly length: number }

/** Rows between two words on how far it is. The first come at once: somebody waits for them. */
const FIRST_ROWS = 512
const MORE_ROWS = 4096

export async function buildOutline(
  job: OutlineJob,
  onProgress: (progress: OutlineProgress) => void = () => {},
): Promise<OutlineNote> {
  const archive = openArchive(job.home)
  const state = await peekState(archive)
  makeFolder(job.folder)
  const letGo = takeOutline(job)
  const { before: _, ...anew } = job
  try {
    return await build(letGo === undefined ? anew : job, archive, state?.database, onProgress)
  } finally {
    letGo?.()
    state?.close()
  }
}

async function build(
  job: OutlineJob,
  archive: Archive,
  database: Database | undefined,
  onProgress: (progress: OutlineProgress) => void,
): Promise<OutlineNote> {
  const { key, stamp, basis, before, prices } = job
  const readings = openReadings(archive, database, job)
  const reading = readings.open()
  const fold = createOutlineFold({
    elsewhere: database === undefined ? new Set() : billedElsewhere(database, key),
    ...(prices && { prices }),
    ...(before && { names: before }),
  })
  const alone = createAloneness(archive, readings.units, readings.isInline)
  const redactor = redactorOf(archive)
  const rows = await openRowWriter(job, before?.isInline === readings.isInline ? before : undefined)
  let told = 0
  const tell = async (): Promise<void> => {
    await rows.flush()
    told = fold.length()
    onProgress({ ...fold.names(), generation: rows.generation(), length: told })
  }
  try {
    for await (const items of reading.items) {
      for (const item of items) {
        const row = fold.take(item, reading.unit())
        if (row === undefined || item.type !== 'entry') continue
        // Nearly all is done without waiting, and waiting a million times takes seconds.
        const added = rows.add(row)
        const isKnown = typeof added === 'boolean' ? added : await added
        if (!isKnown) {
          const asked = alone.canRead(item.entry, row, fold.names())
          const isAlone = typeof asked === 'boolean' ? asked : await asked
          if (!isAlone) await rows.copy(redactor.entry(item.entry))
        }
        if (fold.length() - told >= (told === 0 ? FIRST_ROWS : MORE_ROWS)) await tell()
      }
    }
    const copyBytes = await rows.end(fold.length())
    return writeNote(job, {
      ...fold.end(),
      stamp,
      basis,
      generation: rows.generation(),
      copyBytes,
      isInline: readings.isInline,
    })
  } finally {
    await rows.close()
  }
}

export type Reading = {
  readonly items: AsyncIterable<readonly ReadItem[]>
  /** The unit that was read last. */
  unit(): number
}

export type Readings = {
  readonly units: readonly SessionUnit[]
  /** Large content is in its place; else it stays where it is, unless the whole is asked for. */
  readonly isInline: boolean
  open(how?: { readonly whole?: boolean }): Reading
}

/** All that the session's recordings say, as `hansard show` has it, with secrets. The database is not asked again. */
export function openReadings(
  archive: Archive,
  database: Database | undefined,
  session: { readonly key: string; readonly id: string },
): Readings {
  const known = database && getSession(database, session.key)
  if (database === undefined || known === undefined) {
    // Recorded a moment ago: the state does not know it yet.
    const unit = journalUnit(archive, session.id)
    const open: Readings['open'] = ({ whole = false } = {}) => ({
      items: (whole ? readSession : outlineSession)(archive, session.id),
      unit: () => 0,
    })
    return { units: [unit], isInline: false, open }
  }
  const units = sessionUnits(database, archive, session.key)
  // What several say is told apart by what it is: then it has to be whole.
  const isInline = units.length > 1
  return {
    units,
    isInline,
    open({ whole = false } = {}) {
      let current = 0
      const recorded = isInline || whole ? readSession : outlineSession
      const streams = sessionStreams(units, archive, recorded).map((stream, number) => ({
        ...stream,
        items: noted(stream.items, () => (current = number)),
      }))
      return { items: oneSession(streams, session, known), unit: () => current }
    },
  }
}

function journalUnit({ home }: Archive, id: string): SessionUnit {
  const place = { home, agent: 'journal', root: '', unit: id, paths: [], isKept: false }
  return { place, format: 'journal', reading: 0, isDirty: false, bytes: 0 }
}

async function* noted<T>(items: AsyncIterable<T>, onItems: () => void): AsyncGenerator<T> {
  for await (const some of items) {
    onItems()
    yield some
  }
}

/** By which a call is billed, whatever its source calls it. */
const nameOf = (call: string): string =>
  `ifnull((SELECT same FROM same_calls WHERE same_calls.key = ${call}.key), ${call}.key)`

/** Calls that this session mentions, and another pays for, or nobody: a replay's. */
export function billedElsewhere(database: Database, key: string): ReadonlySet<string> {
  const calls = allCalls(database)
  const rows = database
    .prepare(
      `SELECT DISTINCT key FROM ${calls} own WHERE reading IN (SELECT reading FROM recordings WHERE session = ?1) AND session = ?1
         AND key IS NOT NULL AND billed_to IS NULL AND ${nameOf('own')} NOT IN (
           SELECT ${nameOf('billed')} FROM ${calls} billed WHERE billed_to = ?1 AND key IS NOT NULL)`,
    )
    .all(key)
  return new Set(rows.map((row) => String(row['key'])))
}
