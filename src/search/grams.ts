/**
 * Which three bytes stand together somewhere in some texts, as a small set of bits: what is not in the set is in none of the texts.
 * So a text that is looked for within words, or between them, need not be looked for where its bytes are not. Texts are taken in
 * lower case. Pure; time is linear.
 */
import { toLower } from './words-fold.ts'

export type GramSet = {
  add(text: string): void
  /** The set of all that was added since the last time; undefined when that was nothing. */
  take(): Uint8Array | undefined
}

/** Every set is counted out over this many bits first, then folded to what it needs. */
const BITS = 65_536
/** A fifth of the bits are set then: of places that lack a text of eight bytes, one in ten thousand is looked at in vain. */
const BITS_A_GRAM = 4
const MOST_BYTES = 8192

export function createGramSet(): GramSet {
  const all = new Uint8Array(BITS)
  let count = 0
  let bytes = Buffer.allocUnsafe(4096)
  return {
    add(text) {
      const lower = toSame(text)
      if (bytes.length < lower.length * 3) bytes = Buffer.allocUnsafe(lower.length * 3)
      const length = bytes.write(lower)
      let gram = ((bytes[0] as number) << 8) | (bytes[1] as number)
      for (let at = 2; at < length; at += 1) {
        gram = ((gram << 8) | (bytes[at] as number)) & 0xff_ffff
        const bit = Math.imul(gram, 0x9e37_79b1) >>> 16
        if (all[bit] !== 0) continue
        all[bit] = 1
        count += 1
      }
      if (bytes.length > KEEP_BYTES) bytes = Buffer.allocUnsafe(4096)
    },
    take() {
      if (count === 0) return undefined
      const folded = new Uint8Array(Math.min(MOST_BYTES, Math.max(8, Math.ceil((count * BITS_A_GRAM) / 8))))
      for (let bit = all.indexOf(1); bit !== -1; bit = all.indexOf(1, bit + 1)) {
        const to = placeOf(bit, folded.length)
        folded[to >>> 3] = (folded[to >>> 3] as number) | (1 << (to & 7))
      }
      all.fill(0)
      count = 0
      return folded
    },
  }
}

const KEEP_BYTES = 4 << 20

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
/** Half of a character, which no text is written with. */
const HALF = /\p{Cs}/u

/** One text for all that a search without case takes for the same; patterns with the flags `iu` take a long s for an s. */
function toSame(text: string): string {
  return toLower(text).replaceAll('ſ', 's')
}
