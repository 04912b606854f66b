/** What agents say that something cost, in billionths of a dollar, so that sums stay whole. */
import { asNumber } from '../transcript/json.ts'

/** Undefined for what states nothing. 0 is also what is written for a subscription, or a model without a price. */
export function costOf(dollars: unknown): number | undefined {
  const cost = asNumber(dollars)
  return cost !== undefined && cost > 0 && cost < 1e6 ? Math.round(cost * 1e9) : undefined
}

/** `1234500000` as `"1.2345"`. */
export function toDollars(billionths: number): string {
  const whole = Math.floor(billionths / 1e9)
  const fraction = String(billionths % 1e9)
    .padStart(9, '0')
    .replace(/0+$/, '')
  return fraction === '' ? String(whole) : `${whole}.${fraction}`
}
