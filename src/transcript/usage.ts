import { asCount, isObject, type Json } from './json.ts'

/**
 * Token counts as the provider reported them, normalised so that they do not overlap: `input` excludes what was read from
 * or written to a cache; `reasoning` is the one exception, a part of `output`. A count that is not known is absent, never 0.
 */
export type Usage = {
  readonly input?: number
  readonly cacheRead?: number
  readonly cacheWrite5m?: number
  readonly cacheWrite1h?: number
  readonly output?: number
  readonly reasoning?: number
  readonly quality: Quality
  /** The provider's own object, for whoever needs what we did not understand. */
  readonly raw?: Json
}

/**
 * `reported`: the provider's last word. `partial`: the stream ended before it, so counts are a lower bound.
 * `estimated`: computed by us or attributed by a rule. `unavailable`: the provider never said.
 */
export type Quality = 'reported' | 'partial' | 'estimated' | 'unavailable'

export const COUNTS = ['input', 'cacheRead', 'cacheWrite5m', 'cacheWrite1h', 'output', 'reasoning'] as const
export type Count = (typeof COUNTS)[number]

/** From the best to the worst. */
export const QUALITIES: readonly Quality[] = ['reported', 'partial', 'estimated', 'unavailable']
const WORST: Readonly<Record<Quality, number>> = { reported: 0, partial: 1, estimated: 2, unavailable: 3 }

/** How far a quality is from the provider's last word, which is 0. */
export const qualityRank = (quality: Quality): number => WORST[quality]

/**
 * The sum of two usages: unknown + unknown stays unknown, and the worse quality wins. With a call that nobody counted the sum of
 * those that were is a lower bound, `partial` at best. `raw` does not survive.
 */
export function addUsage(a: Usage, b: Usage): Usage {
  const sum: { -readonly [K in Count]?: number } & { quality: Quality } = { quality: sumQuality(a, b) }
  for (const count of COUNTS) {
    const left = a[count]
    const right = b[count]
    if (left !== undefined) sum[count] = right === undefined ? left : left + right
    else if (right !== undefined) sum[count] = right
  }
  return sum
}

function sumQuality(a: Usage, b: Usage): Quality {
  const hasUncounted = !hasCounts(a) || !hasCounts(b)
  if (hasUncounted && (hasCounts(a) || hasCounts(b))) {
    const { quality } = hasCounts(a) ? a : b
    return quality === 'reported' ? 'partial' : quality
  }
  return WORST[a.quality] >= WORST[b.quality] ? a.quality : b.quality
}

/**
 * What a later report of the same call leaves: each count it states, those it does not from before, its quality. One that was
 * written before the provider's last word, or states nothing, only adds what the last word does not say. The provider's own
 * object is the later one where there are two: it names the tier and the place that a price hangs on.
 */
export function laterReport(earlier: Usage, later: Usage): Usage {
  if (!hasCounts(later) && hasCounts(earlier)) return earlier
  const isBehind = later.quality === 'partial' && earlier.quality === 'reported' && isLess(later, earlier)
  return isBehind ? { ...later, ...earlier } : { ...earlier, ...later }
}

/** A lower bound that is no lower takes the last word back: the stream was cut. */
const isLess = (a: Usage, b: Usage): boolean => (a.output ?? -1) < (b.output ?? -1)

/**
 * The one rule for zeros: a model that was asked read something, so counts that are all 0 are those of a provider that does not
 * count. Such a usage is `unavailable`, and its zeros stand in `raw` alone.
 */
export function withoutZeros(usage: Usage): Usage {
  for (const count of COUNTS) if (usage[count] !== undefined && usage[count] !== 0) return usage
  return { quality: 'unavailable', ...(usage.raw !== undefined && { raw: usage.raw }) }
}

/**
 * A usage with nothing in it but counts, for what was typed by somebody else: what is no whole number of at least 0 is not
 * known. Undefined for what is no usage at all.
 */
export function validUsage(usage: unknown): Usage | undefined {
  if (!isObject(usage)) return undefined
  const valid: { -readonly [K in Count]?: number } & { quality: Quality } = {
    // A word that is none of ours vouches for nothing.
    quality: isQuality(usage['quality']) ? usage['quality'] : 'estimated',
  }
  for (const count of COUNTS) {
    const known = asCount(usage[count])
    if (known !== undefined) valid[count] = known
  }
  return usage['raw'] === undefined ? valid : { ...valid, raw: usage['raw'] }
}

function isQuality(value: unknown): value is Quality {
  return typeof value === 'string' && Object.hasOwn(WORST, value)
}

/** Everything the model read: uncached, cache reads and cache writes. Undefined when none of them is known. */
export function promptTokens(usage: Usage): number | undefined {
  const known = [usage.input, usage.cacheRead, usage.cacheWrite5m, usage.cacheWrite1h].filter(
    (n) => n !== undefined,
  )
  return known.length === 0 ? undefined : known.reduce((sum, n) => sum + n, 0)
}

/** True when at least one count is known. */
export function hasCounts(usage: Usage): boolean {
  return COUNTS.some((count) => usage[count] !== undefined)
}
