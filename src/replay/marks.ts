/**
 * How sure an amount is, in one sign before it: the one rule for tokens and money in every view. `≥` is a lower bound, `~` is
 * estimated, and what bears no sign is what the provider reported. A sum is as sure as the worst that went into it.
 */
import type { Cost } from '../transcript/session.ts'
import { qualityRank, type Quality } from '../transcript/usage.ts'

export type Mark = '' | '≥' | '~'

/** What an amount is of. */
export type Amount = {
  readonly usage?:
    | {
        readonly input?: number | undefined
        readonly output?: number | undefined
        readonly quality: Quality
      }
    | undefined
  /** Answers that nobody counted. */
  readonly uncounted?: number | undefined
  readonly cost?: Cost | undefined
  /** The cost is by a rule, whatever its tokens are. */
  readonly isEstimated?: boolean | undefined
}

/** Counts that nobody states are no lower bound of anything: of these nothing vouches for the few there are. */
const MARKS: Readonly<Record<Quality, Mark>> = {
  reported: '',
  partial: '≥',
  estimated: '~',
  unavailable: '~',
}

export const toMark = (quality: Quality | undefined): Mark => MARKS[quality ?? 'reported']

/** Of one kind of token. */
export const countMark = (amount: Amount): Mark => toMark(countQuality(amount))

export function countQuality({ usage, uncounted = 0 }: Amount): Quality {
  return uncounted > 0 ? 'partial' : (usage?.quality ?? 'reported')
}

/** Of what takes all kinds of token: their sum, and money. */
export const sumMark = (amount: Amount): Mark => toMark(sumQuality(amount))

/** What is missing altogether makes it a lower bound, however sure the rest is: an estimate of it may be far from the whole. */
export function sumQuality({ usage, uncounted = 0, cost, isEstimated = false }: Amount): Quality {
  const isOneSided = usage !== undefined && (usage.input === undefined || usage.output === undefined)
  if (uncounted > 0 || isOneSided || (cost?.unpriced.length ?? 0) > 0) return 'partial'
  return isEstimated ? worseOf(usage?.quality, 'estimated') : (usage?.quality ?? 'reported')
}

/** Of what one has more than another: a bound of either is no bound of it. */
export const differenceMark = (a: Mark, b: Mark): Mark => (a === '' && b === '' ? '' : '~')

export function worseOf(a: Quality = 'reported', b: Quality = 'reported'): Quality {
  return qualityRank(a) >= qualityRank(b) ? a : b
}

/** `≥ 5,200`. */
export const marked = (mark: Mark | typeof STATED, text: string): string =>
  mark === '' ? text : `${mark} ${text}`

/** Before a cost where others in its place are computed: the source states it, and none could be computed. */
export const STATED = '*'

const MEANS: readonly (readonly [Mark | typeof STATED, string])[] = [
  ['≥', '≥ at least: not all of it was counted, or has a price'],
  ['~', '~ estimated'],
  [STATED, `${STATED} as its source states it: no cost could be computed`],
]

/** For below a table: what the signs mean that amounts in it begin with, or are. Undefined where none does. */
export function legend(amounts: readonly string[]): string | undefined {
  const said = MEANS.filter(([mark]) => amounts.some((text) => text === mark || text.startsWith(`${mark} `)))
  return said.length === 0 ? undefined : said.map(([, means]) => means).join('; ')
}
