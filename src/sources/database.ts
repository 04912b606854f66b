/**
 * Another program's SQLite database, read without changing a byte of it, leaving a file beside it, or keeping that
 * program from writing. What cannot be read where it is, is copied to a private folder and read there. Damage is
 * reported, and what is whole is given.
 */
import { constants, statSync } from 'node:fs'
import fs from 'node:fs/promises'
import os from 'node:os'
import { join } from 'node:path'
import { fromSystemError, HansardError, isHansardError, messageOf } from '../errors.ts'
import { type Database, openDatabase } from '../sqlite/driver.ts'
import { isDamagedDatabase } from '../sqlite/errors.ts'
import type { SourceDatabase } from '../transcript/source.ts'
import { type Reported, readTables } from '../sqlite/database-rows.ts'

/** Nothing else runs while SQLite waits, so it does not wait long: then the copy is read. */
const BUSY_MS = 250
const COPY_ATTEMPTS = 5
const HEADER_BYTES = 100
/** The last bytes of a rollback journal that names another file, which rolling back would delete. */
const JOURNAL_MAGIC = Buffer.from('d9d505f920a163d7', 'hex')

/** The database at a path that is known to be a regular file. Throws `locked`, `not-permitted` or `disk-full`. */
export async function openSourceDatabase(path: string, report: Reported): Promise<SourceDatabase> {
  const place = await inspect(path)
  if (place.cutOff) {
    report('torn', 'the database ends before its last page')
    return openCopy(report, (folder) => copyWhole(path, folder).then(closeOff))
  }
  if (!place.needsCopy) {
    const opened = await openWhereItIs(path, place, report)
    if (opened !== undefined) return opened
  }
  return openCopy(report, (folder) => copyWhole(path, folder))
}

/** The same for bytes that are no file: an entry of an archive, a blob of a repository. */
export function openUnpackedDatabase(
  bytes: AsyncIterable<Buffer>,
  log: AsyncIterable<Buffer> | undefined,
  report: Reported,
): Promise<SourceDatabase> {
  return openCopy(report, async (folder) => {
    const copy = join(folder, 'copy.db')
    await unpack(bytes, copy)
    if (log !== undefined) await unpack(log, `${copy}-wal`)
    return copy
  })
}

type Place = {
  readonly cutOff: boolean
  readonly needsCopy: boolean
  readonly mode: 'read-only' | 'immutable'
  /** What shows that an immutable one was written after all. */
  readonly stamp: string
}

async function inspect(path: string): Promise<Place> {
  const [stamp, log, shared, journal, header] = await Promise.all([
    stampOf(path),
    sizeOf(`${path}-wal`),
    sizeOf(`${path}-shm`),
    sizeOf(`${path}-journal`),
    readHead(path, HEADER_BYTES),
  ])
  const bytes = (await fs.stat(path)).size
  // Opening for reading would make the missing -shm (and -wal) in the other program's folder, and leave them there.
  const needsCopy = (log > 0 && shared < 0) || journal > 0
  const mode = writesLog(header) && shared < 0 ? 'immutable' : 'read-only'
  const cutOff = log <= 0 && journal <= 0 && bytes < declaredBytes(header)
  return { cutOff, needsCopy, mode, stamp }
}

/** Bytes 18 and 19 of the header are 2 for a database that writes a log first. */
function writesLog(header: Buffer): boolean {
  return header[18] === 2 || header[19] === 2
}

/** Pages times their size; 0 when the header does not say (bytes 24 and 92 are the same when it does). */
function declaredBytes(header: Buffer): number {
  if (header.length < HEADER_BYTES || !header.subarray(24, 28).equals(header.subarray(92, 96))) return 0
  return header.readUInt32BE(28) * pageBytes(header)
}

function pageBytes(header: Buffer): number {
  const stated = header.readUInt16BE(16)
  return stated === 1 ? 65_536 : Math.max(512, stated)
}

/** SQLite refuses a database that is shorter than it says. The copy says what it has, so that the rest can be read. */
async function closeOff(copy: string): Promise<string> {
  const header = await readHead(copy, HEADER_BYTES)
  const pages = Math.floor((await sizeOf(copy)) / pageBytes(header))
  const handle = await fs.open(copy, 'r+')
  try {
    const count = Buffer.alloc(4)
    count.writeUInt32BE(pages)
    await handle.write(count, 0, 4, 28)
    await handle.truncate(pages * pageBytes(header))
  } finally {
    await handle.close()
  }
  return copy
}

async function openWhereItIs(
  path: string,
  { mode, stamp }: Place,
  report: Reported,
): Promise<SourceDatabase | undefined> {
  let database: Database | undefined
  try {
    database = await openDatabase(path, { mode, busyMs: BUSY_MS })
    const { size } = await fs.stat(path)
    // Of one that is new, all may stand in its log.
    const log = Math.max(0, await sizeOf(`${path}-wal`))
    const whole = (): boolean => mode !== 'immutable' || stampNow(path) === stamp
    return readTables(database, { sizeBytes: size + log, whole, report, closed: async () => {} })
  } catch (error) {
    database?.close()
    if (isDamagedDatabase(error)) return damaged(error, report)
    return undefined
  }
}

