/** What somebody else says a session cost, added up exactly: decimal strings in, decimal string out. */
import { parseUsd, toUsd } from '../cost/money.ts'
import { HansardError } from '../errors.ts'

export function addUsd(sum: string | undefined, usd: string | number): string {
  const added = parseUsd(typeof usd === 'number' ? toDecimal(usd) : usd)
  if (added === undefined) {
    throw new HansardError('invalid-argument', `not an amount in US dollars: ${JSON.stringify(usd)}`, {
      hint: 'give a decimal such as "0.12"',
    })
  }
  const total = (parseUsd(sum ?? '0') ?? 0n) + added
  return toUsd(total, 12).replace(/\.?0+$/, '') || '0'
}

/** A float's shortest decimal: 0.1 + 0.2 arrives as what its caller sees, cut at a pico-dollar. */
function toDecimal(usd: number): string {
  const text = String(usd)
  return text.includes('e') ? usd.toFixed(12) : text.replace(/(\.\d{12})\d+$/, '$1')
}
