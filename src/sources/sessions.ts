/**
 * The archive's sessions, whatever recorded them: journals and kept files behind one door. What was recorded since the last look is
 * taken in first, where that can be done without waiting.
 */
import { openArchive, type Archive } from '../archive/archive.ts'
import { outlineSession, readSession } from '../archive/read-session.ts'
import { isHansardError } from '../errors.ts'
import type { ReadItem } from '../formats/format.ts'
import { JOURNAL } from '../journal/format-id.ts'
import type { Database } from '../sqlite/driver.ts'
import { isDamagedDatabase } from '../sqlite/errors.ts'
import { checkId } from '../transcript/ids.ts'
import { ambiguousId } from './ambiguous-id.ts'
import { isCurrent } from './current.ts'
import { oneSession } from './one-session.ts'
import { createOutlet, type Outlet } from './outlet.ts'
import { sessionStreams, sessionUnits, type ReadRecorded } from './session-streams.ts'
import { peekState, type State } from './state.ts'
import {
  countSessions,
  findSessions,
  getSession,
  listSessions,
  type ListedSession,
  type FoundSession,
  type SessionFilter,
} from './state-sessions.ts'
import { isWanted, readUnlisted, type Unlisted } from './unlisted.ts'
import { catchUp, rebuild } from './sync.ts'

export type Sessions = {
  /** False when another process is at work: what was recorded in the last moments may be missing. */
  readonly isCaughtUp: boolean
  list(filter: SessionFilter): Listed
  /** Sessions that are there and cannot be read. */
  readonly unreadable: Unlisted['unreadable']
  /** The one session whose id is this or begins so. Throws `session-not-found` or `ambiguous-id`. */
  find(idOrPrefix: string): FoundSession
  /** All that its recordings say, each entry once. */
  read(session: FoundSession): AsyncIterable<readonly ReadItem[]>
  /** The same with large content left where it is. */
  outline(session: FoundSession): AsyncIterable<readonly ReadItem[]>
  /** Which of its recordings are journals, by the names of their folders. */
  journals(session: FoundSession): readonly string[]
  close(): void
}

export type Listed = { readonly sessions: readonly ListedSession[]; readonly total: number }

export type SessionsOptions = {
  /** What is kept as it is, with the secrets in it. */
  readonly raw?: boolean
}

export async function openSessions(
  home: string | undefined,
  { raw = false }: SessionsOptions = {},
): Promise<Sessions> {
  const archive = openArchive(home)
  const outlet = createOutlet(archive, raw)
  const isCaughtUp = (await isCurrent(archive)) || (await tryCatchUp(archive))
  const state = await peekState(archive)
  const unlisted = await readUnlisted(archive, state)
  return {
    isCaughtUp,
    unreadable: unlisted.unreadable,
    list: (filter) => list(state, unlisted, filter),
    find: (idOrPrefix) => findSession(archive, state?.database, idOrPrefix),
    read: (session) => readUnits(session, { archive, state, outlet, readRecorded: readSession }),
    outline: (session) => readUnits(session, { archive, state, outlet, readRecorded: outlineSession }),
    journals: (session) => journalsOf(session, archive, state?.database),
    close: () => state?.close(),
  }
}

export function journalsOf(
  { key, id }: FoundSession,
  archive: Archive,
  database: Database | undefined,
): readonly string[] {
  const units = database === undefined ? [] : sessionUnits(database, archive, key)
  if (units.length === 0) return archive.segments(id).length > 0 ? [id] : []
  return units.filter(({ format }) => format === JOURNAL).map(({ place }) => place.unit)
}

/** Newest first, whatever knows of them. */
function list(state: State | undefined, unlisted: Unlisted, filter: SessionFilter): Listed {
  const known = state === undefined ? [] : listSessions(state.database, filter)
  const total = state === undefined ? 0 : countSessions(state.database, filter)
  const others = unlisted.sessions.filter((session) => isWanted(session, filter))
  if (others.length === 0) return { sessions: known, total }
  const all = [...known, ...others].sort((a, b) => ((a.startedAt ?? '') > (b.startedAt ?? '') ? -1 : 1))
  return { sessions: all.slice(0, filter.limit), total: total + others.length }
}

/** Nothing to catch up with, and nothing made, where there is no archive. */
async function tryCatchUp(archive: Archive): Promise<boolean> {
  if (archive.readOnly || archive.files.kind(archive.home) === undefined) return true
  try {
    await catchUp(archive)
    return true
  } catch (error) {
    if (isHansardError(error) && CANNOT_WRITE.has(error.code)) return false
    throw error
  }
}

/** Opens, works and closes. A state that turns out to be damaged is built again, and the work done again. */
export async function withSessions<T>(
  home: string | undefined,
  work: (sessions: Sessions) => T | Promise<T>,
): Promise<T> {
  try {
    return await workWith(home, work)
  } catch (error) {
    if (!isDamagedDatabase(error)) throw error
    await rebuild(openArchive(home))
    return workWith(home, work)
  }
}

async function workWith<T>(
  home: string | undefined,
  work: (sessions: Sessions) => T | Promise<T>,
): Promise<T> {
  const sessions = await openSessions(home)
  try {
    return await work(sessions)
  } finally {
    sessions.close()
  }
}

const CANNOT_WRITE: ReadonlySet<string> = new Set(['locked', 'not-permitted', 'read-only', 'disk-full', 'io'])

/** See `Sessions.find`. */
export function findSession(
  archive: Archive,
  database: Database | undefined,
  idOrPrefix: string,
): FoundSession {
  checkId(idOrPrefix, 'session id')
  const found = database === undefined ? [] : findSessions(database, idOrPrefix)
  const [only] = found
  if (only !== undefined && found.length === 1) return only
  if (database !== undefined && found.length > 1) throw ambiguousId(database, idOrPrefix, found)
  // One that the state does not know yet: recorded while another process holds the lock.
  const id = archive.find(idOrPrefix)
  return { key: id, id }
}

type Reading = {
  readonly archive: Archive
  readonly state: State | undefined
  readonly outlet: Outlet
  readonly readRecorded: ReadRecorded
}

async function* readUnits(
  session: FoundSession,
  { archive, state, outlet, readRecorded }: Reading,
): AsyncGenerator<readonly ReadItem[]> {
  const known = state && getSession(state.database, session.key)
  if (state === undefined || known === undefined) return yield* readRecorded(archive, session.id)
  const streams = sessionStreams(sessionUnits(state.database, archive, session.key), archive, readRecorded)
  const isForeign = streams.some(({ unit }) => unit !== undefined)
  const items = oneSession(streams, session, known)
  yield* isForeign ? outlet.items(items) : items
}
