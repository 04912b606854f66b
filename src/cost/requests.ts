/**
 * What one provider call is billed as. Mostly one request; several where the provider says so in its own usage object, with
 * a model for each: a refusal answered by a fallback, a compaction, an adviser. Their sum is the bill, not the top level.
 */
import { asObject, asString, type JsonObject } from '../transcript/json.ts'
import { hasCounts, type Usage } from '../transcript/usage.ts'
import { anthropicIterations } from '../wire/anthropic-usage.ts'

/** A call as it is priced. What the provider's answer says of tier and place decides, never what was asked for. */
export type PricedCall = {
  readonly model?: string | undefined
  readonly usage: Usage
  /** When the call was made: which price was in force. */
  readonly at?: string | undefined
  readonly serviceTier?: string | undefined
  readonly speed?: string | undefined
  readonly inferenceGeo?: string | undefined
}

export type BilledRequest = {
  readonly model: string | undefined
  readonly usage: Usage
  /** Absent for the standard tier. */
  readonly tier?: string
  /** Absent where processing is not bound to a place. */
  readonly geo?: string
}

const STANDARD = new Set(['standard', 'default', 'auto', 'on_demand', 'on-demand', 'unspecified', 'normal'])
const ANYWHERE = new Set(['global', 'default', 'auto', 'not_available', 'unspecified', ''])

export function billedRequests(call: PricedCall): readonly BilledRequest[] {
  const raw = asObject(call.usage.raw)
  const tier = tierOf(call, raw)
  const geo = (call.inferenceGeo ?? asString(raw?.['inference_geo']))?.toLowerCase()
  const facts = {
    ...(tier !== undefined && { tier }),
    ...(geo !== undefined && !ANYWHERE.has(geo) && { geo }),
  }
  const iterations = anthropicIterations(raw) ?? []
  const isMore = iterations.length > 1 || iterations.some(({ type = 'message' }) => type !== 'message')
  // One message says what the top level says; a list with something else in it is not the one we know.
  if (!isMore || !iterations.every(({ usage }) => hasCounts(usage))) {
    return [{ model: call.model, usage: call.usage, ...facts }]
  }
  return iterations.map(({ model, usage }) => ({ model: model ?? call.model, usage, ...facts }))
}

/** `speed: "fast"` is Anthropic's name for a tier that OpenAI writes as `service_tier`. */
function tierOf(call: PricedCall, raw: JsonObject | undefined): string | undefined {
  const speed = (call.speed ?? asString(raw?.['speed']))?.toLowerCase()
  const stated = call.serviceTier ?? asString(raw?.['service_tier']) ?? asString(raw?.['serviceTier'])
  const tier = stated?.toLowerCase().replace(/^service_tier_/, '')
  if (tier !== undefined && !STANDARD.has(tier)) {
    // No provider sells two tiers at once; if one ever does, their price is not known.
    return speed === undefined || STANDARD.has(speed) ? tier : `${tier}+${speed}`
  }
  return speed === undefined || STANDARD.has(speed) ? undefined : speed
}
