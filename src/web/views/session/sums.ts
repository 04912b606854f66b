/** What some entries of a session come to, by its columns: what was changed and failed, when, what it cost, and how sure that is. */
import { createCallsFold } from '../../../replay/call-bytes.ts'
import type { Amount } from '../../../replay/marks.ts'
import type { ApiCost } from '../../../server/api-model.ts'
import { KIND_FLAGS } from '../../../transcript/kinds.ts'
import type { Columns } from './columns.ts'

/** Positions from one up to, and without, another; of one source, or of all. */
export type Some = { readonly from?: number; readonly to?: number; readonly source?: string }

export type Sums = {
  readonly errors: number
  readonly edits: number
  /** Undefined where nothing of it is known. */
  readonly cost: ApiCost | undefined
  /** What the cost, and the tokens, are of. */
  readonly sure: Omit<Amount, 'cost'>
  /** Milliseconds since 1970, of the first that says a time and of the latest; NaN where none does. */
  readonly firstAt: number
  readonly lastAt: number
}

export function sumsOf(columns: Columns, { from = 0, to = columns.length, source }: Some): Sums {
  const { kinds, costs, times, sourceOf, calls } = columns
  const only = source === undefined ? undefined : columns.sources.indexOf(source)
  const fold = createCallsFold()
  let [errors, edits, usd, isUnpriced, firstAt, lastAt] = [0, 0, 0, false, Number.NaN, Number.NaN]
  for (let at = from; at < to; at += 1) {
    const own = sourceOf[at] ?? 0
    if (only !== undefined && own !== only) continue
    const kind = kinds[at] ?? 0
    if ((kind & KIND_FLAGS.error) !== 0) errors += 1
    if ((kind & KIND_FLAGS.edit) !== 0) edits += 1
    const cost = costs[at] ?? 0
    if (cost < 0) isUnpriced = true
    else usd += cost
    fold.add(calls[at] ?? 0, own)
    const time = times[at] ?? Number.NaN
    if (Number.isNaN(time)) continue
    if (Number.isNaN(firstAt)) firstAt = time
    if (!(time < lastAt)) lastAt = time
  }
  // What costs nothing, or is said not to, is counted with something else or with nothing.
  const cost = usd > 0 ? { usd: String(usd), unpriced: isUnpriced ? ['some of it'] : [] } : undefined
  return { errors, edits, cost, sure: fold.amount(), firstAt, lastAt }
}
