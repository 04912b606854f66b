/**
 * Which recorded call a live request is: the one that is exactly the same, else the same but for what named normalisers leave out, else
 * the next in the lane that it goes on with. Each is given once, in the order in which it was recorded; how it was found is always
 * said, and what is none of these is a miss that names the nearest.
 */
import { counted } from '../../transcript/counted.ts'
import { asString, isObject, type Json } from '../../transcript/json.ts'
import { createKeyer, partsOf, type Asked } from './keys.ts'
import { lastOf, positionOf, toLaneScore } from './lanes.ts'
import { wayOf, type Normaliser } from './normalisers.ts'
import { findNeeded } from './needed.ts'
import { diffPaths, type PathDifference } from './path-diff.ts'
import { isSameTurn, type Turn } from './turn.ts'

/** A call of the recording. What was asked is there, or, where only entries are, what was new when it was. */
export type RecordedCall = {
  /** Calls of one lane came one after the other. */
  readonly lane: string
  readonly asked?: () => Asked | undefined
  readonly turn?: Turn
}

export const WAYS = ['exact', 'normalised', 'positional'] as const
export type MatchWay = (typeof WAYS)[number]

export type Match = {
  readonly how: MatchWay
  /** Place in the list of recorded calls. */
  readonly index: number
  /** Which normalisers were needed; `turn` where only what was new could be compared. */
  readonly by?: readonly string[]
  /** Ids that are others in this run, from the recording's to this run's. */
  readonly names?: ReadonlyMap<string, string>
  /** Given before so many times: the recording has no other for it. */
  readonly repeat?: number
  /** Another call of its lane was to come first. */
  readonly isOutOfOrder?: boolean
  /** Of one that was found by its position. */
  readonly differences?: readonly PathDifference[]
}

export type Miss = {
  readonly how: 'miss'
  readonly reason: 'nothing-like-it' | 'lane-is-over' | 'asked-too-often' | 'not-allowed'
  readonly nearest?: number
  readonly differences?: readonly PathDifference[]
}

export type Choice = Match | Miss

export type MatcherOptions = {
  readonly normalisers?: readonly Normaliser[]
  /** The least exact way that is allowed; `positional` unless said. */
  readonly loosest?: MatchWay
  /** How often the last of several is given again to the same request. */
  readonly repeats?: number
}

export type Matcher = {
  /** Makes what the first request would wait for. */
  prepare(): void
  choose(live: Asked): Choice
  /** Those that nobody has asked for. */
  unasked(): readonly number[]
}

const MOST_REPEATS = 5

