/**
 * Bytes that wait outside of memory: in a file without a name, unreadable without a key that nobody but this process has ever had. It is
 * gone with the process, however that ends, and a disk that still has its blocks tells nobody what they said.
 */
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { openNameless } from '../journal/nameless.ts'
import { wouldFill } from '../sources/disk.ts'
import { blockSize, createSealing } from './sealing.ts'

export type Spill = {
  /**
   * Where it lies; undefined when there is no room for it. It can be had from there at once, and `bytes` are the caller's again: what is
   * still on its way to the disk, or never gets there, is held here. `done` says when it is on its way no more.
   */
  write(bytes: Uint8Array, done: () => void): Extent | undefined
  /** As many bytes as were written, into the beginning of a block that is the caller's. */
  read(extent: Extent, into: Uint8Array, done: (isThere: boolean) => void): void
  /** The same for whoever cannot wait. */
  writeNow(bytes: Uint8Array): Extent | undefined
  readNow(extent: Extent, into: Uint8Array): boolean
  /** What lies there is not wanted any more, and nobody reads it. */
  free(extent: Extent): void
  /** Bytes in memory of what is written. */
  readonly held: () => number
}

/** `isWriting`: its room may not be given to others. */
type Sealed = { readonly bytes: Buffer; isWriting: boolean; isFree: boolean }

export type Extent = {
  readonly from: number
  readonly length: number
  /** Of all that was ever written: no two are encrypted alike. */
  readonly serial: number
}

/** Bytes on the disk: who is this far behind does not come back. */
const MOST = 2 * 1024 * 1024 * 1024
/** A file that has been longer than this is given back when nothing is in it. */
const WORTH_KEEPING = 16 * 1024 * 1024
/** Milliseconds until a disk that failed is tried again: it may have been full for a moment. */
const REST = 10_000

/** `folder`: on the disk where what is recorded goes. */
export function createSpill(folder: string, most = MOST, rest = REST): Spill {
  const sealing = createSealing()
  const free = new Map<number, number[]>()
  let fd: number | undefined
  let brokenUntil = 0
  let end = 0
  let serials = 0
  let inUse = 0
  /** By serial, encrypted: what is not on the disk. */
  const sealed = new Map<number, Sealed>()
  let held = 0

  const broken = (): undefined => {
    brokenUntil = performance.now() + rest
    return undefined
  }
  const find = (length: number): { readonly file: number; readonly extent: Extent } | undefined => {
    if (performance.now() < brokenUntil) return undefined
    const size = blockSize(length)
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
    return { file: fd, extent: { from, length, serial: serials } }
  }
  const unseal = ({ serial, length }: Extent): void => {
    const one = sealed.get(serial)
    if (one === undefined) return
    sealed.delete(serial)
    sealing.give(one.bytes)
    held -= length
  }
  const giveBack = (extent: Extent): void => {
    unseal(extent)
    inUse -= 1
    if (inUse > 0) {
      const size = blockSize(extent.length)
      const others = free.get(size)
      if (others === undefined) free.set(size, [extent.from])
      else others.push(extent.from)
      return
    }
    free.clear()
    if (end > WORTH_KEEPING) {
      if (fd !== undefined) fs.close(fd, () => {})
      fd = undefined
      sealing.clear()
    }
    end = 0
  }
  /** Of what has been read. */
  const open = ({ serial, length }: Extent, block: Buffer, isThere: boolean, into: Uint8Array): boolean => {
    if (isThere) sealing.open(serial, block.subarray(0, length), into)
    sealing.give(block)
    return isThere
  }
  /** What has not been written is here. */
  const openHere = ({ serial, length }: Extent, into: Uint8Array): boolean => {
    const here = sealed.get(serial)
    if (here !== undefined) sealing.open(serial, here.bytes.subarray(0, length), into)
    return here !== undefined
  }
  return {
    write(bytes, done) {
      const found = find(bytes.length)
      if (found === undefined) return undefined
      const { file, extent } = found
      const one: Sealed = { bytes: sealing.seal(extent.serial, bytes), isWriting: true, isFree: false }
      sealed.set(extent.serial, one)
      held += extent.length
      fs.write(file, one.bytes, 0, extent.length, extent.from, (error, written) => {
        one.isWriting = false
        if (error === null && written === extent.length) unseal(extent)
        else broken()
        if (one.isFree) giveBack(extent)
        done()
      })
      return extent
    },
    read(extent, into, done) {
      if (openHere(extent, into)) return process.nextTick(done, true)
      if (fd === undefined) return done(false)
      const block = sealing.block(extent.length)
      return fs.read(fd, block, 0, extent.length, extent.from, (error, length) =>
        done(open(extent, block, error === null && length === extent.length, into)),
      )
    },
    writeNow(bytes) {
      const found = find(bytes.length)
      if (found === undefined) return undefined
      const { file, extent } = found
      const block = sealing.seal(extent.serial, bytes)
      let written = 0
      try {
        written = fs.writeSync(file, block, 0, extent.length, extent.from)
      } catch {
        // A disk that fails: it is not there.
      }
      sealing.give(block)
      if (written === extent.length) return extent
      // Or the file would never be empty, and a disk that is full would not have it back.
      giveBack(extent)
      return broken()
    },
    readNow(extent, into) {
      if (openHere(extent, into)) return true
      if (fd === undefined) return false
      const block = sealing.block(extent.length)
      let length = 0
      try {
        length = fs.readSync(fd, block, 0, extent.length, extent.from)
      } catch {
        // A disk that fails: it is not there.
      }
      return open(extent, block, length === extent.length, into)
    },
    free(extent) {
      const here = sealed.get(extent.serial)
      if (here?.isWriting === true) here.isFree = true
      else giveBack(extent)
    },
    held: () => held,
  }
}
