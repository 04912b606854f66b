/** A session's totals with what they cost: the one way they are counted, live, from the archive and from a file. */
import { createCostFold } from '../cost/cost.ts'
import type { Entry } from '../transcript/entry.ts'
import type { Totals } from '../transcript/session.ts'
import { createCallFold, type BilledCall } from '../transcript/totals.ts'
import { hasCounts } from '../transcript/usage.ts'

export type TotalsFold = {
  /** `model` is the session's: whose a call is that names none itself. */
  add(entry: Entry, model?: string): void
  /** Settles the calls that still wait for a later report. `stub`: nothing was asked of a provider, so there is no usage and no cost. */
  totals(stub: boolean | undefined): Totals
}

/** Reports of one call stand close together; beyond this many calls they are no longer waited for, whatever the session's size. */
const OPEN_CALLS = 10_000

export function createTotals(): TotalsFold {
  const cost = createCostFold()
  const settle = (call: BilledCall): void => {
    if (hasCounts(call.usage)) cost.add(call)
  }
  const fold = createCallFold({ settle, window: OPEN_CALLS })
  return {
    add: (entry, model) =>
      fold.add(entry.model === undefined && model !== undefined ? { ...entry, model } : entry),
    totals(stub) {
      const { usage, ...totals } = fold.totals()
      // Whatever a stub says that it used, no provider counted it: its receipt says 0.
      if (stub === true || usage === undefined) return totals
      // The cost of calls whose usage nobody stated is not known, which is not the same as nothing.
      return { ...totals, usage, cost: cost.cost() }
    },
  }
}
