/** The time of a Claude-style line, in and out. */
import { parseInstant } from '../transcript/instant.ts'

/** An instant as these lines spell it: whole seconds without a fraction, else the digits that are known. */
export function toTimestamp(instant: string): string {
  return instant.endsWith('.000Z') ? `${instant.slice(0, 19)}Z` : instant
}

/** The instant a timestamp names; nearly all are in our own spelling and are taken as they are. */
export function fromTimestamp(text: string): string | undefined {
  return isCanonical(text) ? text : parseInstant(text)
}

const DIGITS = [0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18, 20, 21, 22] as const

/** `2025-12-09T14:30:22.123Z`, with every field in its range; false sends it the slow way. */
function isCanonical(text: string): boolean {
  // Lines of one minute follow each other.
  if (lastMinute !== undefined && text.length === 24 && text.startsWith(lastMinute))
    return isWithinMinute(text)
  const is = isSpelledOut(text)
  if (is) lastMinute = text.slice(0, 17)
  return is
}

/** The first characters of the last one that was spelled out. */
let lastMinute: string | undefined

function isWithinMinute(text: string): boolean {
  const isDigit = (at: number): boolean => text.charCodeAt(at) >= 0x30 && text.charCodeAt(at) <= 0x39
  if (!isDigit(17) || text.charCodeAt(17) > 0x35 || !isDigit(18) || text.charCodeAt(19) !== 0x2e) return false
  return isDigit(20) && isDigit(21) && isDigit(22) && text.charCodeAt(23) === 0x5a
}

function isSpelledOut(text: string): boolean {
  if (text.length !== 24 || text[0] !== '2' || text[10] !== 'T' || text[19] !== '.' || text[23] !== 'Z')
    return false
  if (text[4] !== '-' || text[7] !== '-' || text[13] !== ':' || text[16] !== ':') return false
  for (let i = 0; i < DIGITS.length; i += 1) {
    const code = text.charCodeAt(DIGITS[i] as number)
    if (code < 0x30 || code > 0x39) return false
  }
  const two = (at: number): number => (text.charCodeAt(at) - 0x30) * 10 + text.charCodeAt(at + 1) - 0x30
  const month = two(5)
  const day = two(8)
  const isInRange = month >= 1 && month <= 12 && day >= 1 && two(11) < 24 && two(14) < 60 && two(17) < 60
  return isInRange && (day <= 28 || (day <= 31 && new Date(text).toISOString() === text))
}
