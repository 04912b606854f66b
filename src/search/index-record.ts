/**
 * What the index is, in one small file beside it: which state of the archive it has caught up with, and what its databases were like
 * when they were last written. Whoever reads the index looks here first. A database that is not as it was left, though nobody was
 * writing, is not trusted: SQLite has no checksums, and would give wrong answers from a byte that changed.
 */
import fs from 'node:fs'
import { join } from 'node:path'
import type { Archive } from '../archive/archive.ts'
import { readWholeFile } from '../archive/bytes.ts'
import { fromSystemError } from '../errors.ts'
import { ensureFolder, writeWhole } from '../journal/files.ts'
import { peekState } from '../sources/state.ts'
import { asArray, asNumber, asObject, asString, parseJson } from '../transcript/json.ts'
import { stateMark } from './state-mark.ts'

export type IndexRecord = {
  /** Of the databases' tables, and of what is written in them. */
  readonly version: number
  /** The state that all of it has caught up with; absent while it is behind. */
  readonly mark?: string
  /** What each database was like when it was last written; absent while somebody writes, or has died writing. */
  readonly shards?: readonly string[]
}

/** Raised with every change of the tables or of what is written in them, the cutting of text into words included. */
export const INDEX_VERSION = 9

const FOLDER = 'index'
const NAME = 'search.json'

export function indexFolder(home: string): string {
  return join(home, FOLDER)
}

export function shardPath(home: string, number: number): string {
  return join(home, FOLDER, `search-${number}.db`)
}

/** Stands beside a database in which a search met damage: whoever writes next begins it anew. */
export const DAMAGED = '.damaged'

export function readIndexRecord({ files, home }: Archive): IndexRecord | undefined {
  const path = join(home, FOLDER, NAME)
  const text = files.kind(path) === 'file' ? readWholeFile(files, path)?.toString('utf8') : undefined
  const value = asObject(parseJson(text ?? ''))
  const version = asNumber(value?.['version'])
  if (version === undefined) return undefined
  const mark = asString(value?.['mark'])
  const shards = asArray(value?.['shards'])
  return { version, ...(mark !== undefined && { mark }), ...(shards && { shards: shards.map(String) }) }
}

/** Said before the first byte changes, and true until `noteWritten`. */
export function noteWriting(archive: Archive): void {
  const now = readIndexRecord(archive)
  if (now?.version !== INDEX_VERSION || now.shards !== undefined) write(archive, { version: INDEX_VERSION })
}

/** All databases are closed and as they will be found. `mark`: see `IndexRecord`. */
export function noteWritten(archive: Archive, shards: readonly number[], mark: string | undefined): void {
  const stamps = shards.map((number) => stampOf(archive.home, number))
  write(archive, { version: INDEX_VERSION, ...(mark !== undefined && { mark }), shards: stamps })
}

function write({ files, home }: Archive, record: IndexRecord): void {
  try {
    ensureFolder(files, join(home, FOLDER))
    writeWhole(files, join(home, FOLDER), NAME, Buffer.from(`${JSON.stringify(record)}\n`))
  } catch (error) {
    throw fromSystemError(error, join(home, FOLDER, NAME))
  }
}

/** A writer may begin between the look at the record and the look at the database. */
const TRIES = 5

/** Whether a database is as it was left. While somebody writes, SQLite's own care is all there is. */
export function isAsLeft(archive: Archive, number: number): boolean {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const record = readIndexRecord(archive)
    if (record === undefined || record.version !== INDEX_VERSION) return false
    if (record.shards === undefined) return true
    if (record.shards[number] === stampOf(archive.home, number)) return true
  }
  return false
}

/** True when the index has all that the state knows, and is as it was left. Opens no database of the index. */
export async function isIndexed(archive: Archive): Promise<boolean> {
  const record = readIndexRecord(archive)
  if (record?.mark === undefined || !isUndamaged(archive, record)) return false
  const state = await peekState(archive)
  try {
    return state !== undefined && stateMark(state.database) === record.mark
  } finally {
    state?.close()
  }
}

export function isUndamaged({ files, home }: Archive, { version, shards }: IndexRecord): boolean {
  if (version !== INDEX_VERSION || shards === undefined || shards.length === 0) return false
  const isReported = files.list(join(home, FOLDER)).some((name) => name.endsWith(DAMAGED))
  return !isReported && shards.every((stamp, number) => stamp === stampOf(home, number))
}

/** Size and time of change, of the database and of what SQLite has written beside it. */
function stampOf(home: string, number: number): string {
  const path = shardPath(home, number)
  return [path, `${path}-wal`]
    .map((one) => {
      const stat = fs.statSync(one, { throwIfNoEntry: false, bigint: true })
      // A reader may leave a log without a byte.
      return stat === undefined || stat.size === 0n ? '' : `${stat.size}:${stat.mtimeNs}`
    })
    .join(' ')
}
