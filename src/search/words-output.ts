/**
 * Where terms are written: bytes of UTF-8 that grow, with a space after each term. Whoever writes reserves first, once for a whole
 * text, so that writing a byte asks nothing.
 */

export type Output = {
  bytes: Buffer
  end: number
  /** Nothing was written since the last break between texts. */
  broken: boolean
  isAscii: boolean
}

/** Stands between texts of one document, so that no phrase runs from one into the next. No text has it as a term. */
export const BREAK = '¶'
const BREAK_CODE = 0xb6
const BREAK_BYTES = 3

/** More than this is rare, and no reason to hold on to so much memory. */
const KEEP_BYTES = 4 << 20

/**
 * Letters without a separator beyond this are no identifier but a blob (base64, hex): it is not taken apart, and its beginning
 * stands for it. Bytes of UTF-8.
 */
export const LONGEST_WORD = 80
export const KEPT_OF_LONG = 48

export function createOutput(): Output {
  return { bytes: Buffer.allocUnsafe(1024), end: 0, broken: true, isAscii: true }
}

export function reserve(output: Output, more: number): void {
  if (output.end + more <= output.bytes.length) return
  const bytes = Buffer.allocUnsafe((output.end + more) * 2)
  output.bytes.copy(bytes, 0, 0, output.end)
  output.bytes = bytes
}

export function writeCharacter(output: Output, codePoint: number): void {
  const { bytes } = output
  if (codePoint < 0x80) {
    bytes[output.end++] = codePoint
    return
  }
  output.isAscii = false
  if (codePoint < 0x800) bytes[output.end++] = 0xc0 | (codePoint >> 6)
  else {
    if (codePoint < 0x10000) bytes[output.end++] = 0xe0 | (codePoint >> 12)
    else {
      bytes[output.end++] = 0xf0 | (codePoint >> 18)
      bytes[output.end++] = 0x80 | ((codePoint >> 12) & 0x3f)
    }
    bytes[output.end++] = 0x80 | ((codePoint >> 6) & 0x3f)
  }
  bytes[output.end++] = 0x80 | (codePoint & 0x3f)
}

export function endTerm(output: Output): void {
  output.bytes[output.end++] = 0x20
  output.broken = false
}

/** A break, when anything was written since the last one. */
export function endText(output: Output): void {
  if (output.broken) return
  reserve(output, 64)
  writeCharacter(output, BREAK_CODE)
  endTerm(output)
  output.broken = true
}

/** What was written since the last time, without a break at its end. */
export function takeText(output: Output): string {
  const end = endOf(output)
  const text = output.bytes.toString(output.isAscii ? 'latin1' : 'utf8', 0, end)
  clear(output)
  return text
}

/** Both as one list, the wholes after a break. Good until the next term is written. */
export function takeBytes(parts: Output, wholes: Output): Uint8Array {
  const length = endOf(parts)
  const more = endOf(wholes)
  parts.end = length
  reserve(parts, more + 64)
  const { bytes } = parts
  if (more > 0) {
    writeCharacter(parts, BREAK_CODE)
    bytes[parts.end++] = 0x20
    wholes.bytes.copy(bytes, parts.end, 0, more)
  }
  const list = bytes.subarray(0, parts.end + more)
  clear(parts)
  clear(wholes)
  return list
}

function endOf(output: Output): number {
  return output.broken && output.end > 0 ? output.end - BREAK_BYTES : output.end
}

function clear(output: Output): void {
  output.end = 0
  output.broken = true
  output.isAscii = true
  if (output.bytes.length > KEEP_BYTES) output.bytes = Buffer.allocUnsafe(1024)
}

/** The parts written since `first`, as one: without the spaces, and only the beginning. */
export function cutLong(parts: Output, first: number): void {
  const { bytes } = parts
  let to = first
  for (let from = first; from < parts.end && to - first < KEPT_OF_LONG; from += 1) {
    if (bytes[from] !== 0x20) bytes[to++] = bytes[from] as number
  }
  // No character is cut in two: back to the first byte of one, unless the last is whole.
  let lead = to - 1
  while (lead > first && ((bytes[lead] as number) & 0xc0) === 0x80) lead -= 1
  if ((bytes[lead] as number) >= 0x80 && lead + sizeOf(bytes[lead] as number) !== to) to = lead
  parts.end = to
}

export function writeWhole(wholes: Output, parts: Output, first: number): void {
  const { bytes } = wholes
  let to = wholes.end
  for (let from = first; from < parts.end; from += 1) {
    const byte = parts.bytes[from] as number
    if (byte !== 0x20) bytes[to++] = byte
  }
  wholes.end = to
  wholes.isAscii &&= parts.isAscii
  endTerm(wholes)
}

/** How many bytes a character has, by its first. */
export function sizeOf(lead: number): number {
  return lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
}
