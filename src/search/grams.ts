/**
 * Which three bytes stand together somewhere in some texts, as a small set of bits: what is not in the set is in none of the texts.
 * So a text that is looked for within words, or between them, need not be looked for where its bytes are not. Texts are taken in
 * lower case. Pure; time is linear.
 */
import type { TextBytes } from './text-bytes.ts'
import { BYTE_LOWER, HALF, toLower } from './words-fold.ts'

export type GramSet = {
  add(texts: TextBytes): void
  /** The set of all that was added since the last time; undefined when that was nothing. */
  take(): Uint8Array | undefined
}

/** Every set is counted out over this many bits first, then folded to what it needs. */
const BITS = 65_536
/** A fifth of the bits are set then: of places that lack a text of eight bytes, one in ten thousand is looked at in vain. */
const BITS_A_GRAM = 4
const MOST_BYTES = 8192

export function createGramSet(): GramSet {
  // As bits, so that all of them are near while a text is gone over.
  const all = new Int32Array(BITS / 32)
  /** Those that are set. */
  const list = new Uint16Array(BITS)
  let count = 0
  const addBytes = (bytes: Uint8Array, start: number, end: number): void => {
    let gram =
      ((BYTE_LOWER[bytes[start] as number] as number) << 8) |
      (BYTE_LOWER[bytes[start + 1] as number] as number)
    for (let at = start + 2; at < end; at += 1) {
      gram = ((gram << 8) | (BYTE_LOWER[bytes[at] as number] as number)) & 0xff_ffff
      const bit = Math.imul(gram, 0x9e37_79b1) >>> 16
      const word = all[bit >>> 5] as number
      if (((word >>> (bit & 31)) & 1) === 1) continue
      all[bit >>> 5] = word | (1 << (bit & 31))
      list[count] = bit
      count += 1
    }
  }
  return {
    add({ bytes, starts, ends, isAscii }) {
      for (let nth = 0; nth < starts.length; nth += 1) {
        const start = starts[nth] as number
        const end = ends[nth] as number
        if (isAscii[nth] === true || isCaseless(bytes, start, end)) addBytes(bytes, start, end)
        else {
          const lower = Buffer.from(toSame(bytes.toString('utf8', start, end)))
          addBytes(lower, 0, lower.length)
        }
      }
    },
    take() {
      if (count === 0) return undefined
      const folded = new Uint8Array(Math.min(MOST_BYTES, Math.max(8, Math.ceil((count * BITS_A_GRAM) / 8))))
      for (let nth = 0; nth < count; nth += 1) {
        const bit = list[nth] as number
        const to = placeOf(bit, folded.length)
        folded[to >>> 3] = (folded[to >>> 3] as number) | (1 << (to & 7))
      }
      all.fill(0)
      count = 0
      return folded
    },
  }
}

/** By the first byte of a character: 1 where none that begins so has two cases (Han, kana, Hangul), 2 where the second byte tells. */
const CASELESS: Uint8Array = new Uint8Array(256).map((_, byte) => {
  if (byte < 0xc0 || (byte >= 0xe3 && byte <= 0xe9) || (byte >= 0xeb && byte <= 0xed)) return 1
  return byte === 0xe2 || byte === 0xf0 ? 2 : 0
})

/** False where a letter that is not ASCII may have another case, or be taken for another one. */
function isCaseless(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] as number
    if (byte < 0x80) continue
    const kind = CASELESS[byte]
    if (kind === 1) continue
    const second = bytes[at + 1] as number
    // Signs of printing, frames and pictures.
    const isSign = byte === 0xe2 ? second === 0x80 || (second >= 0x94 && second <= 0x9f) : second === 0x9f
    if (kind === 0 || !isSign) return false
  }
  return true
}

/** A set of any size has the places of the full one, in the same order, several of them in one. */
function placeOf(bit: number, bytes: number): number {
  return (bit * bytes * 8) >>> 16
}

/** True when the texts of a set may have what was asked for; false when they have not. */
export type GramTest = (set: Uint8Array) => boolean

/** Undefined for a text that is too short to tell, or that no text of whole characters has. */
export function gramTest(text: string): GramTest | undefined {
  if (HALF.test(text)) return undefined
  const bytes = Buffer.from(toSame(text))
  const bits = new Set<number>()
  for (let at = 2; at < bytes.length && bits.size < MOST_TESTED; at += 1) {
    const gram = ((bytes[at - 2] as number) << 16) | ((bytes[at - 1] as number) << 8) | (bytes[at] as number)
    bits.add(Math.imul(gram, 0x9e37_79b1) >>> 16)
  }
  if (bits.size === 0) return undefined
  const asked = [...bits]
  return (set) =>
    asked.every((bit) => {
      const at = placeOf(bit, set.length)
      return ((set[at >>> 3] as number) & (1 << (at & 7))) !== 0
    })
}

const MOST_TESTED = 64

/** One text for all that a search without case takes for the same; patterns with the flags `iu` take a long s for an s. */
export function toSame(text: string): string {
  return toLower(text).replaceAll('ſ', 's')
}
