/** Chunks and their times, one after the other in blocks of memory, of which those that are full may lie outside of it. */
import type { Extent, Spill } from '../spill.ts'

/** A chunk lies in its block from one place to another, and is good until this returns. */
export type Visit = (ms: number, block: Buffer, from: number, to: number) => void

export type Reel = {
  /** False when there is no room for it: then all of it is of no use. */
  add(chunk: Buffer, ms: number): boolean
  /** All of them, in order; false when some cannot be read again. */
  play(visit: Visit): boolean
  /** Gives all memory back. */
  clear(): void
}

/** What all reels share. */
export type Room = {
  readonly take: (bytes: number) => void
  readonly isFull: () => boolean
  /** Blocks for the next use. */
  readonly blocks: Buffer[]
  readonly spill?: Spill
}

/** Of a block: a stream's chunks are far smaller, and each by itself would take twice its size. */
const BLOCK = 16 * 1024
/** Blocks kept for the next use. */
const MOST_KEPT = 128
/** Time and length. */
const HEAD = 8 + 4

export function createReel({ take, isFull, blocks, spill }: Room): Reel {
  const full: (Buffer | Extent)[] = []
  let block: Buffer | undefined
  let used = 0

  /** Used again: one that has lived as long as these is given back late. */
  const give = (own: Buffer): void => {
    take(-own.buffer.byteLength)
    if (own.buffer.byteLength === BLOCK && blocks.length < MOST_KEPT) blocks.push(Buffer.from(own.buffer))
  }
  /** What is full goes outside while there is too much; false where it cannot. */
  const close = (): boolean => {
    if (block === undefined) return true
    const bytes = block.subarray(0, used)
    const extent = isFull() ? spill?.writeNow(bytes) : undefined
    full.push(extent ?? bytes)
    if (extent !== undefined) give(block)
    block = undefined
    return extent !== undefined || !isFull()
  }
  return {
    add(chunk, ms) {
      const size = HEAD + chunk.length
      if (block === undefined || used + size > block.length) {
        if (!close()) return false
        // The first is as long as its chunk: most answers that come whole are one.
        const length = Math.max(full.length > 0 ? BLOCK : 0, size)
        block = (length === BLOCK ? blocks.pop() : undefined) ?? Buffer.allocUnsafeSlow(length)
        used = 0
        take(block.length)
      }
      block.writeDoubleLE(ms, used)
      block.writeUInt32LE(chunk.length, used + 8)
      chunk.copy(block, used + HEAD)
      used += size
      return used < block.length || close()
    },
    play(visit) {
      for (const one of [...full, ...(block === undefined ? [] : [block.subarray(0, used)])]) {
        const bytes = Buffer.isBuffer(one) ? one : Buffer.allocUnsafeSlow(one.length)
        if (!Buffer.isBuffer(one) && spill?.readNow(one, bytes) !== true) return false
        for (let at = 0; at < bytes.length;) {
          const from = at + HEAD
          const to = from + bytes.readUInt32LE(at + 8)
          visit(bytes.readDoubleLE(at), bytes, from, to)
          at = to
        }
      }
      return true
    },
    clear() {
      for (const one of full) {
        if (Buffer.isBuffer(one)) give(one)
        else spill?.free(one)
      }
      full.length = 0
      if (block !== undefined) give(block)
      block = undefined
    },
  }
}
