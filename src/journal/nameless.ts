/** A file without a name, for what a process cannot hold in memory: it is gone with the process, however that ends. */
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import { join } from 'node:path'
import { HansardError } from '../errors.ts'

/** Its descriptor, for reading and writing. Undefined where no file can be made, or where it cannot lose its name. */
export function openNameless(folder: string): number | undefined {
  const path = join(folder, `waiting-${randomBytes(8).toString('hex')}`)
  try {
    const fd = fs.openSync(path, 'wx+', 0o600)
    try {
      fs.unlinkSync(path)
      return fd
    } catch {
      fs.closeSync(fd)
      fs.rmSync(path, { force: true })
    }
  } catch {
    // Somewhere else, or not at all.
  }
  return undefined
}

/** All of the bytes, from this place on. */
export function writeNameless(fd: number, bytes: Uint8Array, from: number): void {
  for (let at = 0; at < bytes.length;) at += fs.writeSync(fd, bytes, at, bytes.length - at, from + at)
}

/** As many bytes as there is room for, from this place on. Throws `io` where the file has become shorter. */
export function readNameless(fd: number, into: Uint8Array, from: number): void {
  for (let at = 0; at < into.length;) {
    const length = fs.readSync(fd, into, at, into.length - at, from + at)
    if (length === 0) throw new HansardError('io', 'a file that waits has become shorter')
    at += length
  }
}
