/**
 * Instants are ISO 8601 strings in UTC with 3, 6 or 9 digits of fraction: `2025-12-09T14:30:22.123456Z`.
 * What a file says in another spelling is read into this one without losing precision.
 */

const SPELLING =
  /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2})?)(?:[.,](\d{1,9})\d*)?\s?(Z|z|[+-]\d{2}:?\d{2}(?:Z)?)?$/

/** Go's zero time, which `omitempty` does not omit: it means "absent". */
const GO_ZERO = '0001-01-01T00:00:00'

/**
 * The instant a text names, or undefined. Takes `Z`, offsets, a space for the `T`, microseconds and nanoseconds, and the
 * invalid but common `+00:00Z`. A text without an offset is taken as UTC.
 */
export function parseInstant(text: unknown): string | undefined {
  if (typeof text === 'number') return fromMillis(text)
  if (typeof text !== 'string' || text.startsWith(GO_ZERO)) return undefined
  const match = SPELLING.exec(text)
  if (!match) return undefined
  const [, date, time = '', digits = '', zone = 'Z'] = match
  const seconds = time.length === 5 ? `${time}:00` : time
  const millis = Date.parse(`${date}T${seconds}${toOffset(zone)}`)
  if (Number.isNaN(millis)) return undefined
  const whole = new Date(millis).toISOString().slice(0, 19)
  return `${whole}.${toFraction(digits)}Z`
}

/** Milliseconds since 1970 as an instant; undefined outside the years that four digits can say. */
export function fromMillis(millis: number): string | undefined {
  if (!(millis >= -62_135_596_800_000 && millis <= 253_402_300_799_999)) return undefined
  const whole = Math.trunc(millis)
  const minute = Math.floor(whole / 60_000)
  if (minute !== lastMinute) {
    lastText = new Date(minute * 60_000).toISOString().slice(0, 17)
    lastMinute = minute
  }
  const within = whole - minute * 60_000
  const seconds = Math.floor(within / 1000)
  return `${lastText}${DIGITS[seconds]}.${pad(within - seconds * 1000)}Z`
}

/** Instants of one session lie close together, and `toISOString` takes several times as long as the rest of this. */
let lastMinute = Number.NaN
let lastText = ''
const DIGITS = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'))

function pad(millis: number): string {
  return millis >= 100 ? String(millis) : millis >= 10 ? `0${millis}` : `00${millis}`
}

/** Milliseconds since 1970, with the fraction of a millisecond cut off. */
export function toMillis(instant: string): number {
  if (instant === lastInstant) return lastMillis
  if (instant === beforeInstant) return beforeMillis
  const within = millisWithin(instant)
  const isOurs = within !== -1 || isSpelledOut(instant)
  const millis = within !== -1 ? knownMinuteMillis + within : isOurs ? millisOf(instant) : parsed(instant)
  beforeInstant = lastInstant
  beforeMillis = lastMillis
  isBeforeOurs = isLastOurs
  lastInstant = instant
  lastMillis = millis
  isLastOurs = isOurs
  return millis
}

/** The minute that is known, as it is spelled and by its first millisecond. */
let knownMinute: string | undefined
let knownMinuteMillis = Number.NaN

/** Milliseconds of an instant within the minute that is known; -1 for any other, and for what is not spelled as ours are. */
function millisWithin(instant: string): number {
  if (knownMinute === undefined || instant.length !== 24 || !instant.startsWith(knownMinute)) return -1
  if (instant.charCodeAt(19) !== 0x2e || instant.charCodeAt(23) !== 0x5a) return -1
  const digits = [17, 18, 20, 21, 22] as const
  for (let n = 0; n < digits.length; n += 1) {
    const code = instant.charCodeAt(digits[n] as number)
    if (code < 0x30 || code > 0x39) return -1
  }
  const seconds = two(instant, 17)
  return seconds > 59 ? -1 : seconds * 1000 + two(instant, 20) * 10 + instant.charCodeAt(22) - 0x30
}

/** Asked for several times in a row, and when a result is asked how long it took, by turns with the one before. */
let [lastInstant, beforeInstant] = ['', '']
let [lastMillis, beforeMillis] = [Number.NaN, Number.NaN]
let [isLastOurs, isBeforeOurs] = [false, false]

function hasMillis(instant: string): boolean {
  if (instant === lastInstant) return isLastOurs
  return instant === beforeInstant ? isBeforeOurs : isSpelledOut(instant)
}

const parsed = (instant: string): number =>
  Date.parse(instant.length > 24 ? `${instant.slice(0, 23)}Z` : instant)

const two = (text: string, at: number): number =>
  (text.charCodeAt(at) - 0x30) * 10 + text.charCodeAt(at + 1) - 0x30

/** The day that is known, as it is spelled and by its first millisecond: instants of one session lie close together. */
let lastDay = ''
let lastDayMillis = Number.NaN

/** Of an instant as we spell it: the day is looked up as it is anywhere, the rest is a sum. */
function millisOf(instant: string): number {
  if (!instant.startsWith(lastDay) || lastDay === '') {
    lastDay = instant.slice(0, 10)
    lastDayMillis = Date.parse(`${lastDay}T00:00:00.000Z`)
  }
  const [hours, minutes, seconds] = [two(instant, 11), two(instant, 14), two(instant, 17)]
  const millis = two(instant, 20) * 10 + instant.charCodeAt(22) - 0x30
  if (hours > 23 || minutes > 59 || seconds > 59) return parsed(instant)
  knownMinute = instant.slice(0, 17)
  knownMinuteMillis = lastDayMillis + hours * 3_600_000 + minutes * 60_000
  return knownMinuteMillis + seconds * 1000 + millis
}

/** `2025-12-09T14:30:22.123Z`, and digits where digits are; else it is asked how. */
function isSpelledOut(text: string): boolean {
  if (text.length !== 24 || text.charCodeAt(23) !== 0x5a || text.charCodeAt(19) !== 0x2e) return false
  if (text.charCodeAt(4) !== 0x2d || text.charCodeAt(7) !== 0x2d) return false
  if (text.charCodeAt(10) !== 0x54 || text.charCodeAt(13) !== 0x3a || text.charCodeAt(16) !== 0x3a)
    return false
  for (const at of DIGITS_AT) {
    const code = text.charCodeAt(at)
    if (code < 0x30 || code > 0x39) return false
  }
  return true
}

const DIGITS_AT = [0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18, 20, 21, 22] as const

/** Whole milliseconds from one instant to another; undefined when either is unknown. */
export function millisBetween(from: string | undefined, to: string | undefined): number | undefined {
  if (from === undefined || to === undefined) return undefined
  // Of those without microseconds there is nothing else to compare.
  if (hasMillis(from) && hasMillis(to)) return toMillis(to) - toMillis(from)
  // By microseconds, so that .000123 to .100123 is 100 ms and not 99.
  return Math.floor((toMicros(to) - toMicros(from)) / 1000)
}

function toMicros(instant: string): number {
  return toMillis(instant) * 1000 + Number(instant.slice(23, 26).replace('Z', '') || 0)
}

/** Three, six or nine digits: the fewest that hold what was given. */
function toFraction(digits: string): string {
  const significant = digits.replace(/0+$/, '')
  return significant.padEnd(Math.max(3, Math.ceil(significant.length / 3) * 3), '0')
}

function toOffset(zone: string): string {
  if (zone === 'Z' || zone === 'z') return 'Z'
  const plain = zone.endsWith('Z') ? zone.slice(0, -1) : zone
  return plain.includes(':') ? plain : `${plain.slice(0, 3)}:${plain.slice(3)}`
}