async function openCopy(
  report: Reported,
  fill: (folder: string) => Promise<string>,
): Promise<SourceDatabase> {
  const folder = await fs.mkdtemp(join(os.tmpdir(), 'hansard-db-'))
  const closed = (): Promise<void> =>
    fs.rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => {})
  let database: Database | undefined
  try {
    const copy = await fill(folder)
    // For writing, so that the log beside the copy is taken in; then never written again.
    database = await openDatabase(copy, { mode: 'read-write', busyMs: BUSY_MS })
    const { size } = await fs.stat(copy)
    const log = Math.max(0, await sizeOf(`${copy}-wal`))
    return readTables(database, { sizeBytes: size + log, whole: () => true, report, closed })
  } catch (error) {
    database?.close()
    await closed()
    if (isDamagedDatabase(error)) return damaged(error, report)
    throw isHansardError(error) ? error : fromSystemError(error, folder)
  }
}

/** Copies until nothing moved meanwhile: a copy of two moments would be a database that never was. */
async function copyWhole(path: string, folder: string): Promise<string> {
  const copy = join(folder, 'copy.db')
  for (let attempt = 0; attempt < COPY_ATTEMPTS; attempt += 1) {
    const before = await momentOf(path)
    await copyFile(path, copy)
    for (const beside of ['-wal', '-journal']) {
      await fs.rm(copy + beside, { force: true })
      if ((await sizeOf(path + beside)) > 0) await copyFile(path + beside, copy + beside)
    }
    if ((await momentOf(path)) === before) {
      await refuseNamedFiles(`${copy}-journal`, path)
      return copy
    }
    await new Promise((resolve) => setTimeout(resolve, 50 * (attempt + 1)))
  }
  throw new HansardError('locked', `${path} is written all the time by another program`, {
    hint: 'run the command again when that program is done',
  })
}

/** A log only grows until it starts again with another head, so its growth does no harm; a journal's end does. */
async function momentOf(path: string): Promise<string> {
  const head = await readHead(`${path}-wal`, 32)
  return [await stampOf(path), head.toString('hex'), (await sizeOf(`${path}-journal`)) > 0].join(' ')
}

async function refuseNamedFiles(journal: string, path: string): Promise<void> {
  const bytes = await sizeOf(journal)
  if (bytes < 8) return
  const handle = await fs.open(journal)
  try {
    const { buffer } = await handle.read(Buffer.alloc(8), 0, 8, bytes - 8)
    if (!buffer.equals(JOURNAL_MAGIC)) return
  } finally {
    await handle.close()
  }
  throw new HansardError(
    'locked',
    `${path} waits for its own program to finish a change over several files`,
    {
      hint: 'start that program once, then run the command again',
    },
  )
}

async function damaged(error: unknown, report: Reported): Promise<SourceDatabase> {
  report(
    'not-an-entry',
    `the database cannot be read: ${messageOf(isHansardError(error) ? error.cause : error)}`,
  )
  return { tables: () => [], columns: () => [], key: () => [], async *rows() {}, close: async () => {} }
}

async function unpack(bytes: AsyncIterable<Buffer>, to: string): Promise<void> {
  const handle = await fs.open(to, 'wx', 0o600)
  try {
    for await (const chunk of bytes) await handle.writeFile(chunk)
  } catch (error) {
    throw fromSystemError(error, to)
  } finally {
    await handle.close()
  }
}

async function copyFile(from: string, to: string): Promise<void> {
  try {
    await fs.copyFile(from, to, constants.COPYFILE_FICLONE)
    await fs.chmod(to, 0o600)
  } catch (error) {
    throw fromSystemError(error, from)
  }
}

/** Size of a regular file; -1 for anything else, links included. */
async function sizeOf(path: string): Promise<number> {
  const stat = await fs.lstat(path).catch(() => undefined)
  return stat?.isFile() === true ? stat.size : -1
}

async function stampOf(path: string): Promise<string> {
  return stampNow(path)
}

/** Looked at once for each batch: a few microseconds, where a promise of it would be many times that. */
function stampNow(path: string): string {
  try {
    const { ino, size, mtimeNs } = statSync(path, { bigint: true })
    return [ino, size, mtimeNs].join('-')
  } catch (error) {
    throw fromSystemError(error, path)
  }
}

async function readHead(path: string, bytes: number): Promise<Buffer> {
  if ((await sizeOf(path)) <= 0) return Buffer.alloc(0)
  const handle = await fs.open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch(() => undefined)
  if (handle === undefined) return Buffer.alloc(0)
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(bytes), 0, bytes, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}
