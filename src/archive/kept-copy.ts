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
export async function* readFrom(
  files: Files,
  { fd, path, identity }: Opened,
  from: number,
): AsyncGenerator<Buffer> {
  for (let at = from; at < identity.size;) {
    const buffer = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, identity.size - at))
    let length: number
    try {
      length = readFully(files, fd, buffer, at)
    } catch (error) {
      throw fromSystemError(error, path)
    }
    if (length === 0) return
    yield buffer.subarray(0, length)
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

/** A copy of the source as it is now: without moving a byte where the file system can. Gives its size. */
export async function copyNew(files: Files, path: string, from: Opened, modified: number): Promise<number> {
  if (!files.clone(from.fd, from.path, path)) return writeNew(files, path, readFrom(files, from, 0), modified)
  try {
    const fd = files.openAppend(path, 'old')
    try {
      files.datasync(fd)
      files.setModified(fd, modified)
      return files.size(fd)
    } finally {
      files.close(fd)
    }
  } catch (error) {
    removeQuietly(files, path)
    throw error
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
