/** Calls as a few long lists: what threads hand over, for an object a call would take longer to hand over than to read. */
import { MOST_PICO, MOST_TOKENS, storedKey } from '../sources/call-rows.ts'
import type { Call } from '../sources/session-facts.ts'
import {
  COUNTS,
  hasCounts,
  qualityRank,
  QUALITIES,
  type Count,
  type Quality,
  type Usage,
} from '../transcript/usage.ts'

/** `-1` is what is not there, in every list of numbers. */
export type PackedCalls = {
  readonly length: number
  /** What the lists of numbers below name by their place here. */
  readonly names: readonly string[]
  readonly keys: readonly (string | undefined)[]
  readonly times: readonly (string | undefined)[]
  readonly sessions: Int32Array
  readonly providers: Int32Array
  readonly models: Int32Array
  readonly unpriced: Int32Array
  /** As many for each call as there are kinds of counts. */
  readonly counts: Float64Array
  readonly qualities: Uint8Array
  /** Of those that were counted, however large the counts. */
  readonly isCounted: Uint8Array
  /** US dollars × 10⁻¹²: what a call may cost at most is a whole number here. */
  readonly pico: Float64Array
}

export function packCalls(calls: readonly Call[]): PackedCalls {
  const names: string[] = []
  const places = new Map<string, number>()
  const placeOf = (name: string | undefined): number => {
    if (name === undefined) return -1
    const known = places.get(name)
    if (known !== undefined) return known
    places.set(name, names.length)
    return names.push(name) - 1
  }
  const { length } = calls
  const packed = {
    length,
    names,
    // As the state has them.
    keys: calls.map(({ key }) => (key === undefined ? undefined : storedKey(key))),
    times: calls.map(({ at }) => at),
    sessions: new Int32Array(length),
    providers: new Int32Array(length),
    models: new Int32Array(length),
    unpriced: new Int32Array(length),
    counts: new Float64Array(length * COUNTS.length),
    qualities: new Uint8Array(length),
    isCounted: new Uint8Array(length),
    pico: new Float64Array(length),
  }
  for (let at = 0; at < length; at += 1) {
    const { session, provider, model, usage, unpriced, pico } = calls[at] as Call
    packed.sessions[at] = placeOf(session)
    packed.providers[at] = placeOf(provider === '' ? undefined : provider)
    packed.models[at] = placeOf(model)
    packed.unpriced[at] = placeOf(unpriced)
    for (let n = 0; n < COUNTS.length; n += 1) {
      const count = usage[COUNTS[n] as Count]
      packed.counts[at * COUNTS.length + n] = count === undefined || count > MOST_TOKENS ? -1 : count
    }
    packed.qualities[at] = qualityRank(usage.quality)
    packed.isCounted[at] = hasCounts(usage) ? 1 : 0
    packed.pico[at] = pico === undefined || pico > MOST_PICO ? -1 : Number(pico)
  }
  return packed
}

/** The counts of a call; those that nobody stated are absent. */
export function usageAt({ counts, qualities }: PackedCalls, at: number): Usage {
  const usage: { -readonly [K in Count]?: number } & { quality: Quality } = {
    quality: QUALITIES[qualities[at] as number] ?? 'estimated',
  }
  let isKnown = false
  for (let n = 0; n < COUNTS.length; n += 1) {
    const count = counts[at * COUNTS.length + n] as number
    if (count < 0) continue
    usage[COUNTS[n] as Count] = count
    isKnown = true
  }
  return isKnown ? usage : { quality: 'unavailable' }
}

export function nameAt({ names }: PackedCalls, places: Int32Array, at: number): string | undefined {
  const place = places[at] as number
  return place < 0 ? undefined : names[place]
}
