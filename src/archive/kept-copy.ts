/** A source's bytes into a file of ours: whole as of a moment, private, on disk before anyone may rely on it. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fromSystemError } from '../errors.ts'
import { writeAll, type FileIdentity, type Files } from '../journal/files.ts'
import { CHUNK_BYTES, readFully } from './kept-content.ts'

/** A source that is open for reading, and what it was when it was opened. */
export type Opened = { readonly fd: number; readonly path: string; readonly identity: FileIdentity }

/** Regular files only, never through a link: `unsafe-path`, `not-permitted` or `not-found` for all else. */
export function openFrom(files: Files, path: string): Opened {
  try {
    const fd = files.openRead(path)
    return { fd, path, identity: files.identity(fd) }
  } catch (error) {
    throw fromSystemError(error, path)
  }
}

/**
 * From an offset up to the size that the source had when it was opened: what is written meanwhile is the next sync's. A source
 * that was cut off meanwhile ends earlier. Other work gets its turn after each chunk.
 */
export async function* readFrom(files: Files, opened: Opened, from: number): AsyncGenerator<Buffer> {
  const { size } = opened.identity
  for (let at = from; at < size;) {
    const chunk = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, size - at))
    const length = readSource(files, opened, chunk, at)
    if (length === 0) return
    yield chunk.subarray(0, length)
    at += length
    if (length === CHUNK_BYTES) await nextTurn()
  }
}

/** A new file of the chunks, synced. Removed again when anything fails. Gives the bytes written. */
export async function writeNew(
  files: Files,
  path: string,
  chunks: AsyncIterable<Buffer>,
  modified: number | undefined,
): Promise<number> {
  let written = 0
  const fd = files.openAppend(path, 'new')
  try {
    try {
      for await (const chunk of chunks) {
        writeAll(files, fd, chunk)
        written += chunk.length
      }
      files.datasync(fd)
      if (modified !== undefined) files.setModified(fd, modified)
    } finally {
      files.close(fd)
    }
  } catch (error) {
    removeQuietly(files, path)
    throw error
  }
  return written
}

/** What was copied: how many bytes, and the last of them, as many as were asked for. */
export type Copied = { readonly bytes: number; readonly tail?: Buffer }

type CopyOptions = {
  readonly modified: number
  /** How many of its last bytes are wanted; they are given where they are at hand. */
  readonly tail: number
}

/** A copy of the source as it is now: without moving a byte where the file system can. */
export async function copyNew(
  files: Files,
  path: string,
  from: Opened,
  { modified, tail }: CopyOptions,
): Promise<Copied> {
  const isCloned = files.clone(from.fd, from.path, path)
  const opened = isCloned ? undefined : files.openAppend(path, 'new')
  try {
    const fd = opened ?? files.openAppend(path, 'old')
    try {
      const copied = isCloned ? undefined : await copyBytes(files, fd, from, tail)
      files.datasync(fd)
      files.setModified(fd, modified)
      return copied ?? { bytes: files.size(fd) }
    } finally {
      files.close(fd)
    }
  } catch (error) {
    removeQuietly(files, path)
    throw error
  }
}

/** For all copies in turn: what is read is written before anything else runs. */
let buffer: Buffer | undefined

async function copyBytes(files: Files, fd: number, from: Opened, tail: number): Promise<Copied> {
  const { size } = from.identity
  for (let at = 0; at < size;) {
    buffer ??= Buffer.allocUnsafeSlow(CHUNK_BYTES)
    const part = buffer.subarray(0, Math.min(CHUNK_BYTES, size - at))
    const length = readSource(files, from, part, at)
    if (length === 0) return { bytes: at }
    writeAll(files, fd, part.subarray(0, length))
    at += length
    if (at >= size && (length >= tail || length === at))
      return { bytes: at, tail: Buffer.from(part.subarray(Math.max(0, length - tail), length)) }
    if (length === CHUNK_BYTES) await nextTurn()
  }
  return { bytes: size }
}

function readSource(files: Files, { fd, path }: Opened, into: Buffer, at: number): number {
  try {
    return readFully(files, fd, into, at)
  } catch (error) {
    throw fromSystemError(error, path)
  }
}

/** What could not be written is why we are here: that is what is to be said. */
export function removeQuietly(files: Files, path: string): void {
  try {
    if (files.kind(path) === 'file') files.remove(path)
  } catch {
    // The next one who writes here removes what is left.
  }
}
