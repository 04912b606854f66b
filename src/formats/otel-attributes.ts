/** Attributes of spans as OTLP's JSON has them, and the GenAI conventions' names for providers and counts. */
import { toJson, type Json, type JsonObject } from '../transcript/json.ts'
import { promptTokens, type Usage } from '../transcript/usage.ts'

/** A provider that the conventions have a name for must be called by it. */
export const toProviderName = (provider: string): string => PROVIDERS.get(provider) ?? provider

const PROVIDERS: ReadonlyMap<string, string> = new Map([
  ['google', 'gcp.gen_ai'],
  ['gemini', 'gcp.gemini'],
  ['vertex', 'gcp.vertex_ai'],
  ['bedrock', 'aws.bedrock'],
  ['azure', 'azure.ai.openai'],
  ['mistral', 'mistral_ai'],
  ['moonshot', 'moonshot_ai'],
  ['xai', 'x_ai'],
])

/** Input is all that was read, cached or not, as the conventions have it. */
export function usageOf(usage: Usage): { readonly [key: string]: Json } {
  const prompt = promptTokens(usage)
  const { cacheRead, cacheWrite5m, cacheWrite1h, output, reasoning } = usage
  const written =
    cacheWrite5m === undefined && cacheWrite1h === undefined
      ? undefined
      : (cacheWrite5m ?? 0) + (cacheWrite1h ?? 0)
  return {
    ...(prompt !== undefined && { 'gen_ai.usage.input_tokens': prompt }),
    ...(cacheRead !== undefined && { 'gen_ai.usage.cache_read.input_tokens': cacheRead }),
    ...(written !== undefined && { 'gen_ai.usage.cache_creation.input_tokens': written }),
    ...(output !== undefined && { 'gen_ai.usage.output_tokens': output }),
    ...(reasoning !== undefined && { 'gen_ai.usage.reasoning.output_tokens': reasoning }),
  }
}

export const attributesOf = (values: { readonly [key: string]: Json }): readonly JsonObject[] =>
  Object.entries(values).map(([key, value]) => ({ key, value: toValue(value) }))

export function toValue(value: Json): JsonObject {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
  if (Array.isArray(value)) return { arrayValue: { values: value.map((one: Json) => toValue(one)) } }
  return { stringValue: toJson(value) }
}
