/**
 * Runs put away: `archive/<YYYY-MM>/<runId>.tar.gz`, with every file of the run's folder under `<runId>/`.
 *
 * Promise: a run's folder goes only after its archive has been read back and holds every byte of it. What is restored came out of
 * a strict reader, appears under its name complete or not at all, and never replaces a run that is there.
 */
import { createHash, randomBytes } from 'node:crypto'
import fs from 'node:fs'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { readChunks } from '../archive/bytes.ts'
import { readTar, tarEnd, tarHeader, tarPadding, type TarLimits } from '../archive/tar.ts'
import { HansardError, fromSystemError, isHansardError } from '../errors.ts'
import { writeAll } from '../journal/files.ts'
import { fromMillis } from '../transcript/instant.ts'
import { gunzip } from '../sources/gzip.ts'
import { checkId, isSafeId } from '../transcript/ids.ts'
import {
  filesBelow,
  readMetadata,
  removeRun,
  runAlreadyExists,
  runExists,
  runFolder,
  runNotFound,
  type StoreFiles,
} from './devflow-files.ts'

export type ArchivedRun = {
  readonly runId: string
  /** `2025-01` */
  readonly month: string
  readonly path: string
  readonly sizeBytes: number
  readonly archivedAt: string
}

/** A run with its artifacts is some MB; what claims more than this is not unpacked. */
const LIMITS: TarLimits = { maxBytes: 4 * 1024 ** 3, maxFiles: 100_000 }

/** Archives a run and removes its folder. The caller has made sure that nobody is writing to it. */
export async function archiveRun(store: StoreFiles, runId: string): Promise<ArchivedRun> {
  if (!runExists(store, runId)) throw runNotFound(runId)
  const month = monthOf(store, runId)
  const target = join(store.base, 'archive', month, `${runId}.tar.gz`)
  const before = hashFolder(store, runId)
  if (store.files.kind(target) === undefined) await pack(store, runId, target)
  if (!sameFiles(before, await hashArchive(store, target))) {
    throw new HansardError('output-exists', `${target} does not hold run ${runId} as it is now`, {
      hint: 'the run is left in place; move the archive away and try again',
    })
  }
  // Somebody may have written to the run while it was packed: only what was seen twice the same is removed.
  if (!sameFiles(before, hashFolder(store, runId)))
    throw new HansardError('locked', `run ${runId} changed while it was archived`, {
      hint: 'try again when it has ended',
    })
  removeRun(store, runId)
  const { size, mtime } = fs.statSync(target)
  return { runId, month, path: target, sizeBytes: size, archivedAt: mtime.toISOString() }
}

/** Puts an archived run back. The archive stays. Throws `run-already-exists` or `run-not-found`. */
export async function restoreRun(store: StoreFiles, runId: string): Promise<void> {
  checkId(runId, 'run id')
  if (runExists(store, runId)) throw runAlreadyExists(runId)
  const archived = listArchives(store).findLast((one) => one.runId === runId)
  if (archived === undefined) throw runNotFound(runId)
  const aside = join(store.base, `.restoring-${runId}-${randomBytes(4).toString('hex')}`)
  try {
    store.files.makeFolder(aside)
    await unpack(store, archived.path, runId, aside)
    const target = runFolder(store, runId)
    store.files.makeFolder(dirname(target))
    if (runExists(store, runId)) throw runAlreadyExists(runId)
    store.files.rename(aside, target)
    store.files.syncFolder(dirname(target))
  } catch (error) {
    throw fromSystemError(error, archived.path)
  } finally {
    fs.rmSync(aside, { recursive: true, force: true })
  }
}

/** Oldest month first. */
export function listArchives({ base, files }: StoreFiles): readonly ArchivedRun[] {
  const root = join(base, 'archive')
  const found: ArchivedRun[] = []
  for (const month of files.list(root).sort()) {
    if (!MONTH.test(month) || files.kind(join(root, month)) !== 'folder') continue
    for (const name of files.list(join(root, month)).sort()) {
      const runId = name.endsWith('.tar.gz') ? name.slice(0, -'.tar.gz'.length) : ''
      const path = join(root, month, name)
      if (!isSafeId(runId) || files.kind(path) !== 'file') continue
      const { size, mtime } = fs.lstatSync(path)
      found.push({ runId, month, path, sizeBytes: size, archivedAt: mtime.toISOString() })
    }
  }
  return found
}

/** One small file out of an archive; undefined when it is not there or the archive cannot be read. */
export async function readArchived(
  store: StoreFiles,
  { path, runId }: ArchivedRun,
  name: string,
): Promise<Buffer | undefined> {
  try {
    let wanted = false
    const parts: Buffer[] = []
    for await (const item of readTar(gunzipped(store, path), LIMITS)) {
      if (item.type === 'file') wanted = item.entry.path === `${runId}/${name}`
      else if (wanted) parts.push(item.bytes)
    }
    return parts.length === 0 ? undefined : Buffer.concat(parts)
  } catch {
    return undefined
  }
}

const MONTH = /^\d{4}-(0[1-9]|1[0-2])$/

