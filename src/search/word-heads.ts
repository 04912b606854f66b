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
export function cutWords(bytes: Uint8Array, length: number, found: Found): number {
  const { heads, mores, hashes, starts, ends } = found
  const view = new DataView(bytes.buffer, bytes.byteOffset, length)
  const whole = length - SHORT
  let count = 0
  let at = 0
  // Four bytes at a time: a word ends where the first of them is a space, and the processor need not guess where that is.
  while (at <= whole) {
    const start = at
    const head = view.getInt32(at, true)
    const inHead = spacesIn(head)
    if (inHead !== 0) {
      const size = sizeBefore(inHead)
      at += size + 1
      if (size === 0) continue
      const own = head & ((1 << (size << 3)) - 1)
      heads[count] = own
      mores[count] = 0
      hashes[count] = hashOf(own, 0)
    } else {
      const more = view.getInt32(at + 4, true)
      const inMore = spacesIn(more)
      if (inMore === 0) {
        at = cutLong(bytes, start, length, found, count) + 1
        count += 1
        continue
      }
      const size = sizeBefore(inMore)
      at += size + 5
      const own = more & ((1 << (size << 3)) - 1)
      heads[count] = head
      mores[count] = own
      hashes[count] = hashOf(head, own)
    }
    starts[count] = start
    ends[count] = at - 1
    count += 1
  }
  // What is left may have fewer bytes than are looked at above.
  for (; at < length; at += 1) {
    if (bytes[at] === SPACE) continue
    at = cutLong(bytes, at, length, found, count)
    count += 1
  }
  return count
}

/** A word of any length, byte by byte. Says where it ends. */
function cutLong(
  bytes: Uint8Array,
  start: number,
  length: number,
  { heads, mores, hashes, starts, ends }: Found,
  count: number,
): number {
  let head = 0
  let more = 0
  let at = start
  for (; at < length && at - start < SHORT; at += 1) {
    const byte = bytes[at] as number
    if (byte === SPACE) break
    if (at - start < 4) head |= byte << ((at - start) << 3)
    else more |= byte << ((at - start - 4) << 3)
  }
  let hash = hashOf(head, more)
  if (at - start === SHORT) {
    for (; at < length && bytes[at] !== SPACE; at += 1)
      if (at - start < LONGEST) hash = Math.imul(hash ^ (bytes[at] as number), PRIME)
    if (at - start > SHORT) hash = (hash ^ (hash >>> 15)) | 1
  }
  heads[count] = head
  mores[count] = more
  hashes[count] = hash
  starts[count] = start
  ends[count] = at - start > LONGEST ? start + LONGEST : at
  return at
}

/** Of four bytes, a bit in each from the first that is a space on; what is set after the first says nothing. */
function spacesIn(four: number): number {
  const zeros = four ^ 0x2020_2020
  return (zeros - 0x0101_0101) & ~zeros & 0x8080_8080
}

/** How many bytes are before the first. */
function sizeBefore(spaces: number): number {
  return (31 - Math.clz32(spaces & -spaces)) >> 3
}

export function hashOf(head: number, more: number): number {
  const hash = Math.imul(Math.imul(head, 0x9e37_79b1) ^ more, 0x85eb_ca6b)
  return hash ^ (hash >>> 15)
}
