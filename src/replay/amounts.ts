/** Tokens and money as people read them. Unknown is said, never shown as 0; what is not exact is marked. */
import { grouped, toCount } from '../transcript/counted.ts'
import { millisBetween } from '../transcript/instant.ts'
import { sessionUsage, sessionUsd } from '../transcript/session-amounts.ts'
import type { Session } from '../transcript/session.ts'
import { promptTokens, type Quality, type Usage } from '../transcript/usage.ts'
import { visibleLine } from './escape.ts'
import { countMark, countQuality, marked, STATED, sumMark, toMark, type Amount, type Mark } from './marks.ts'

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

/** `5,200`, `≥ 5,200`, or `unknown`. */
export function markedCount(count: number | undefined, mark: Mark): string {
  return count === undefined ? toCount(count) : marked(mark, toCount(count))
}

/** By the rule of `sessionUsage`, with the quality of what is told. */
export function sessionTokens(session: Session): {
  readonly in?: number
  readonly out?: number
  /** Absent where nothing is known. */
  readonly quality?: Quality
} {
  const used = sessionUsage(session)
  if (used === undefined) return {}
  const { usage, isStated } = used
  const input = promptTokens(usage)
  const uncounted = isStated ? 0 : session.totals?.uncounted
  return {
    ...(input !== undefined && { in: input }),
    ...(usage.output !== undefined && { out: usage.output }),
    quality: countQuality({ usage: { ...usage, quality: shownQuality(session, usage) }, uncounted }),
  }
}

/** The same for people. */
export function markedTokens(session: Session): { readonly in: string; readonly out: string } {
  const { in: input, out, quality } = sessionTokens(session)
  const mark = toMark(quality)
  return { in: markedCount(input, mark), out: markedCount(out, mark) }
}

/** What one turn read and wrote, for people; absent is what it does not say. */
export function turnTokens(
  session: Session | undefined,
  usage: Usage | undefined,
): { readonly in?: string; readonly out?: string } {
  if (usage === undefined) return {}
  const mark = countMark({ usage: { ...usage, quality: shownQuality(session, usage) } })
  const input = promptTokens(usage)
  return {
    ...(input !== undefined && { in: markedCount(input, mark) }),
    ...(usage.output !== undefined && { out: markedCount(usage.output, mark) }),
  }
}

/** devflow states the whole prompt: estimated is how much of it a cache gave, which is a matter of its price alone. */
function shownQuality(session: Session | undefined, { quality }: Usage): Quality {
  const isOfDevflow = session?.names?.['devflow'] !== undefined && session.reportedUsage !== undefined
  return isOfDevflow && quality === 'estimated' ? 'reported' : quality
}

/** As `toPrice`; a cost that the source states comes first, the computed one beside it. */
export function sessionCost({ reportedCost, totals }: Session): string {
  const amount: Amount = totals ?? {}
  if (reportedCost === undefined) return toPrice(amount)
  const stated = toDollars(reportedCost)
  // Counts that a rule attributed price a cached prompt as if it were new: no match for what the source states.
  const { cost, usage } = amount
  if (cost === undefined || cost.usd === null || usage?.quality === 'estimated') return stated
  const computed = toPrice(amount)
  return computed === stated ? stated : `${stated} (computed: ${computed})`
}

/** `$0.12`, `≥ $0.12 (no price for x)`, or `unknown`. */
export function toPrice(amount: Amount): string {
  const unpriced = amount.cost?.unpriced.map(visibleLine).join(', ')
  return `${markedPrice(amount)}${unpriced ? ` (no price for ${unpriced})` : ''}`
}

/** The same for a column: what is missing from it, and why, is said elsewhere. */
export function markedPrice(amount: Amount): string {
  const { cost } = amount
  return cost === undefined || cost.usd === null ? 'unknown' : marked(sumMark(amount), toDollars(cost.usd))
}

/** The one cost of a session where there is room for one: what was computed, else what its source states, marked as that. */
export function onlyCost(session: Session): string {
  const cost = sessionUsd(session)
  return cost?.isStated === true ? marked(STATED, toDollars(cost.usd)) : markedPrice(session.totals ?? {})
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