export function createMatcher(calls: readonly RecordedCall[], options: MatcherOptions = {}): Matcher {
  const { normalisers = [], loosest = 'positional', repeats = MOST_REPEATS } = options
  const way = wayOf(normalisers)
  const isAllowed = (how: MatchWay): boolean => WAYS.indexOf(how) <= WAYS.indexOf(loosest)
  const exact = createFinder(calls, createKeyer())
  const normalised = createFinder(calls, createKeyer(way))
  const given = new Map<number, number>()
  const lanes = new Map<string, number[]>()
  for (const [index, { lane }] of calls.entries()) {
    const own = lanes.get(lane)
    if (own === undefined) lanes.set(lane, [index])
    else own.push(index)
  }
  /** Places in each lane before which everything is given. */
  const next = new Map<string, number>()
  const nextOf = (lane: string): number | undefined => {
    const own = lanes.get(lane) ?? []
    let at = next.get(lane) ?? 0
    while (at < own.length && given.has(own[at] as number)) at += 1
    next.set(lane, at)
    return own[at]
  }
  const isNext = (index: number): boolean => nextOf(calls[index]?.lane ?? '') === index
  const take = (index: number, match: Omit<Match, 'index'>): Match => {
    const isOutOfOrder = !given.has(index) && !isNext(index)
    given.set(index, (given.get(index) ?? 0) + 1)
    return { index, ...match, ...(isOutOfOrder && { isOutOfOrder }) }
  }
  const bodyOf = (index: number): Json | undefined => calls[index]?.asked?.()?.body

  const neededFor = (live: Asked, index: number): Pick<Match, 'by' | 'names'> => {
    const { by, names } = findNeeded(bodyOf(index) ?? null, live.body, normalisers)
    return { by, ...(names.size > 0 && { names }) }
  }
  const differences = (live: Asked, index: number): readonly PathDifference[] => {
    const recorded = bodyOf(index)
    return recorded === undefined ? [] : diffPaths(recorded, live.body, { way })
  }

  /** The lane that a request goes on with, by what it shares with the lane's next call. */
  const laneOf = (live: Asked): { readonly index: number; readonly isThere: boolean } | undefined => {
    let best: { readonly index: number; readonly isThere: boolean; readonly score: number } | undefined
    for (const [lane, own] of lanes) {
      const index = nextOf(lane) ?? own.at(-1)
      if (index === undefined) continue
      const { turn, asked } = calls[index] as RecordedCall
      const recorded = asked?.()
      const isOpen = !given.has(index)
      const scored =
        recorded !== undefined
          ? toLaneScore(recorded, live, way)
          : { isThere: turn?.position === positionOf(live), score: turn && isSameTurn(turn, live) ? 3 : 1 }
      const score = scored.score * 4 + (scored.isThere ? 2 : 0) + (isOpen ? 1 : 0)
      if (scored.score > 0 && score > (best?.score ?? 0))
        best = { index, isThere: scored.isThere && isOpen, score }
    }
    return best
  }

  return {
    prepare: () => exact.prepare(),
    choose(live) {
      const same = exact.find(live)
      const fresh = same.find((index) => !given.has(index))
      if (fresh !== undefined) return take(fresh, { how: 'exact' })
      const alike = normalised.find(live)
      const freshAlike = alike.find((index) => !given.has(index))
      if (freshAlike !== undefined && isAllowed('normalised'))
        return take(freshAlike, { how: 'normalised', ...neededFor(live, freshAlike) })
      const again = same.at(-1) ?? (isAllowed('normalised') ? alike.at(-1) : undefined)
      if (again !== undefined) {
        const repeat = given.get(again) ?? 0
        if (repeat > repeats) return { how: 'miss', reason: 'asked-too-often', nearest: again }
        const how = same.includes(again) ? 'exact' : 'normalised'
        return take(again, { how, repeat, ...(how === 'normalised' && neededFor(live, again)) })
      }
      const near = laneOf(live)
      if (near === undefined) return { how: 'miss', reason: 'nothing-like-it' }
      const differs = differences(live, near.index)
      const found = { nearest: near.index, differences: differs }
      if (!near.isThere)
        return { how: 'miss', reason: given.has(near.index) ? 'lane-is-over' : 'nothing-like-it', ...found }
      if (!isAllowed('positional')) return { how: 'miss', reason: 'not-allowed', ...found }
      const { turn } = calls[near.index] as RecordedCall
      const isTurn = turn !== undefined && isSameTurn(turn, live)
      const { names } = neededFor(live, near.index)
      return take(near.index, {
        how: 'positional',
        ...(names && { names }),
        ...(isTurn && { by: ['turn'] }),
        ...(differs.length > 0 && { differences: differs }),
      })
    },
    unasked: () => calls.flatMap((_, index) => (given.has(index) ? [] : [index])),
  }
}

/** Recorded calls by their key. Keys are made when they are first needed: the exact ones often suffice. */
function createFinder(
  calls: readonly RecordedCall[],
  keyOf: (asked: Asked) => string,
): { prepare(): void; find(live: Asked): readonly number[] } {
  let byKey: Map<string, number[]> | undefined
  const build = (): Map<string, number[]> => {
    const made = new Map<string, number[]>()
    for (const [index, { asked }] of calls.entries()) {
      const request = asked?.()
      if (request === undefined) continue
      const key = keyOf(request)
      const own = made.get(key)
      if (own === undefined) made.set(key, [index])
      else own.push(index)
    }
    return made
  }
  return {
    prepare: () => void (byKey ??= build()),
    find(live) {
      byKey ??= build()
      return byKey.get(keyOf(live)) ?? []
    },
  }
}

/** Of what a request holds, for whoever explains it: how many messages, and what the last one is. */
export function describeAsked({ api, body, model }: Asked): string {
  if (!isObject(body)) return `${api}, no object`
  const { list } = partsOf(body)
  const asked = asString(body['model']) ?? model
  return `${api}${asked === undefined ? '' : ` ${asked}`}, ${counted(list.length, 'message')}, the last ${lastOf(list)}`
}
