/**
 * Follows the framing of a chunked body (RFC 9112 §7.1) as it passes, without taking it off: what of it is content, where it comes to a
 * chunk's end, and where to its own.
 */

export type Framing = {
  /**
   * How many of the bytes belong to the body: fewer than there are when it is over, or when what comes next is no framing. `content` gets
   * those of them that are no framing, chunk by chunk.
   */
  follow(bytes: Buffer, content: (part: Buffer) => void): number
  /** Between two chunks: what comes next can be read without what came before. */
  readonly isBetween: () => boolean
  readonly isOver: () => boolean
  /** A byte came that cannot stand where it does. Nothing behind it is followed. */
  readonly isBroken: () => boolean
}

/** Hexadecimal digits of a chunk's size: numbers are exact up to thirteen. */
const MOST_DIGITS = 13
const CR = 13
const LF = 10
const SEMICOLON = 59

type Within =
  | 'size'
  | 'extension'
  | 'size-end'
  | 'data'
  | 'data-cr'
  | 'data-lf'
  | 'trailer'
  | 'trailer-line'
  | 'end'
  | 'over'
  | 'broken'

export function createFraming(): Framing {
  let within: Within = 'size'
  let digits = 0
  let size = 0
  /** Bytes of the chunk that have not come. */
  let left = 0

  /** What one byte makes of it. */
  const step = (byte: number): Within => {
    switch (within) {
      case 'size': {
        const digit = toDigit(byte)
        if (digit !== undefined) {
          size = size * 16 + digit
          digits += 1
          return digits > MOST_DIGITS ? 'broken' : 'size'
        }
        if (digits === 0) return 'broken'
        return byte === CR ? 'size-end' : byte === SEMICOLON ? 'extension' : 'broken'
      }
      case 'extension':
        return byte === CR ? 'size-end' : byte === LF ? 'broken' : 'extension'
      case 'size-end':
        if (byte !== LF) return 'broken'
        left = size
        digits = size = 0
        return left === 0 ? 'trailer' : 'data'
      case 'data-cr':
        return byte === CR ? 'data-lf' : 'broken'
      case 'data-lf':
        return byte === LF ? 'size' : 'broken'
      case 'trailer':
        return byte === CR ? 'end' : 'trailer-line'
      case 'trailer-line':
        return byte === LF ? 'trailer' : 'trailer-line'
      case 'end':
        return byte === LF ? 'over' : 'broken'
      case 'data':
      case 'over':
      case 'broken':
        return within
    }
  }

  return {
    follow(bytes, content) {
      let at = 0
      while (at < bytes.length && within !== 'over' && within !== 'broken') {
        if (within === 'data') {
          const end = Math.min(at + left, bytes.length)
          content(bytes.subarray(at, end))
          left -= end - at
          at = end
          if (left === 0) within = 'data-cr'
          continue
        }
        within = step(bytes[at] as number)
        if (within !== 'broken') at += 1
      }
      return at
    },
    isBetween: () => within === 'size' && digits === 0,
    isOver: () => within === 'over',
    isBroken: () => within === 'broken',
  }
}

function toDigit(byte: number): number | undefined {
  if (byte >= 48 && byte <= 57) return byte - 48
  const letter = byte | 32
  return letter >= 97 && letter <= 102 ? letter - 87 : undefined
}
