/** A call that was billed, as the state keeps it: priced, without the provider's own words. */
import { costOf, NOT_BILLED } from '../cost/cost.ts'
import type { BilledCall } from '../transcript/totals.ts'
import { hasCounts, withoutRaw } from '../transcript/usage.ts'
import type { Call } from './session-facts.ts'
import type { ToolCounts } from './work.ts'

/** `session`: its key. */
export function toCall(
  session: string,
  billed: BilledCall,
  stub: boolean,
  work: readonly ToolCounts[] | undefined,
): Call {
  const { key, provider, model, at, source, tools } = billed
  const usage = withoutRaw(billed.usage)
  // A call that nobody counted says what it lacks by itself: its model may well have a price.
  const cost = stub || !hasCounts(usage) ? undefined : costOf(billed)
  const isPriced = cost !== undefined && !('unpriced' in cost)
  // Field by field: spreads of objects that may be empty took a twentieth of a log's time.
  const call: { -readonly [K in keyof Call]: Call[K] } = { session, usage }
  if (key !== undefined) call.key = key
  if (provider !== undefined) call.provider = provider
  if (model !== undefined) call.model = model
  if (at !== undefined) call.at = at
  if (source !== undefined) call.source = source.length > 200 ? source.slice(0, 200) : source
  if (tools !== undefined) {
    call.tools = tools
    if (work !== undefined) call.work = work
  }
  // What nobody was asked to pay for is neither a price of zero nor an unknown one.
  if (isPriced && cost.row !== NOT_BILLED) call.pico = cost.pico
  if (cost !== undefined && !isPriced) call.unpriced = (model ?? 'unknown').slice(0, 200)
  return call
}
