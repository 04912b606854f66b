/** Bytes of the archive's own files: whole for small ones, in chunks for the rest. No symbolic link is followed. */
import { fromSystemError } from '../errors.ts'
import type { Files } from '../journal/files.ts'

const CHUNK_BYTES = 512 * 1024

/** The file's bytes, or undefined when there is no such file. Throws for one that is there and may not be read. */
export function readWholeFile(files: Files, path: string): Buffer | undefined {
  if (files.kind(path) !== 'file') return undefined
  const fd = files.openRead(path)
  try {
    const bytes = Buffer.alloc(files.size(fd))
    let length = 0
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = files.read(fd, bytes.subarray(length), length)
    }
    return bytes.subarray(0, length)
  } finally {
    files.close(fd)
  }
}

/** The file in chunks, as it is now: what is appended meanwhile is read too. */
export async function* readChunks(files: Files, path: string): AsyncGenerator<Buffer> {
  let fd: number
  try {
    fd = files.openRead(path)
  } catch (error) {
    throw fromSystemError(error, path)
  }
  try {
    for (let at = 0; ;) {
      const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES)
      const length = files.read(fd, chunk, at)
      if (length === 0) return
      at += length
      yield chunk.subarray(0, length)
    }
  } finally {
    files.close(fd)
  }
}
