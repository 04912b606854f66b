/**
 * Bytes that wait outside of memory: in a file without a name, unreadable without a key that nobody but this process has ever had. It is
 * gone with the process, however that ends, and a disk that still has its blocks tells nobody what they said.
 */
import { createCipheriv, randomBytes, type Cipher } from 'node:crypto'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { wouldFill } from '../sources/disk.ts'
import { collectYoung } from '../sources/one-at-a-time.ts'

export type Spill = {
  /** Where it lies once `done` says that it does; undefined when there is no room for it. */
  write(bytes: Uint8Array, done: (isThere: boolean) => void): Place | undefined
  read(place: Place, done: (bytes: Buffer | undefined) => void): void
  /** The same for whoever cannot wait. */
  writeNow(bytes: Uint8Array): Place | undefined
  readNow(place: Place): Buffer | undefined
  /** What lies there is not wanted any more, and nothing is under way with it. */
  free(place: Place): void
}

export type Place = {
  readonly from: number
  readonly length: number
  /** Of all that was ever written: no two are encrypted alike. */
  readonly serial: number
}

/** Bytes on the disk: who is this far behind does not come back. */
const MOST = 2 * 1024 * 1024 * 1024
const SMALLEST = 16 * 1024
/** A file that has been longer than this is given back when nothing is in it. */
const WORTH_KEEPING = 16 * 1024 * 1024
/** Bytes turned until what is left of it is let go: each time takes new memory, which V8 does not count with its own. */
const COLLECT_BYTES = 2 * 1024 * 1024

/** `folder`: on the disk where what is recorded goes. */
export function createSpill(folder: string, most = MOST): Spill {
  const key = randomBytes(16)
  const free = new Map<number, number[]>()
  let fd: number | undefined
  let isBroken = false
  let end = 0
  let serials = 0
  let inUse = 0
  /** Used again: what is read is encrypted, and of no use to anybody. */
  const scratch: Buffer[] = []
  let turnedBytes = 0

  const broken = (): undefined => {
    isBroken = true
    return undefined
  }
  const find = (length: number): { readonly file: number; readonly place: Place } | undefined => {
    if (isBroken) return undefined
    const size = sizeOf(length)
    const known = free.get(size)?.pop()
    try {
      if (known === undefined && (end + size > most || wouldFill(folder, size))) return undefined
      fd ??= openNameless(folder) ?? openNameless(tmpdir())
    } catch {
      return undefined
    }
    if (fd === undefined) return broken()
    const from = known ?? end
    if (known === undefined) end += size
    serials += 1
    inUse += 1
    return { file: fd, place: { from, length, serial: serials } }
  }
  const turn = (place: Place, bytes: Uint8Array): Buffer => {
    turnedBytes += bytes.length
    if (turnedBytes > COLLECT_BYTES) {
      turnedBytes = 0
      collectYoung()
    }
    return turned(key, place, bytes)
  }
  const scratchOf = (length: number): Buffer => {
    const known = scratch.pop()
    return known !== undefined && known.length >= length ? known : Buffer.allocUnsafeSlow(sizeOf(length))
  }
  return {
    write(bytes, done) {
      const found = find(bytes.length)
      if (found === undefined) return undefined
      const { file, place } = found
      fs.write(file, turn(place, bytes), 0, place.length, place.from, (error, written) => {
        const isThere = error === null && written === place.length
        if (!isThere) broken()
        done(isThere)
      })
      return place
    },
    read(place, done) {
      if (fd === undefined) return done(undefined)
      const into = scratchOf(place.length)
      return fs.read(fd, into, 0, place.length, place.from, (error, length) => {
        const isThere = error === null && length === place.length
        const bytes = isThere ? turn(place, into.subarray(0, length)) : undefined
        scratch.push(into)
        done(bytes)
      })
    },
    writeNow(bytes) {
      const found = find(bytes.length)
      if (found === undefined) return undefined
      const { file, place } = found
      try {
        const written = fs.writeSync(file, turn(place, bytes), 0, place.length, place.from)
        return written === place.length ? place : broken()
      } catch {
        return broken()
      }
    },
    readNow(place) {
      try {
        const into = scratchOf(place.length)
        const length = fd === undefined ? 0 : fs.readSync(fd, into, 0, place.length, place.from)
        const bytes = length === place.length ? turn(place, into.subarray(0, length)) : undefined
        scratch.push(into)
        return bytes
      } catch {
        return undefined
      }
    },
    free({ from, length }) {
      inUse -= 1
      if (inUse > 0) {
        const size = sizeOf(length)
        const others = free.get(size)
        if (others === undefined) free.set(size, [from])
        else others.push(from)
        return
      }
      free.clear()
      if (fd !== undefined && end > WORTH_KEEPING) {
        fs.close(fd, () => {})
        fd = undefined
      }
      end = 0
    },
  }
}

/** Of few sizes: what is freed fits what comes. */
function sizeOf(length: number): number {
  let size = SMALLEST
  while (size < length) size *= 2
  return size
}

/** Undefined where no file can be made, or where it cannot lose its name. */
function openNameless(folder: string): number | undefined {
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

/** Encrypted, or what was: the same in both directions. */
function turned(key: Buffer, { serial }: Place, bytes: Uint8Array): Buffer {
  const counter = Buffer.alloc(16)
  counter.writeDoubleBE(serial)
  const cipher: Cipher = createCipheriv('aes-128-ctr', key, counter)
  return cipher.update(bytes)
}
