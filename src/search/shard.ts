/**
 * One file of the index: an SQLite database with the words of some units and where their entries lie. Derived: one that is
 * damaged, or of another version of this program, is moved aside, and what it held is indexed again. One process writes, any
 * number read.
 */
import type { Archive } from '../archive/archive.ts'
import { isHansardError } from '../errors.ts'
import { ensureFolder } from '../journal/files.ts'
import { openDatabase, type Database } from '../sqlite/driver.ts'
import { isDamagedDatabase } from '../sqlite/errors.ts'
import { DAMAGED, INDEX_VERSION, indexFolder, isAsLeft, shardPath } from './index-record.ts'

export type Shard = {
  readonly number: number
  readonly database: Database
  close(): void
}

const SCHEMA = `
-- A unit as it was when it was indexed: name as in placeName, version as in unit-list.ts, '' until all of it is there.
CREATE TABLE units (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, version TEXT NOT NULL, bytes INTEGER NOT NULL);
-- Its entries, in order of low: the docs low to high - 1 of each piece. No other unit has numbers below room.
CREATE TABLE pieces (
  low INTEGER PRIMARY KEY, unit INTEGER NOT NULL, high INTEGER NOT NULL, room INTEGER NOT NULL, min_at REAL, max_at REAL
);
CREATE INDEX pieces_unit ON pieces (unit);
-- Sessions of a unit, by the key that all recordings share.
CREATE TABLE sessions (id INTEGER PRIMARY KEY, unit INTEGER NOT NULL, key TEXT NOT NULL);
CREATE INDEX sessions_unit ON sessions (unit);
CREATE INDEX sessions_key ON sessions (key);
-- Sources and files.
CREATE TABLE names (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
-- Every word in the column facets of the tables of words.
CREATE TABLE facets (name TEXT PRIMARY KEY) WITHOUT ROWID;
-- Docs from id * 64 on: see doc-pages.ts. newest: the latest time of the piece's docs up to these.
CREATE TABLE pages (id INTEGER PRIMARY KEY, newest REAL NOT NULL, docs BLOB NOT NULL);
-- Which bytes stand together in the texts of some of a page's docs: see grams.ts. All texts of a doc are in one of its page's rows.
CREATE TABLE grams (page INTEGER NOT NULL, bits BLOB NOT NULL);
CREATE INDEX grams_page ON grams (page);
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
-- Tables of words: see word-tables.ts. Each has the entries from low on, below the next one's low.
CREATE TABLE word_tables (id INTEGER PRIMARY KEY, low INTEGER NOT NULL);
`

/** The numbers of the shards there are. */
export function listShards({ files, home }: Archive): readonly number[] {
  return files
    .list(indexFolder(home))
    .flatMap((name) => /^search-(\d{1,3})\.db$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b)
}

/** For the one process that holds the index's lock. `isBegun`: it has written to it, so damage is thrown, and nothing moved aside. */
export async function openShard(
  archive: Archive,
  number: number,
  { isBegun = false }: { readonly isBegun?: boolean } = {},
): Promise<Shard> {
  const { files, home } = archive
  const path = shardPath(home, number)
  ensureFolder(files, indexFolder(home))
  const isReported = files.kind(path + DAMAGED) !== undefined
  if (isBegun && isReported) throw new MissingPage('a search met damage in the index')
  if (isBegun) return use(path, number, 'old')
  // One without a byte is moved too: others may have it open as what it was.
  if (isReported || files.identityAt(path)?.size === 0) setShardAside(archive, number)
  if (isReported) files.remove(path + DAMAGED)
  try {
    if (files.kind(path) !== undefined) return await use(path, number, 'old')
  } catch (error) {
    if (!isUnusable(error)) throw error
    setShardAside(archive, number)
  }
  // Made here, not by SQLite, which would have it readable by others.
  files.close(files.openAppend(path, 'any'))
  return use(path, number, 'new')
}

/** For readers: undefined when there is none that can be used. Never waits for a writer. */
export async function peekShard(archive: Archive, number: number): Promise<Shard | undefined> {
  const { files, home } = archive
  const path = shardPath(home, number)
  if (files.kind(path) !== 'file' || !isAsLeft(archive, number)) return undefined
  let database: Database | undefined
  try {
    database = await openDatabase(path, { mode: 'read-only' })
    if (versionOf(database) === INDEX_VERSION) return toShard(database, number)
    database.close()
    return undefined
  } catch (error) {
    database?.close()
    // One who died while making it left what only a writer can finish, and one who is making it has it to themselves.
    if (isHansardError(error) && (error.code === 'read-only' || error.code === 'locked')) return undefined
    if (!isUnusable(error)) throw error
    reportDamage(archive, number)
    return undefined
  }
}

/** For readers, who hold no lock and move nothing. */
export function reportDamage({ files, home, readOnly }: Archive, number: number): void {
  if (readOnly) return
  try {
    files.close(files.openAppend(shardPath(home, number) + DAMAGED, 'any'))
  } catch {
    // A disk that is full or may not be written: it is met again.
  }
}

/** Moves a shard that turned out to be damaged out of the way, in place of the one that was moved there before. */
export function setShardAside({ files, home }: Archive, number: number): void {
  const path = shardPath(home, number)
  for (const suffix of ['', '-wal', '-shm', '-journal']) {
    if (files.kind(path + suffix) !== undefined) files.rename(path + suffix, `${path}.aside${suffix}`)
    // A log that belongs to no database any more must not be taken for that of the next.
    else if (files.kind(`${path}.aside${suffix}`) !== undefined) files.remove(`${path}.aside${suffix}`)
  }
}

/** No database, a damaged one, or another version's. One that may not be opened, or is locked, is neither. */
export function isUnusable(error: unknown): boolean {
  return error instanceof OtherVersion || error instanceof MissingPage || isDamagedDatabase(error)
}

class OtherVersion extends Error {}

/** A row that is not where others say it is. */
export class MissingPage extends Error {}

async function use(path: string, number: number, age: 'old' | 'new'): Promise<Shard> {
  const database = await openDatabase(path)
  try {
    // Synced at checkpoints only: what a power cut takes is indexed again.
    database.exec(
      'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -16000; PRAGMA temp_store = MEMORY',
    )
    const version = versionOf(database)
    // Nothing in it yet: new, or made by one who died before the tables were.
    if (version === 0 && isEmpty(database))
      database.transaction(() => database.exec(`${SCHEMA}; PRAGMA user_version = ${INDEX_VERSION}`))
    else if (version !== INDEX_VERSION || age === 'new') throw new OtherVersion()
    return toShard(database, number)
  } catch (error) {
    database.close()
    throw error
  }
}

function toShard(database: Database, number: number): Shard {
  return { number, database, close: () => database.close() }
}

function versionOf(database: Database): unknown {
  return database.prepare('PRAGMA user_version').get()?.['user_version']
}

function isEmpty(database: Database): boolean {
  return database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined
}
