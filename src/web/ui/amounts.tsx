/** Money, tokens, durations and times in a row of text: short to read, exact on pointing at them. */
import { signal } from '@preact/signals'
import type { Amount } from '../../replay/marks.ts'
import type { ApiCost, ApiUsage } from '../../server/api-model.ts'
import { countText, moneyText, shortDuration, tokensText } from './numbers.ts'
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
    const { unpriced = [] } = cost ?? {}
    return (
      <Unknown
        what={unpriced.length === 0 ? 'cost not known' : `no price is known for ${unpriced.join(', ')}`}
      />
    )
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

export type CountProps = {
  readonly count: number | undefined
  readonly what: string
  /** Of tokens: what they are counted in, which may be not exact. */
  readonly of?: Omit<Amount, 'cost'> | undefined
}

export function Count({ count, what, of }: CountProps) {
  if (count === undefined) return <Unknown what={`${what} not known`} />
  const text = countText(count, what, of)
  return (
    <span class="numbers" title={text.exact}>
      {text.short}
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
