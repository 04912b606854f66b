/** Tokens and money as people read them. Unknown is said, never shown as 0. */
import { millisBetween } from '../transcript/instant.ts'
import type { Cost, Session } from '../transcript/session.ts'
import { promptTokens } from '../transcript/usage.ts'
import { visibleLine } from './escape.ts'

/** `5,200`, or `unknown`. */
export function toCount(count: number | undefined): string {
  return count === undefined ? 'unknown' : grouped(String(count))
}

/** By hand: making a formatter takes as long as a quarter of an unchanged sync. */
function grouped(digits: string): string {
  const parts: string[] = []
  for (let end = digits.length; end > 0; end -= 3) parts.unshift(digits.slice(Math.max(0, end - 3), end))
  return parts.join(',')
}

/** `1 session`, `1,200 sessions`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${toCount(count)} ${count === 1 ? one : many}`
}

/** `812 MB`: decimal, three digits at most. */
export function toBytes(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const
  let value = bytes
  let at = 0
  while (value >= 999.5 && at < units.length - 1) {
    value /= 1000
    at += 1
  }
  const digits = at === 0 || value >= 9.95 ? 0 : 1
  return `${value.toFixed(digits)} ${units[at] ?? ''}`
}

/** What the source states of the whole session, else what was counted. */
export function sessionTokens({ reportedUsage, totals }: Session): {
  readonly in?: number
  readonly out?: number
} {
  const usage = reportedUsage ?? totals?.usage
  const input = usage && promptTokens(usage)
  return {
    ...(input !== undefined && { in: input }),
    ...(usage?.output !== undefined && { out: usage.output }),
  }
}

/** As `toPrice`; a cost that the source states comes first, the computed one beside it. */
export function sessionCost({ reportedCost, totals }: Session): string {
  const cost = totals?.cost
  if (reportedCost === undefined) return toPrice(cost)
  const stated = toDollars(reportedCost)
  // Counts that a rule attributed price a cached prompt as if it were new: no match for what the source states.
  if (cost === undefined || cost.usd === null || totals?.usage?.quality === 'estimated') return stated
  const computed = toPrice(cost)
  return computed === stated ? stated : `${stated} (computed: ${computed})`
}

/** `$0.12`, `at least $0.12 (no price for x)`, or `unknown`. */
export function toPrice(cost: Cost | undefined): string {
  const unpriced = cost?.unpriced.map(visibleLine).join(', ')
  const without = unpriced ? ` (no price for ${unpriced})` : ''
  if (cost === undefined || cost.usd === null) return `unknown${without}`
  return without === '' ? toDollars(cost.usd) : `at least ${toDollars(cost.usd)}${without}`
}

/** Cents, or as many digits as a smaller amount needs. Decimal text in, so no float rounds it. */
export function toDollars(usd: string): string {
  const [whole = '0', fraction = ''] = usd.split('.')
  if (!/^\d+$/.test(whole) || !/^\d*$/.test(fraction)) return `$${visibleLine(usd)}`
  if (/^0*$/.test(whole) && fraction.startsWith('00')) {
    const digits = fraction.replace(/0+$/, '')
    return digits === '' ? '$0.00' : `$0.${digits}`
  }
  const cents = BigInt(whole + fraction.slice(0, 2).padEnd(2, '0')) + (fraction.charAt(2) >= '5' ? 1n : 0n)
  const text = cents.toString().padStart(3, '0')
  return `$${grouped(text.slice(0, -2))}.${text.slice(-2)}`
}

export function sessionMillis({ startedAt, endedAt }: Session): number | undefined {
  return millisBetween(startedAt, endedAt)
}
