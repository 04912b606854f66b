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
  // Count by count, and not in a loop: this is done for every call of every log, and names that are computed are looked up.
  const sum: Counts & { quality: Quality } = { quality: sumQuality(a, b) }
  const input = sumOf(a.input, b.input)
  if (input !== undefined) sum.input = input
  const cacheRead = sumOf(a.cacheRead, b.cacheRead)
  if (cacheRead !== undefined) sum.cacheRead = cacheRead
  const cacheWrite5m = sumOf(a.cacheWrite5m, b.cacheWrite5m)
  if (cacheWrite5m !== undefined) sum.cacheWrite5m = cacheWrite5m
  const cacheWrite1h = sumOf(a.cacheWrite1h, b.cacheWrite1h)
  if (cacheWrite1h !== undefined) sum.cacheWrite1h = cacheWrite1h
  const output = sumOf(a.output, b.output)
  if (output !== undefined) sum.output = output
  const reasoning = sumOf(a.reasoning, b.reasoning)
  if (reasoning !== undefined) sum.reasoning = reasoning
  return sum
}

type Counts = { -readonly [K in Count]?: number }

function sumOf(left: number | undefined, right: number | undefined): number | undefined {
  if (left === undefined) return right
  return right === undefined ? left : left + right
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
  // A word that is none of ours vouches for nothing.
  const quality = isQuality(usage['quality']) ? usage['quality'] : 'estimated'
  const valid: Counts & { quality: Quality; raw?: Json } = { quality }
  const input = asCount(usage['input'])
  if (input !== undefined) valid.input = input
  const cacheRead = asCount(usage['cacheRead'])
  if (cacheRead !== undefined) valid.cacheRead = cacheRead
  const cacheWrite5m = asCount(usage['cacheWrite5m'])
  if (cacheWrite5m !== undefined) valid.cacheWrite5m = cacheWrite5m
  const cacheWrite1h = asCount(usage['cacheWrite1h'])
  if (cacheWrite1h !== undefined) valid.cacheWrite1h = cacheWrite1h
  const output = asCount(usage['output'])
  if (output !== undefined) valid.output = output
  const reasoning = asCount(usage['reasoning'])
  if (reasoning !== undefined) valid.reasoning = reasoning
  const { raw } = usage
  if (raw !== undefined) valid.raw = raw
  return valid
}

function isQuality(value: unknown): value is Quality {
  return value === 'reported' || value === 'partial' || value === 'estimated' || value === 'unavailable'
}

/** The counts and their quality alone. */
export function withoutRaw({
  input,
  cacheRead,
  cacheWrite5m,
  cacheWrite1h,
  output,
  reasoning,
  quality,
}: Usage): Usage {
  const usage: Counts & { quality: Quality } = { quality }
  if (input !== undefined) usage.input = input
  if (cacheRead !== undefined) usage.cacheRead = cacheRead
  if (cacheWrite5m !== undefined) usage.cacheWrite5m = cacheWrite5m
  if (cacheWrite1h !== undefined) usage.cacheWrite1h = cacheWrite1h
  if (output !== undefined) usage.output = output
  if (reasoning !== undefined) usage.reasoning = reasoning
  return usage
}

/** Everything the model read: uncached, cache reads and cache writes. Undefined when none of them is known. */
export function promptTokens(usage: Usage): number | undefined {
  const known = [usage.input, usage.cacheRead, usage.cacheWrite5m, usage.cacheWrite1h].filter(
    (n) => n !== undefined,
  )
  return known.length === 0 ? undefined : known.reduce((sum, n) => sum + n, 0)
}

/** True when at least one count is known. */
export function hasCounts({
  input,
  cacheRead,
  cacheWrite5m,
  cacheWrite1h,
  output,
  reasoning,
}: Usage): boolean {
  return (
    input !== undefined ||
    output !== undefined ||
    cacheRead !== undefined ||
    cacheWrite5m !== undefined ||
    cacheWrite1h !== undefined ||
    reasoning !== undefined
  )
}
