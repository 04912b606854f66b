/** A call that was billed, as the state keeps it: priced, without the provider's own words. */
import { costOf, NOT_BILLED } from '../cost/cost.ts'
import type { BilledCall } from '../transcript/totals.ts'
import { hasCounts } from '../transcript/usage.ts'
import type { Call } from './unit-facts.ts'
import type { ToolCounts } from './work.ts'

/** `session`: its key. */
export function toCall(
  session: string,
  billed: BilledCall,
  stub: boolean,
  work: readonly ToolCounts[] | undefined,
): Call {
  const { key, provider, model, at, source, tools } = billed
  const { raw: _, ...usage } = billed.usage
  // A call that nobody counted says what it lacks by itself: its model may well have a price.
  const cost = stub || !hasCounts(usage) ? undefined : costOf(billed)
  const isPriced = cost !== undefined && !('unpriced' in cost)
  return {
    session,
    ...(key !== undefined && { key }),
    ...(provider !== undefined && { provider }),
    ...(model !== undefined && { model }),
    ...(at !== undefined && { at }),
    usage,
    ...(source !== undefined && { source: source.slice(0, 200) }),
    ...(tools !== undefined && { tools }),
    ...(tools !== undefined && work !== undefined && { work }),
    // What nobody was asked to pay for is neither a price of zero nor an unknown one.
    ...(isPriced && cost.row !== NOT_BILLED && { pico: cost.pico }),
    ...(cost !== undefined && !isPriced && { unpriced: (model ?? 'unknown').slice(0, 200) }),
  }
}
