/**
 * What every kept row last was, in 24 bytes each: tells whether a row is new or changed without holding it. A row is taken for
 * unchanged only when 128 bits of SHA-256 agree; two names that share 64 bits cost a row written twice, never one lost. Of more than
 * a million and a half rows, most are on disk.
 */
import { createHash, hash } from 'node:crypto'
import { hashWords } from '../transcript/text-hash.ts'
import { createHashFiles, WORDS, type HashFiles } from './hash-files.ts'

export type RowHashes = {
  /** Notes the row as it is now, by the hash of what it holds; false when it was the same before. */
  note(name: string, hashed: string): boolean
  /** How often this content was counted, this time included. */
  count(content: string): number
  /** Lets go of what is on disk. */
  close(): void
}

/** Slots begin few and double when three quarters are full. */
const FIRST_SLOTS = 256
/** No more of them, which are 50 MB: what they hold is put away then, and they begin anew. */
const MOST_SLOTS = 2 ** 21

/** 128 bits, as 16 characters of a byte each: a buffer for every row is what collecting garbage would take longest for. */
export function hashOf(text: string | Buffer): string {
  return hash('sha256', text, 'binary').slice(0, 16)
}

/** The same of a text in pieces. */
export function hashOfPieces(pieces: Iterable<string | Buffer>): string {
  const whole = createHash('sha256')
  for (const piece of pieces) whole.update(piece)
  return whole.digest('binary').slice(0, 16)
}

export function toHex(hashed: string): string {
  return Buffer.from(hashed, 'latin1').toString('hex')
}

export function createRowHashes(mostSlots: number = MOST_SLOTS): RowHashes {
  let words = new Uint32Array(FIRST_SLOTS * WORDS)
  let size = 0
  let away: HashFiles | undefined
  /** What was found of one that is put away. */
  const found = new Uint32Array(WORDS - 2)

  /** Where the name stands, or the empty slot where it would. */
  const find = (high: number, low: number): number => {
    const slots = words.length / WORDS
    let slot = low & (slots - 1)
    for (;;) {
      const at = slot * WORDS
      if ((words[at] === high && words[at + 1] === low) || (words[at] === 0 && words[at + 1] === 0)) return at
      slot = (slot + 1) & (slots - 1)
    }
  }

  /** An empty slot was taken, and holds what it is to hold. */
  const took = (): void => {
    size += 1
    if (size * 4 * WORDS <= words.length * 3) return
    if (words.length < mostSlots * WORDS) grow()
    else putAway()
  }

  const grow = (): void => {
    const before = words
    words = new Uint32Array(before.length * 2)
    for (let at = 0; at < before.length; at += WORDS) {
      if (before[at] === 0) continue
      words.set(before.subarray(at, at + WORDS), find(before[at] as number, before[at + 1] as number))
    }
  }

  const putAway = (): void => {
    away ??= createHashFiles()
    away.add(words, sorted(words, size))
    words.fill(0)
    size = 0
  }

  return {
    note(name, now) {
      const [first, low] = hashWords(name)
      // An empty slot is all zeros: no name may look like one.
      const high = first || 1
      const at = find(high, low)
      if (words[at] !== 0) return write(words, at + 2, now)
      if (away?.find(high, low, found) === true && !write(found, 0, now)) return false
      words[at] = high
      words[at + 1] = low
      write(words, at + 2, now)
      took()
      return true
    },
    count(content) {
      const [high, low] = [wordAt(content, 0) || 1, wordAt(content, 4)]
      const at = find(high, low)
      if (words[at] !== 0) return (words[at + 2] = (words[at + 2] as number) + 1)
      const before = away?.find(high, low, found) === true ? (found[0] as number) : 0
      words[at] = high
      words[at + 1] = low
      words[at + 2] = before + 1
      took()
      return before + 1
    },
    close() {
      away?.close()
      away = undefined
    },
  }
}

/** True when it was something else. */
function write(words: Uint32Array, at: number, now: string): boolean {
  let isSame = true
  for (let word = 0; word < 4; word += 1) {
    const part = wordAt(now, word * 4)
    isSame &&= words[at + word] === part
    words[at + word] = part
  }
  return !isSame
}

/** Where each of so many records begins, by their names. */
function sorted(words: Uint32Array, size: number): Float64Array {
  const slots = words.length / WORDS
  const order = new Float64Array(size)
  let count = 0
  for (let slot = 0; slot < slots; slot += 1) {
    const high = words[slot * WORDS] as number
    // One number of both, which is sorted without a function: fewer than 2 ** 21 slots leave all of a word to the name.
    if (high !== 0) order[count++] = high * slots + slot
  }
  order.sort()
  for (let n = 0; n < size; n += 1) {
    const at = ((order[n] as number) % slots) * WORDS
    // Those that share the first word are few: each goes before those with a higher second one.
    let to = n
    for (; to > 0 && isAfter(words, order[to - 1] as number, at); to -= 1) order[to] = order[to - 1] as number
    order[to] = at
  }
  return order
}

function isAfter(words: Uint32Array, a: number, b: number): boolean {
  return words[a] === words[b] && (words[a + 1] as number) > (words[b + 1] as number)
}

function wordAt(hashed: string, at: number): number {
  const low = hashed.charCodeAt(at) | (hashed.charCodeAt(at + 1) << 8)
  return (low | (hashed.charCodeAt(at + 2) << 16) | (hashed.charCodeAt(at + 3) << 24)) >>> 0
}
