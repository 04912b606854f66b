/**
 * Records of six words that are too many for memory, on disk in files that are sorted by their first two: found by reading one block of
 * each. Files of like length become one, so that there are few. They have no names, and go with the process.
 */
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { fromSystemError, HansardError } from '../errors.ts'
import { openNameless, readNameless, writeNameless } from '../journal/nameless.ts'

/** Two words that name a record, and four that it holds. */
export const WORDS = 6

export type HashFiles = {
  /** Puts records away, over those of the same name before. `order`: where each begins in `words`, sorted by their names. */
  add(words: Uint32Array, order: ArrayLike<number>): void
  /** Copies what the record of this name holds, as it was put away last; false when there is none. */
  find(high: number, low: number, into: Uint32Array): boolean
  close(): void
}

const RECORD_BYTES = WORDS * 4
/** Records that are read at a time to find one. */
const BLOCK = 128
/** Records that are read or written at a time when files become one: 384 KB. */
const TOGETHER = 16 * 1024

export function createHashFiles(folder: string = tmpdir()): HashFiles {
  /** The oldest, which is the longest, first. */
  const files: Sorted[] = []
  const block = wordsOf(BLOCK)

  const merge = (): void => {
    const [older, newer] = files.splice(-2) as [Sorted, Sorted]
    try {
      files.push(writeSorted(folder, (put) => putMerged(older, newer, put)))
    } finally {
      for (const { fd } of [older, newer]) fs.closeSync(fd)
    }
  }
  return {
    add(words, order) {
      const all = (put: Put): void => {
        for (let n = 0; n < order.length; n += 1) put(words, order[n] as number)
      }
      files.push(writeSorted(folder, all))
      while (files.length > 1 && lengthAt(files, -2) < 2 * lengthAt(files, -1)) merge()
    },
    find(high, low, into) {
      for (let n = files.length - 1; n >= 0; n -= 1) {
        const file = files[n] as Sorted
        const at = blockOf(file, high, low) * BLOCK
        if (at < 0) continue
        const count = read(file, at, block)
        const found = indexIn(block.words, count, high, low)
        if (found === -1) continue
        into.set(block.words.subarray(found + 2, found + WORDS))
        return true
      }
      return false
    },
    close() {
      for (const { fd } of files.splice(0)) fs.closeSync(fd)
    },
  }
}

/** `firsts`: the name of the first record of each block, as two words. */
type Sorted = { readonly fd: number; readonly count: number; readonly firsts: Uint32Array }

/** Words, and the bytes that they are. */
type Words = { readonly words: Uint32Array; readonly bytes: Uint8Array }

function wordsOf(records: number): Words {
  const words = new Uint32Array(records * WORDS)
  return { words, bytes: new Uint8Array(words.buffer) }
}

type Put = (words: Uint32Array, at: number) => void

/** `fill` puts records in it, one after the other. */
function writeSorted(folder: string, fill: (put: Put) => void): Sorted {
  const fd = openNameless(folder)
  if (fd === undefined) throw new HansardError('io', `no file can be made in ${folder}`)
  const held = wordsOf(TOGETHER)
  let firsts = new Uint32Array(1024)
  let count = 0
  let written = 0
  const flush = (bytes: number): void => {
    writeNameless(fd, held.bytes.subarray(0, bytes), written)
    written += bytes
  }
  const first = (high: number, low: number): void => {
    const at = (count / BLOCK) * 2
    if (at === firsts.length) {
      const longer = new Uint32Array(firsts.length * 2)
      longer.set(firsts)
      firsts = longer
    }
    firsts[at] = high
    firsts[at + 1] = low
  }
  try {
    fill((words, at) => {
      if (count % BLOCK === 0) first(words[at] as number, words[at + 1] as number)
      const to = (count % TOGETHER) * WORDS
      for (let n = 0; n < WORDS; n += 1) held.words[to + n] = words[at + n] as number
      count += 1
      if (count % TOGETHER === 0) flush(held.bytes.length)
    })
    flush((count % TOGETHER) * RECORD_BYTES)
    return { fd, count, firsts: firsts.slice(0, Math.ceil(count / BLOCK) * 2) }
  } catch (error) {
    fs.closeSync(fd)
    // Not the disk that the archive is on.
    throw fromSystemError(error, folder)
  }
}

/** What both have, is as the newer has it. */
function putMerged(older: Sorted, newer: Sorted, put: Put): void {
  const [a, b] = [readerOf(older), readerOf(newer)]
  while (a.has() && b.has()) {
    const order = compare(a, b)
    if (order >= 0) put(b.words, b.at)
    else put(a.words, a.at)
    if (order <= 0) a.next()
    if (order >= 0) b.next()
  }
  for (const rest of [a, b]) for (; rest.has(); rest.next()) put(rest.words, rest.at)
}

type Reader = { readonly words: Uint32Array; at: number; has(): boolean; next(): void }

function readerOf(file: Sorted): Reader {
  const held = wordsOf(TOGETHER)
  let passed = 0
  let count = read(file, 0, held)
  return {
    words: held.words,
    at: 0,
    has: () => count > 0,
    next() {
      this.at += WORDS
      if (this.at < count * WORDS) return
      passed += count
      count = read(file, passed, held)
      this.at = 0
    },
  }
}

function compare(a: Reader, b: Reader): number {
  const high = (a.words[a.at] as number) - (b.words[b.at] as number)
  return high === 0 ? (a.words[a.at + 1] as number) - (b.words[b.at + 1] as number) : high
}

/** Records from the one with this number on; how many there are of them. */
function read({ fd, count }: Sorted, from: number, into: Words): number {
  const bytes = Math.min(into.bytes.length, (count - from) * RECORD_BYTES)
  readNameless(fd, into.bytes.subarray(0, bytes), from * RECORD_BYTES)
  return bytes / RECORD_BYTES
}

/** The last block that begins with this name or one before it; -1 for none. */
function blockOf({ firsts }: Sorted, high: number, low: number): number {
  return lastUpTo(firsts, 2, firsts.length / 2, high, low)
}

/** Where the record begins; -1 for none. */
function indexIn(words: Uint32Array, count: number, high: number, low: number): number {
  const at = lastUpTo(words, WORDS, count, high, low) * WORDS
  return at >= 0 && words[at] === high && words[at + 1] === low ? at : -1
}

/** Of `count` names, one every `width` words, the number of the last that is not after this one. */
function lastUpTo(words: Uint32Array, width: number, count: number, high: number, low: number): number {
  let [from, to] = [0, count]
  while (from < to) {
    const middle = (from + to) >>> 1
    const own = words[middle * width] as number
    const isAfter = own === high ? (words[middle * width + 1] as number) > low : own > high
    if (isAfter) to = middle
    else from = middle + 1
  }
  return from - 1
}

function lengthAt(files: readonly Sorted[], at: number): number {
  return files.at(at)?.count ?? 0
}
