/**
 * What every kept row last was, in 24 bytes each: tells whether a row is new or changed without holding it. A row is taken for
 * unchanged only when 128 bits of SHA-256 agree; two names that share 64 bits cost a row written twice, never one lost.
 */
import { createHash, hash } from 'node:crypto'
import { hashWords } from '../transcript/text-hash.ts'

export type RowHashes = {
  /** Notes the row as it is now, by the hash of what it holds; false when it was the same before. */
  note(name: string, hashed: string): boolean
  /** How often this content was counted, this time included. */
  count(content: string): number
}

/** Two words of a name's hash, four of the content's. */
const WORDS = 6
/** Slots begin few and double when three quarters are full. */
const FIRST_SLOTS = 256

/** 128 bits, as 16 characters of a byte each: a buffer for every row is what collecting garbage would take longest for. */
export function hashOf(text: string | Buffer): string {
  return hash('sha256', text, 'binary').slice(0, 16)
}

/** The same of a text in parts. */
export function hashOfParts(parts: readonly string[]): string {
  if (!isLong(parts)) return hashOf(parts.join(''))
  const whole = createHash('sha256')
  for (const part of parts) whole.update(part)
  return whole.digest('binary').slice(0, 16)
}

/** In characters: a text that is not put together from its parts, for it would be there twice. */
const LONG = 1024 * 1024

export function isLong(parts: readonly string[]): boolean {
  let length = 0
  for (const part of parts) length += part.length
  return length > LONG
}

export function toHex(hashed: string): string {
  return Buffer.from(hashed, 'latin1').toString('hex')
}

export function createRowHashes(): RowHashes {
  let words = new Uint32Array(FIRST_SLOTS * WORDS)
  let size = 0

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

  const take = (first: number, low: number): number => {
    // An empty slot is all zeros: no name may look like one.
    const high = first || 1
    const at = find(high, low)
    if (words[at] !== 0) return at
    words[at] = high
    words[at + 1] = low
    size += 1
    if (size * 4 * WORDS <= words.length * 3) return at
    grow()
    return find(high, low)
  }

  const grow = (): void => {
    const before = words
    words = new Uint32Array(before.length * 2)
    for (let at = 0; at < before.length; at += WORDS) {
      if (before[at] === 0) continue
      words.set(before.subarray(at, at + WORDS), find(before[at] as number, before[at + 1] as number))
    }
  }

  return {
    note(name, now) {
      const [high, low] = hashWords(name)
      const at = take(high, low)
      let isSame = true
      for (let word = 0; word < 4; word += 1) {
        const part = wordAt(now, word * 4)
        isSame &&= words[at + 2 + word] === part
        words[at + 2 + word] = part
      }
      return !isSame
    },
    count(content) {
      const at = take(wordAt(content, 0), wordAt(content, 4)) + 2
      words[at] = (words[at] as number) + 1
      return words[at]
    },
  }
}

function wordAt(hashed: string, at: number): number {
  const low = hashed.charCodeAt(at) | (hashed.charCodeAt(at + 1) << 8)
  return (low | (hashed.charCodeAt(at + 2) << 16) | (hashed.charCodeAt(at + 3) << 24)) >>> 0
}
