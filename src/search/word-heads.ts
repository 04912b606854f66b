/** A list of words cut into each of them, with the first bytes of each as numbers, by which most words are told from all others. */

export const SPACE = 0x20
const PRIME = 0x0100_0193
/** FTS5 leaves out what is beyond. */
const LONGEST = 32_768

/** Bytes of words that are told by their slot alone. */
export const SHORT = 8

/** Words of a text, before they are looked up. */
export type Found = {
  readonly heads: Int32Array
  readonly mores: Int32Array
  readonly hashes: Int32Array
  readonly starts: Int32Array
  readonly ends: Int32Array
}

export function createFound(most: number): Found {
  const numbers = (): Int32Array => new Int32Array(most)
  return { heads: numbers(), mores: numbers(), hashes: numbers(), starts: numbers(), ends: numbers() }
}

/** Says how many there are. No byte of a word is 0. */
export function cutWords(
  bytes: Uint8Array,
  length: number,
  { heads, mores, hashes, starts, ends }: Found,
): number {
  let count = 0
  for (let at = 0; at < length; at += 1) {
    const start = at
    let head = 0
    let more = 0
    let byte = bytes[at] as number
    while (byte !== SPACE) {
      // The last four, and the four before them.
      more = (more << 8) | byte
      at += 1
      if (at - start === 4) {
        head = more
        more = 0
      } else if (at - start === SHORT) break
      byte = at < length ? (bytes[at] as number) : SPACE
    }
    if (at === start) continue
    if (at - start < 4) {
      head = more
      more = 0
    }
    let hash = hashOf(head, more)
    let end = at
    if (at - start === SHORT) {
      for (; at < length && bytes[at] !== SPACE; at += 1)
        if (at - start < LONGEST) hash = Math.imul(hash ^ (bytes[at] as number), PRIME)
      end = at - start > LONGEST ? start + LONGEST : at
      if (at - start > SHORT) hash = (hash ^ (hash >>> 15)) | 1
    }
    heads[count] = head
    mores[count] = more
    hashes[count] = hash
    starts[count] = start
    ends[count] = end
    count += 1
  }
  return count
}

export function hashOf(head: number, more: number): number {
  const hash = Math.imul(Math.imul(head, 0x9e37_79b1) ^ more, 0x85eb_ca6b)
  return hash ^ (hash >>> 15)
}
