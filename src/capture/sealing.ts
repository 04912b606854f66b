/**
 * Bytes made unreadable to all but this process, and readable again. They lie in memory that is used again: blocks of many sizes that come
 * and go by the hundred leave as much unused between them as they take.
 */
import { createCipheriv, randomBytes } from 'node:crypto'
import { collectYoung } from '../sources/one-at-a-time.ts'

export type Sealing = {
  /** In a block that is to be given back. `serial`: of all that was ever sealed. */
  seal(serial: number, bytes: Uint8Array): Buffer
  open(serial: number, sealed: Uint8Array, into: Uint8Array): void
  /** At least as long; its content is anything. */
  block(length: number): Buffer
  give(block: Buffer): void
  /** Nobody has any of the blocks, and nobody may need them soon. */
  clear(): void
}

const SMALLEST = 16 * 1024
/** Longer ones are rare, and more than should lie about unused: the system takes them back whole. */
const LONGEST_KEPT = 256 * 1024
/** At a time: the cipher takes new memory for each, which is small enough to be found again. */
const STEP = 16 * 1024
/** Bytes turned until what is left of it is let go: V8 does not count it with its own. */
const COLLECT_BYTES = 2 * 1024 * 1024

export function createSealing(): Sealing {
  const key = randomBytes(16)
  const blocks = new Map<number, Buffer[]>()
  let turned = 0

  const block = (length: number): Buffer => {
    const size = blockSize(length)
    return blocks.get(size)?.pop() ?? Buffer.allocUnsafeSlow(size)
  }
  /** Encrypted, or what was: the same in both directions. */
  const turn = (serial: number, bytes: Uint8Array, into: Uint8Array): void => {
    const counter = Buffer.alloc(16)
    counter.writeDoubleBE(serial)
    const cipher = createCipheriv('aes-128-ctr', key, counter)
    for (let at = 0; at < bytes.length; at += STEP)
      into.set(cipher.update(bytes.subarray(at, Math.min(at + STEP, bytes.length))), at)
    turned += bytes.length
    if (turned < COLLECT_BYTES) return
    turned = 0
    collectYoung()
  }
  return {
    seal(serial, bytes) {
      const into = block(bytes.length)
      turn(serial, bytes, into)
      return into
    },
    open: turn,
    block,
    give(own) {
      if (own.length > LONGEST_KEPT) return
      const others = blocks.get(own.length)
      if (others === undefined) blocks.set(own.length, [own])
      else others.push(own)
    },
    clear: () => blocks.clear(),
  }
}

/** Of few sizes: what is given back fits what comes. */
export function blockSize(length: number): number {
  let size = SMALLEST
  while (size < length) size *= 2
  return size
}
