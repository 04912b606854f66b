/**
 * devflow's fields as Go writes them. Go has no "absent": a missing text is `""`, a missing total 0, a missing time the year 1.
 * Reading maps those to absent, writing fills them in again. What a field holds beyond that is kept for the writer.
 */
import { parseInstant } from '../../transcript/instant.ts'
import { rest, type Json, type JsonObject } from '../../transcript/json.ts'

/** Go's zero time: the filler where a time is required and not known. */
export const NO_TIME = '0001-01-01T00:00:00Z'

export type Fields = {
  /**
   * The field's value in our terms. `as` answers undefined for what it does not understand, which stays for `rest`, and null
   * for what means "absent".
   */
  take<T>(key: string, as: (value: Json) => T | null | undefined): T | undefined
  /** What was not understood; undefined when that is nothing. */
  rest(): JsonObject | undefined
}

export function openFields(object: JsonObject): Fields {
  const taken = new Set<string>()
  return {
    take(key, as) {
      const value = Object.hasOwn(object, key) ? object[key] : undefined
      if (value === undefined) return undefined
      const understood = value === null ? null : as(value)
      if (understood !== undefined) taken.add(key)
      return understood ?? undefined
    },
    rest: () => rest(object, taken),
  }
}

/** Text that is absent when empty. */
export const asText = (value: Json): string | null | undefined =>
  value === '' ? null : typeof value === 'string' ? value : undefined

export const asTime = (value: Json): string | null | undefined =>
  isNoTime(value) ? null : parseInstant(value)

/** A total that is absent when 0. */
export const asTotal = (value: Json): number | null | undefined =>
  value === 0
    ? null
    : typeof value === 'number' && Number.isSafeInteger(value) && value > 0
      ? value
      : undefined

/** A cost in US dollars as a decimal text; absent when 0, which is what Go writes when nobody added any. */
export const asCost = (value: Json): string | null | undefined =>
  value === 0 ? null : typeof value === 'number' && value > 0 ? toDecimal(value) : undefined

/**
 * A float as the decimal it stands for: 15 digits are what every float keeps, so 0.1 + 0.2 is `0.3`, and there is no exponent.
 * Undefined for what is no amount.
 */
export function toDecimal(value: number): string | undefined {
  if (!Number.isFinite(value) || value < 0) return undefined
  const [mantissa = '', exponent = '0'] = value.toExponential(14).split('e')
  const digits = mantissa.replace('.', '').replace(/0+$/, '')
  const point = Number(exponent) + 1
  if (digits === '') return '0'
  if (point <= 0) return `0.${'0'.repeat(-point)}${digits}`
  if (point >= digits.length) return digits.padEnd(point, '0')
  return `${digits.slice(0, point)}.${digits.slice(point)}`
}

/** An instant as Go spells it: no trailing zeros in the fraction. The filler for what is no instant, which Go could not read. */
export function toGoTime(instant: string | undefined): string {
  return parseInstant(instant)?.replace(/\.?0+Z$/, 'Z') ?? NO_TIME
}

function isNoTime(value: Json): boolean {
  return value === '' || (typeof value === 'string' && value.startsWith('0001-01-01T00:00:00'))
}
