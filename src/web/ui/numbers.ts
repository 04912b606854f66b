/** Numbers, money, sizes and times as people read them. Unknown is said in words, never as zero. */
import { countMark, marked, sumMark, toMark, type Amount } from '../../replay/marks.ts'
import type { ApiCost, ApiUsage } from '../../server/api-model.ts'

/** `1.2k`, `3.4M`: three digits are enough to compare. */
export function shortCount(count: number): string {
  if (count < 1000) return String(Math.round(count))
  const units = ['k', 'M', 'B', 'T']
  let [value, at] = [count / 1000, 0]
  while (value >= 999.5 && at < units.length - 1) [value, at] = [value / 1000, at + 1]
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)}${units[at]}`
}

export const exactCount = (count: number): string => count.toLocaleString('en')

export function shortBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  return `${shortCount(bytes)}B`
    .replace('kB', ' kB')
    .replace('MB', ' MB')
    .replace('BB', ' GB')
    .replace('TB', ' TB')
}

/** `3.2 s`, `12 min`, `2 h 05`, `3 d`. */
export function shortDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  const seconds = ms / 1000
  if (seconds < 60) return `${seconds < 9.95 ? seconds.toFixed(1) : Math.round(seconds)} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return `${hours} h ${String(minutes % 60).padStart(2, '0')}`
  return `${Math.round(hours / 24)} d`
}

/** Dollars of a decimal text, cut for the eye: cents from a dollar on, and enough digits below it to be more than nothing. */
export function shortMoney(usd: string): string {
  const value = Number(usd)
  if (!Number.isFinite(value)) return `$${usd}`
  if (value === 0) return '$0'
  if (value < 0.0001) return '<$0.0001'
  if (value < 0.01) return `$${value.toFixed(4)}`
  if (value < 1) return `$${value.toFixed(3)}`
  if (value < 1000) return `$${value.toFixed(2)}`
  return `$${Math.round(value).toLocaleString('en')}`
}

/** Undefined where nothing of it is known. Marked where it is not exact, with why. */
export function moneyText(cost: ApiCost | undefined, of: Omit<Amount, 'cost'> = {}) {
  if (cost === undefined || cost.usd === null) return undefined
  const mark = sumMark({ ...of, cost })
  return {
    short: marked(mark, shortMoney(cost.usd)),
    exact: [`${mark === '≥' ? 'at least ' : ''}US$ ${cost.usd}`, ...whyOf({ ...of, cost })].join('\n'),
  }
}

/** All tokens; undefined where none are known. */
export function tokensText(usage: ApiUsage | undefined, uncounted = 0) {
  const tokens = usage === undefined ? undefined : allTokens(usage)
  if (usage === undefined || tokens === undefined) return undefined
  return {
    short: marked(sumMark({ usage, uncounted }), shortCount(tokens)),
    exact: [usageText(usage), ...whyOf({ usage, uncounted })].join('\n'),
  }
}

/** Of one kind of token, or of anything else that is counted. */
export function countText(count: number, what: string, of: Omit<Amount, 'cost'> = {}) {
  const mark = countMark(of)
  return {
    short: marked(mark, shortCount(count)),
    exact: [`${mark === '≥' ? 'at least ' : ''}${exactCount(count)} ${what}`, ...whyCounts(of)].join('\n'),
  }
}

/** Why an amount is not exact that takes all kinds of token. */
export function whyOf({ cost, isEstimated = false, ...of }: Amount): readonly string[] {
  const { usage } = of
  return [
    ...(cost && cost.unpriced.length > 0 ? [`no price is known for ${cost.unpriced.join(', ')}`] : []),
    ...whyCounts(of),
    ...(usage !== undefined && usage.input === undefined ? ['what was read is not known'] : []),
    ...(usage !== undefined && usage.output === undefined ? ['what was written is not known'] : []),
    ...(isEstimated ? ['estimated: a receipt says the tokens of a whole step, not of its calls'] : []),
  ]
}

function whyCounts({ usage, uncounted = 0 }: Omit<Amount, 'cost'>): readonly string[] {
  // Where answers are missing, that is why it is partial, as far as anybody knows.
  const mark = uncounted > 0 && usage?.quality === 'partial' ? '' : toMark(usage?.quality)
  return [
    ...(uncounted > 0
      ? [`${exactCount(uncounted)} ${uncounted === 1 ? 'answer was' : 'answers were'} not counted`]
      : []),
    ...(mark === '≥' ? ['some answers were counted only in part'] : []),
    ...(mark === '~' ? ['some counts are estimated'] : []),
  ]
}

/** All tokens, as they are counted for the order by tokens. Reasoning is a part of the output. */
export function allTokens(usage: ApiUsage): number | undefined {
  const parts = [usage.input, usage.cacheRead, usage.cacheWrite5m, usage.cacheWrite1h, usage.output]
  const known = parts.filter((part) => part !== undefined)
  return known.length === 0 ? undefined : known.reduce((sum, part) => sum + part, 0)
}

const USAGE_NAMES: readonly (readonly [Exclude<keyof ApiUsage, 'quality'>, string])[] = [
  ['input', 'input'],
  ['cacheRead', 'read from cache'],
  ['cacheWrite5m', 'written to cache (5 min)'],
  ['cacheWrite1h', 'written to cache (1 h)'],
  ['output', 'output'],
  ['reasoning', 'of it reasoning'],
]

export function usageText(usage: ApiUsage): string {
  const lines = USAGE_NAMES.flatMap(([name, says]) => {
    const count = usage[name]
    return count === undefined ? [] : [`${exactCount(count)} ${says}`]
  })
  return lines.join('\n')
}
