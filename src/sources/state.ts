/**
 * What sync knows, in SQLite: which files it has seen and how far, which are read together, and what `list` shows of them. Derived:
 * one that is damaged, older or newer than this program is moved aside, and the next sync builds it from the kept files.
 */
import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import { join } from 'node:path'
import type { Archive } from '../archive/archive.ts'
import { isHansardError } from '../errors.ts'
import { ensureFolder } from '../journal/files.ts'
import { openDatabase, type Database } from '../sqlite/driver.ts'
import { isDamagedDatabase } from '../sqlite/errors.ts'
import { VERSION } from '../version.ts'
import { endLoad } from './state-load-end.ts'
import { SCHEMA, STATE_VERSION } from './state-schema.ts'
import { prepared } from './state-statements.ts'

export type State = {
  readonly database: Database
  /** True until all that is kept has been taken into it: a process that dies meanwhile leaves the rest to the next. */
  readonly isNew: boolean
  close(): void
}

const FOLDER = 'index'
const NAME = 'state.db'

/** For the one process that holds the archive's lock. */
export async function openState(archive: Archive): Promise<State> {
  const folder = join(archive.home, FOLDER)
  ensureFolder(archive.files, folder)
  const path = join(folder, NAME)
  const isThere = archive.files.kind(path) !== undefined
  try {
    if (isThere) return await use(path, false)
  } catch (error) {
    if (!isUnusable(error)) throw error
    setAside(archive, path)
  }
  // Made here, not by SQLite, which would have it readable by others.
  archive.files.close(archive.files.openAppend(path, 'any'))
  return use(path, true)
}

/** For readers: undefined when there is none that can be used. Never waits for a sync. */
export async function peekState(archive: Archive): Promise<State | undefined> {
  const path = join(archive.home, FOLDER, NAME)
  if (archive.files.kind(path) !== 'file') return undefined
  try {
    // A database with a log needs a file beside it to be read; where none can be made, nobody writes either.
    const mode = isWritable(join(archive.home, FOLDER)) ? 'read-only' : 'immutable'
    const database = await openDatabase(path, { mode })
    if (versionOf(database) === STATE_VERSION)
      return { database, isNew: !isWhole(database), close: () => database.close() }
    database.close()
    return undefined
  } catch (error) {
    // One who died while making it left what only a writer can finish.
    const isUnfinished = isHansardError(error) && error.code === 'read-only'
    if (isUnfinished || isUnusable(error)) return undefined
    throw error
  }
}

function isWritable(folder: string): boolean {
  try {
    fs.accessSync(folder, fs.constants.W_OK)
    return true
  } catch {
    return false
  }
}

async function use(path: string, isNew: boolean): Promise<State> {
  const database = await openDatabase(path)
  try {
    // Synced at checkpoints only: what a power cut takes is found again in the kept files. What is sorted goes to a file where it
    // is much: libsql would hold the millions of calls of one session in memory.
    database.exec(
      'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -16000; PRAGMA temp_store = FILE',
    )
    if (isNew) begin(database)
    else if (versionOf(database) !== STATE_VERSION) throw new OtherVersion()
    if (!isNew) {
      endLoad(database)
      forgetIfOtherProgram(database)
    }
    return { database, isNew: recalled(database, 'adopted') === undefined, close: () => database.close() }
  } catch (error) {
    database.close()
    throw error
  }
}

/** Everything that was kept before is known, and was read by this version of the program. */
function isWhole(database: Database): boolean {
  return recalled(database, 'adopted') !== undefined && recalled(database, 'program') === VERSION
}

/** All at once: half of it would look like a state of another version, or like one that knows everything. */
function begin(database: Database): void {
  database.transaction(() => {
    database.exec(SCHEMA)
    remember(database, 'program', VERSION)
    remember(database, 'born', randomUUID())
    database.exec(`PRAGMA user_version = ${STATE_VERSION}`)
  })
}

/** Another version of this program reads and prices differently: all is read again, no file is kept again. */
function forgetIfOtherProgram(database: Database): void {
  if (recalled(database, 'program') === VERSION) return
  database.transaction(() => {
    database.exec('UPDATE units SET dirty = 1')
    remember(database, 'program', VERSION)
  })
}

function recalled(database: Database, name: 'adopted' | 'program'): unknown {
  return prepared(database, 'SELECT value FROM facts WHERE name = ?').get(name)?.['value']
}

export function remember(database: Database, name: 'adopted' | 'born' | 'program', value: string): void {
  prepared(database, 'INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)').run(name, value)
}

/** Another one for every state that was begun. */
export function bornOf(database: Database): string {
  return String(prepared(database, "SELECT value FROM facts WHERE name = 'born'").get()?.['value'])
}

class OtherVersion extends Error {}

function versionOf(database: Database): unknown {
  return database.prepare('PRAGMA user_version').get()?.['user_version']
}

/** No database, a damaged one, or another version's. One that may not be opened, or is locked, is neither. */
function isUnusable(error: unknown): boolean {
  return error instanceof OtherVersion || isDamagedDatabase(error)
}

/** Moves a state that turned out to be damaged out of the way: the next to open it begins a new one. */
export function forgetState(archive: Archive): void {
  setAside(archive, join(archive.home, FOLDER, NAME))
}

function setAside({ files }: Archive, path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) {
    if (files.kind(path + suffix) !== undefined) files.rename(path + suffix, `${path}.aside${suffix}`)
  }
}
