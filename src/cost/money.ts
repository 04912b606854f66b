/**
 * Money as whole numbers: one pico-dollar is 1e-12 US dollars, and a price of $1 per million tokens is 1,000,000 of them per
 * token. Sums are exact; only `toUsd` rounds, and only for people.
 */
import { HansardError } from '../errors.ts'

const DIGITS = 12
const DECIMAL = /^(-?)(\d{1,15})(?:\.(\d{1,12}))?$/

/** The pico-dollars a decimal string names; undefined when it is not one, or says more than twelve digits after the point. */
export function parseUsd(text: string): bigint | undefined {
  const match = DECIMAL.exec(text)
  if (!match) return undefined
  const [, sign = '', whole = '', fraction = ''] = match
  const pico = BigInt(whole + fraction.padEnd(DIGITS, '0'))
  return sign ? -pico : pico
}

/** A decimal string with `digits` (0 to 12) after the point: `"0.018110"`. Halves go to the even neighbour, so sums do not drift. */
export function toUsd(pico: bigint, digits = 6): string {
  const unit = 10n ** BigInt(DIGITS - digits)
  const size = pico < 0n ? -pico : pico
  const rest = (size % unit) * 2n
  let units = size / unit
  if (rest > unit || (rest === unit && units % 2n === 1n)) units += 1n
  const text = String(units).padStart(digits + 1, '0')
  const whole = digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`
  return pico < 0n && units > 0n ? `-${whole}` : whole
}

/** Pico-dollars per token of a price in dollars per million tokens. Prices finer than that do not exist, and are a mistake. */
export function perToken(price: string): bigint {
  const pico = parseUsd(price)
  if (pico !== undefined && pico >= 0n && pico % 1_000_000n === 0n) return pico / 1_000_000n
  throw new HansardError('invalid-argument', `not a price per million tokens: ${JSON.stringify(price)}`, {
    hint: 'write dollars as a decimal string with up to six digits after the point, such as "0.125"',
  })
}

/** A price times a factor such as `"0.5"` or `"1.1"`; exact, or an error. */
export function timesFactor(pico: bigint, factor: string): bigint {
  const scaled = parseUsd(factor)
  const product = pico * (scaled ?? 0n)
  if (scaled !== undefined && scaled > 0n && product % 10n ** 12n === 0n) return product / 10n ** 12n
  throw new HansardError('invalid-argument', `not a factor of a price: ${JSON.stringify(factor)}`, {
    hint: 'write it as a decimal string, such as "0.5"',
  })
}
