/**
 * Some KB of a file, read without promises: to tell what a file is, handing the work to other threads would take several times as long as
 * the work. Never waits for anybody: what is no regular file, a pipe for one, is not read.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { fromSystemError, HansardError } from '../errors.ts'

/** Opens a regular file for as long as `use` takes. `follow`: the path may be a link. */
export function useAtOnce<T>(
  path: string,
  { follow }: { readonly follow: boolean },
  use: (fd: number, sizeBytes: number) => T,
): T {
  try {
    const fd = openSync(path, readOnly(follow))
    try {
      const stat = fstatSync(fd)
      if (stat.isFile()) return use(fd, stat.size)
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    throw fromSystemError(error, path)
  }
  throw notRegular(path)
}

/** The text of a regular file, also behind a link. Throws `too-large` for one over `limit` bytes. */
export function readSmallFile(path: string, limit: number): string {
  return useAtOnce(path, { follow: true }, (fd, sizeBytes) => {
    const bytes = readAt(fd, 0, Math.min(sizeBytes, limit) + 1)
    if (bytes.length > limit) throw new HansardError('too-large', `${path} is over ${limit} bytes`)
    return bytes.toString('utf8')
  })
}

/** As many of the bytes as there are. */
export function readAt(fd: number, offset: number, length: number): Buffer {
  if (offset < 0 || length <= 0 || !Number.isSafeInteger(offset + length)) return Buffer.alloc(0)
  const bytes = Buffer.allocUnsafe(length)
  return bytes.subarray(0, readSync(fd, bytes, 0, length, offset))
}

/** O_NONBLOCK: a pipe put in the file's place since it was listed must not hang the open. */
export function readOnly(follow: boolean): number {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  return O_RDONLY | (O_NONBLOCK ?? 0) | (follow ? 0 : (O_NOFOLLOW ?? 0))
}

export function notRegular(path: string): HansardError {
  return new HansardError('unsafe-path', `${path} is no longer a regular file`)
}