/** The id's own month where it begins with a date, else that of the run's end or start, else that of its newest file. */
function monthOf(store: StoreFiles, runId: string): string {
  if (/^\d{4}-\d{2}-\d{2}/.test(runId) && MONTH.test(runId.slice(0, 7))) return runId.slice(0, 7)
  const { startedAt, endedAt } = tryMetadata(store, runId) ?? {}
  const newest = Math.max(0, ...filesBelow(runFolder(store, runId)).map((file) => file.modifiedMs))
  return (endedAt ?? startedAt ?? fromMillis(newest) ?? '1970-01').slice(0, 7)
}

function tryMetadata(
  store: StoreFiles,
  runId: string,
): { readonly startedAt?: string; readonly endedAt?: string } | undefined {
  try {
    return readMetadata(store, runId)
  } catch (error) {
    if (isHansardError(error)) return undefined
    throw error
  }
}

async function pack(store: StoreFiles, runId: string, target: string): Promise<void> {
  const { files } = store
  const temporary = join(dirname(target), `.${runId}.${randomBytes(4).toString('hex')}.tmp`)
  try {
    files.makeFolder(dirname(target))
    const fd = files.openAppend(temporary, 'new')
    try {
      await pipeline(tarOf(store, runId), createGzip(), async (packed: AsyncIterable<Buffer>) => {
        for await (const chunk of packed) writeAll(files, fd, chunk)
      })
      files.datasync(fd)
    } finally {
      files.close(fd)
    }
    files.rename(temporary, target)
    files.syncFolder(dirname(target))
  } catch (error) {
    if (files.kind(temporary) === 'file') files.remove(temporary)
    throw fromSystemError(error, target)
  }
}

async function* tarOf(store: StoreFiles, runId: string): AsyncGenerator<Buffer> {
  const folder = runFolder(store, runId)
  for (const { path, sizeBytes, modifiedMs } of filesBelow(folder, { strict: true })) {
    yield tarHeader({ path: `${runId}/${path}`, sizeBytes, modified: modifiedMs / 1000 })
    let left = sizeBytes
    for await (const chunk of readChunks(store.files, join(folder, path))) {
      // A file that grows meanwhile must not push the next header out of place; the hashes will tell.
      const bytes = chunk.subarray(0, left)
      left -= bytes.length
      yield bytes
    }
    yield Buffer.alloc(left)
    yield tarPadding(sizeBytes)
  }
  yield tarEnd()
}

async function unpack(store: StoreFiles, path: string, runId: string, target: string): Promise<void> {
  const { files } = store
  let fd: number | undefined
  const close = (): void => {
    if (fd === undefined) return
    const open = fd
    fd = undefined
    try {
      files.datasync(open)
    } finally {
      files.close(open)
    }
  }
  try {
    for await (const item of readTar(gunzipped(store, path), LIMITS)) {
      if (item.type === 'bytes') {
        if (fd !== undefined) writeAll(files, fd, item.bytes)
        continue
      }
      close()
      if (!item.entry.path.startsWith(`${runId}/`))
        throw new HansardError('unsafe-path', `${path} holds a file that is not of run ${runId}`)
      const file = join(target, item.entry.path.slice(runId.length + 1))
      files.makeFolder(dirname(file))
      fd = files.openAppend(file, 'new')
    }
  } finally {
    close()
  }
}

type Hashes = ReadonlyMap<string, string>

function hashFolder(store: StoreFiles, runId: string): Hashes {
  const folder = runFolder(store, runId)
  const hashes = new Map<string, string>()
  for (const { path } of filesBelow(folder, { strict: true })) {
    const hash = createHash('sha256')
    const fd = store.files.openRead(join(folder, path))
    try {
      const buffer = Buffer.alloc(512 * 1024)
      for (let at = 0, length = -1; length !== 0; at += length) {
        length = store.files.read(fd, buffer, at)
        hash.update(buffer.subarray(0, length))
      }
    } finally {
      store.files.close(fd)
    }
    hashes.set(`${runId}/${path}`, hash.digest('hex'))
  }
  return hashes
}

async function hashArchive(store: StoreFiles, path: string): Promise<Hashes> {
  const open = new Map<string, ReturnType<typeof createHash>>()
  let current: ReturnType<typeof createHash> | undefined
  for await (const item of readTar(gunzipped(store, path), LIMITS)) {
    if (item.type === 'bytes') current?.update(item.bytes)
    else {
      current = createHash('sha256')
      open.set(item.entry.path, current)
    }
  }
  return new Map([...open].map(([path, hash]) => [path, hash.digest('hex')]))
}

function sameFiles(a: Hashes, b: Hashes): boolean {
  return a.size === b.size && [...a].every(([path, hash]) => b.get(path) === hash)
}

/** All of it or an error: an archive that breaks off is no archive. */
async function* gunzipped({ files }: StoreFiles, path: string): AsyncGenerator<Buffer> {
  let broken: string | undefined
  const sizeBytes = files.identityAt(path)?.size ?? 0
  const stopped = (_: number, reason: string): void => {
    broken = reason
  }
  yield* gunzip(readChunks(files, path), { name: path, sizeBytes, stopped })
  if (broken !== undefined) throw new HansardError('not-a-transcript', `${path} is damaged: ${broken}`)
}
