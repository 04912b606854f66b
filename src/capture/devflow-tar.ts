/** A run's folder as a tar.gz, and back; and the hashes that show both are the same. */
import { createHash, randomBytes } from 'node:crypto'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { readChunks } from '../archive/bytes.ts'
import { readTar, tarEnd, tarHeader, tarPadding, type TarItem, type TarLimits } from '../archive/tar.ts'
import { HansardError, fromSystemError } from '../errors.ts'
import { writeAll } from '../journal/files.ts'
import { gunzip } from '../sources/gzip.ts'
import { filesBelow, runFolder, type StoreFiles } from './devflow-files.ts'

/** A run with its artifacts is some MB; what claims more than this is not unpacked. */
const LIMITS: TarLimits = { maxBytes: 4 * 1024 ** 3, maxFiles: 100_000 }

export async function packRun(store: StoreFiles, runId: string, target: string): Promise<void> {
  const { files } = store
  const temporary = join(dirname(target), `.${runId}.${randomBytes(4).toString('hex')}.tmp`)
  try {
    refuseLinks(store, dirname(target))
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

/** A link planted in the place of `archive` or of a month would lead the run elsewhere, and its folder would be removed. */
function refuseLinks({ files }: StoreFiles, month: string): void {
  for (const folder of [dirname(month), month]) {
    const kind = files.kind(folder)
    if (kind === undefined || kind === 'folder') continue
    throw new HansardError('unsafe-path', `${folder} is not a folder`, { hint: 'remove it first' })
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

export async function unpackRun(
  store: StoreFiles,
  path: string,
  runId: string,
  target: string,
): Promise<void> {
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
    for await (const item of readArchive(store, path)) {
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

export function hashFolder(store: StoreFiles, runId: string): Hashes {
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

export async function hashArchive(store: StoreFiles, path: string): Promise<Hashes> {
  const open = new Map<string, ReturnType<typeof createHash>>()
  let current: ReturnType<typeof createHash> | undefined
  for await (const item of readArchive(store, path)) {
    if (item.type === 'bytes') current?.update(item.bytes)
    else {
      current = createHash('sha256')
      open.set(item.entry.path, current)
    }
  }
  return new Map([...open].map(([path, hash]) => [path, hash.digest('hex')]))
}

export function sameFiles(a: Hashes, b: Hashes): boolean {
  return a.size === b.size && [...a].every(([path, hash]) => b.get(path) === hash)
}

/** What an archive holds, all of it or an error: one that breaks off is no archive. */
export function readArchive(store: StoreFiles, path: string): AsyncGenerator<TarItem> {
  return readTar(gunzipped(store, path), LIMITS)
}

async function* gunzipped({ files }: StoreFiles, path: string): AsyncGenerator<Buffer> {
  let broken: string | undefined
  const sizeBytes = files.identityAt(path)?.size ?? 0
  const stopped = (_: number, reason: string): void => {
    broken = reason
  }
  yield* gunzip(readChunks(files, path), { name: path, sizeBytes, stopped })
  if (broken !== undefined) throw new HansardError('not-a-transcript', `${path} is damaged: ${broken}`)
}
