/**
 * How sure the counts of calls are, entry by entry: a byte says what is known of an entry's call with it, and what was known before.
 * So the sum over any entries is as sure as the worst call in it, and a call is not held against it once its last word has come.
 */
import { hasCounts, QUALITIES, qualityRank, type Quality, type Usage } from '../transcript/usage.ts'
import { worseOf, type Amount } from './marks.ts'

/** How many calls there are of each kind that is not the provider's last word. */
export type Unsure = readonly number[]
export const UNSURE = ['partial', 'estimated', 'unavailable', 'uncounted'] as const
export const NONE_UNSURE: Unsure = UNSURE.map(() => 0)

/** A rank has three bits: 0 for no call, 1 for what was reported, then the kinds of `UNSURE`. */
const [REPORTED, FIRST_UNSURE, UNCOUNTED] = [1, 2, 5]
const RANK = 0b111
/** Where the rank before stands. */
const BEFORE = 3
const HAS_INPUT = 1 << 6
const HAS_OUTPUT = 1 << 7

/** `now`: all that is known of the call with this entry. `before`: without it; undefined for its first report. */
export function toCallByte(now: Usage, before: Usage | undefined): number {
  return (
    rankOf(now) |
    ((before === undefined ? 0 : rankOf(before)) << BEFORE) |
    (now.input === undefined ? 0 : HAS_INPUT) |
    (now.output === undefined ? 0 : HAS_OUTPUT)
  )
}

const rankOf = (usage: Usage): number =>
  hasCounts(usage) ? REPORTED + qualityRank(usage.quality) : UNCOUNTED

/** Undefined where it says nothing of a call, or nobody counted it. */
export function qualityOfCall(byte: number): Quality | undefined {
  return QUALITIES[(byte & RANK) - REPORTED]
}

/** It tells of a call, and not what it used. */
export const isUncounted = (byte: number): boolean => (byte & RANK) === UNCOUNTED

/** The calls, with what an entry says of one of them. What is not among them is not taken off. */
export function withCall(calls: Unsure, byte: number): Unsure {
  const [now, before] = [(byte & RANK) - FIRST_UNSURE, ((byte >> BEFORE) & RANK) - FIRST_UNSURE]
  if (now < 0 && before < 0) return calls
  const changed = [...calls]
  if (before >= 0) changed[before] = Math.max(0, (changed[before] ?? 0) - 1)
  if (now >= 0) changed[now] = (changed[now] ?? 0) + 1
  return changed
}

/** Of the sum of calls of which some were counted. */
export function qualityOfCalls(calls: Unsure): Quality {
  return UNSURE.reduce<Quality>((worst, kind, at) => {
    if ((calls[at] ?? 0) === 0) return worst
    // As everywhere: with a call that nobody counted, a sum is partial at best.
    return worseOf(worst, kind === 'uncounted' ? 'partial' : kind)
  }, 'reported')
}

export const uncountedOf = (calls: Unsure): number => calls[UNSURE.indexOf('uncounted')] ?? 0

export type CallsFold = {
  /** `source`: the entry's. Calls of one source come one after the other, so what ends there is what began there last. */
  add(byte: number, source: number): void
  amount(): Omit<Amount, 'cost'>
}

/** That a count is known. How large it is, no byte says. */
const KNOWN = 0

export function createCallsFold(): CallsFold {
  const bySource = new Map<number, Unsure>()
  /** The bits of all calls that were counted. */
  let counted = 0
  return {
    add(byte, source) {
      if (byte === 0) return
      if (!isUncounted(byte)) counted |= byte
      bySource.set(source, withCall(bySource.get(source) ?? NONE_UNSURE, byte))
    },
    amount() {
      const all = [...bySource.values()]
      const calls = UNSURE.map((_, at) => all.reduce((sum, own) => sum + (own[at] ?? 0), 0))
      const uncounted = uncountedOf(calls)
      const usage = {
        ...((counted & HAS_INPUT) !== 0 && { input: KNOWN }),
        ...((counted & HAS_OUTPUT) !== 0 && { output: KNOWN }),
        quality: qualityOfCalls(calls),
      }
      return { ...(counted !== 0 && { usage }), ...(uncounted > 0 && { uncounted }) }
    },
  }
}
