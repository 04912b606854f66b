/** Money, tokens, durations and times in a row of text: short to read, exact on pointing at them. */
import { signal } from '@preact/signals'
import type { ApiCost, ApiUsage } from '../../server/api-model.ts'
import { exactCount, moneyText, shortCount, shortDuration, tokensText } from './numbers.ts'
import { exactTime, relativeTime } from './times.ts'

export type MoneyProps = {
  readonly cost: ApiCost | undefined
  /** What it is the cost of. */
  readonly usage?: ApiUsage | undefined
  readonly uncounted?: number | undefined
  readonly isEstimated?: boolean | undefined
}

export function Money({ cost, usage, uncounted, isEstimated }: MoneyProps) {
  const text = moneyText(cost, { usage, uncounted, isEstimated })
  if (text === undefined) {
    const why = cost === undefined || cost.unpriced.length === 0 ? '' : ` for ${cost.unpriced.join(', ')}`
    return <Unknown what={cost === undefined ? 'cost not known' : `no price is known${why}`} />
  }
  return (
    <span class="numbers" title={text.exact}>
      {text.short}
    </span>
  )
}

export function Tokens({
  usage,
  uncounted,
}: {
  readonly usage: ApiUsage | undefined
  readonly uncounted?: number | undefined
}) {
  const text = tokensText(usage, uncounted)
  if (text === undefined) return <Unknown what="tokens not known" />
  return (
    <span class="numbers" title={text.exact}>
      {text.short}
    </span>
  )
}

export function Count({ count, what }: { readonly count: number | undefined; readonly what: string }) {
  if (count === undefined) return <Unknown what={`${what} not known`} />
  return (
    <span class="numbers" title={`${exactCount(count)} ${what}`}>
      {shortCount(count)}
    </span>
  )
}

export function Duration({ ms }: { readonly ms: number | undefined }) {
  if (ms === undefined) return <Unknown what="duration not known" />
  return (
    <span class="numbers" title={`${(ms / 1000).toLocaleString('en')} s`}>
      {shortDuration(ms)}
    </span>
  )
}

/** Relative, as of this minute; the exact time on pointing at it. */
export function Time({ at }: { readonly at: string | number | undefined }) {
  const ms = at === undefined ? Number.NaN : typeof at === 'number' ? at : Date.parse(at)
  if (Number.isNaN(ms)) return <Unknown what="time not known" />
  return (
    <time class="numbers" dateTime={new Date(ms).toISOString()} title={exactTime(ms)}>
      {relativeTime(ms, minute.value)}
    </time>
  )
}

const Unknown = ({ what }: { readonly what: string }) => (
  <span class="quiet" title={what}>
    <span aria-hidden="true">–</span>
    <span class="unseen">{what}</span>
  </span>
)

/** All relative times on the page move on together. */
const minute = signal(Date.now())
setInterval(() => void (minute.value = Date.now()), 30_000)
