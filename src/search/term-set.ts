/** Terms, each once: bytes in, bytes out, and nothing of what they were cut from is held. */
import { BREAK } from './words-output.ts'

export type TermSet = {
  /** Terms in UTF-8 with a space after each. False when there are more than it takes: then it is of no use any more. */
  add(list: Uint8Array): boolean
  /** All of them, in the same form. */
  bytes(): Uint8Array
}

/** Bytes of terms: SQLite takes up to a hundred for each, until it has sorted them. */
const MOST_BYTES = 2 << 20

const SPACE = 0x20
const PRIME = 0x0100_0193

export function createTermSet(most: number = MOST_BYTES): TermSet {
  let held = Buffer.allocUnsafe(1 << 14)
  let end = 0
  let count = 0
  /** By hash: one past where a term begins; 0 for none. */
  let table = new Int32Array(1 << 12)

  const isAt = (start: number, list: Uint8Array, from: number, to: number): boolean => {
    // With the space after it, so that none is taken for one that it begins.
    for (let at = from; at <= to; at += 1) if (held[start + at - from] !== list[at]) return false
    return true
  }
  const grow = (): void => {
    const larger = new Int32Array(table.length * 2)
    for (let start = 0; start < end;) {
      const to = held.indexOf(SPACE, start)
      let slot = hashOf(held, start, to) & (larger.length - 1)
      while (larger[slot] !== 0) slot = (slot + 1) & (larger.length - 1)
      larger[slot] = start + 1
      start = to + 1
    }
    table = larger
  }
  const addTerm = (list: Uint8Array, from: number, to: number): boolean => {
    let slot = hashOf(list, from, to) & (table.length - 1)
    for (let start = table[slot] as number; start !== 0; start = table[slot] as number) {
      if (isAt(start - 1, list, from, to)) return true
      slot = (slot + 1) & (table.length - 1)
    }
    const size = to - from + 1
    if (end + size > most) return false
    if (end + size > held.length) held = Buffer.concat([held.subarray(0, end)], (end + size) * 2)
    held.set(list.subarray(from, to + 1), end)
    table[slot] = end + 1
    end += size
    count += 1
    if (count * 2 > table.length) grow()
    return true
  }

  return {
    add(list) {
      let from = 0
      for (let at = 0; at < list.length; at += 1) {
        if (list[at] !== SPACE) continue
        if (!isBreak(list, from, at) && !addTerm(list, from, at)) return false
        from = at + 1
      }
      return true
    },
    bytes: () => held.subarray(0, end),
  }
}

/** What stands between texts, as bytes. */
const BREAK_BYTES = Buffer.from(BREAK)

function isBreak(list: Uint8Array, from: number, to: number): boolean {
  return (
    to - from === BREAK_BYTES.length && list[from] === BREAK_BYTES[0] && list[from + 1] === BREAK_BYTES[1]
  )
}

/** FNV-1a. */
function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = 0x811c_9dc5
  for (let at = from; at < to; at += 1) hash = Math.imul(hash ^ (bytes[at] as number), PRIME)
  return (hash ^ (hash >>> 15)) >>> 0
}
