/** Numbers as SQLite writes them: seven bits a byte, the highest first; of those that are negative all sixty-four. */

/** The most bytes that one takes. */
export const MOST_VARINT = 9

/** A whole number of at least 0. Says where it ends. */
export function putVarint(bytes: Uint8Array, at: number, value: number): number {
  if (value < 0x80) {
    bytes[at] = value
    return at + 1
  }
  if (value < 0x4000) {
    bytes[at] = (value >> 7) | 0x80
    bytes[at + 1] = value & 0x7f
    return at + 2
  }
  let size = 3
  for (let most = 0x20_0000; value >= most; most *= 0x80) size += 1
  let rest = value
  for (let to = at + size - 1; to >= at; to -= 1) {
    bytes[to] = (rest % 0x80) | (to === at + size - 1 ? 0 : 0x80)
    rest = Math.floor(rest / 0x80)
  }
  return at + size
}

/** The same of a number that may be negative. */
export function putSigned(bytes: Uint8Array, at: number, value: number): number {
  if (value >= 0) return putVarint(bytes, at, value)
  let rest = BigInt.asUintN(64, BigInt(value))
  bytes[at + 8] = Number(rest & 0xffn)
  rest >>= 8n
  for (let to = at + 7; to >= at; to -= 1) {
    bytes[to] = Number(rest & 0x7fn) | 0x80
    rest >>= 7n
  }
  return at + 9
}

export function sizeOfVarint(bytes: Uint8Array, at: number): number {
  let size = 1
  while (size < MOST_VARINT && (bytes[at + size - 1] as number) >= 0x80) size += 1
  return size
}

/** All of them, one after the other, none of them negative; undefined where the last is cut off. */
export function readVarints(bytes: Uint8Array): number[] | undefined {
  const found: number[] = []
  let value = 0
  let isOpen = false
  for (const byte of bytes) {
    value = value * 0x80 + (byte & 0x7f)
    isOpen = byte >= 0x80
    if (isOpen) continue
    found.push(value)
    value = 0
  }
  return isOpen ? undefined : found
}
