/**
 * What one provider call is billed as. Mostly one request; several where the provider says so in its own usage object, with
 * a model for each: a refusal answered by a fallback, a compaction, an adviser. Their sum is the bill, not the top level.
 */
import { asArray, asCount, asObject, asString, type JsonObject } from '../transcript/json.ts'
import type { Usage } from '../transcript/usage.ts'

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
  const iterations = asArray(raw?.['iterations'])?.map(asObject) ?? []
  // One iteration says what the top level says. Anything that is not an object makes the list not the one we know.
  if (iterations.length < 2 || iterations.includes(undefined)) {
    return [{ model: call.model, usage: call.usage, ...facts }]
  }
  return iterations
    .filter((iteration) => iteration !== undefined)
    .map((iteration) => ({
      model: asString(iteration['model']) ?? call.model,
      usage: iterationUsage(iteration),
      ...facts,
    }))
}

/** `speed: "fast"` is Anthropic's name for a tier that OpenAI writes as `service_tier`. */
function tierOf(call: PricedCall, raw: JsonObject | undefined): string | undefined {
  const speed = (call.speed ?? asString(raw?.['speed']))?.toLowerCase()
  const tier = (call.serviceTier ?? asString(raw?.['service_tier']))?.toLowerCase()
  if (tier !== undefined && !STANDARD.has(tier)) {
    // No provider sells two tiers at once; if one ever does, their price is not known.
    return speed === undefined || STANDARD.has(speed) ? tier : `${tier}+${speed}`
  }
  return speed === undefined || STANDARD.has(speed) ? undefined : speed
}

/** Cache writes that are not split by lifetime are five-minute ones, the provider's default. */
function iterationUsage(iteration: JsonObject): Usage {
  const split = asObject(iteration['cache_creation'])
  const written = asCount(iteration['cache_creation_input_tokens'])
  const hour = asCount(split?.['ephemeral_1h_input_tokens'])
  const input = asCount(iteration['input_tokens'])
  const cacheRead = asCount(iteration['cache_read_input_tokens'])
  const output = asCount(iteration['output_tokens'])
  const minutes =
    asCount(split?.['ephemeral_5m_input_tokens']) ??
    (written === undefined ? undefined : Math.max(0, written - (hour ?? 0)))
  return {
    ...(input !== undefined && { input }),
    ...(cacheRead !== undefined && { cacheRead }),
    ...(minutes !== undefined && { cacheWrite5m: minutes }),
    ...(hour !== undefined && { cacheWrite1h: hour }),
    ...(output !== undefined && { output }),
    quality: 'reported',
  }
}
