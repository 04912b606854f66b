/**
 * Gemini's `usageMetadata`. The prompt includes what was read from a cache; thoughts stand beside the candidates and are
 * billed as output; the prompts of the provider's own tools stand beside the prompt.
 */
import type { Json } from '../transcript/json.ts'
import { asCount, isObject } from '../transcript/json.ts'
import type { Quality, Usage } from '../transcript/usage.ts'
import { hasCounts } from '../transcript/usage.ts'

/**
 * The counts a `usageMetadata` states, made disjoint; `raw` keeps the object. Gemini leaves out counts that are 0: an output
 * it does not name is what the total has beyond the prompt.
 */
export function fromGeminiUsage(raw: Json | undefined, quality: Quality = 'reported'): Usage {
  if (!isObject(raw)) return { quality: 'unavailable', ...(raw !== undefined && raw !== null && { raw }) }
  const prompt = asCount(raw['promptTokenCount'])
  const cached = asCount(raw['cachedContentTokenCount'])
  const toolUse = asCount(raw['toolUsePromptTokenCount'])
  const reasoning = asCount(raw['thoughtsTokenCount'])
  // Vertex's older name for the same count is `responseTokenCount`.
  const candidates = asCount(raw['candidatesTokenCount']) ?? asCount(raw['responseTokenCount'])
  const total = asCount(raw['totalTokenCount'])
  const cacheRead = cached === undefined || prompt === undefined ? cached : Math.min(cached, prompt)
  const input = sum(prompt === undefined ? undefined : prompt - (cacheRead ?? 0), toolUse)
  const beyond = total === undefined || prompt === undefined ? undefined : total - prompt - (toolUse ?? 0)
  const output = candidates === undefined ? (asCount(beyond) ?? reasoning) : sum(candidates, reasoning)
  const usage: Usage = {
    ...(input !== undefined && { input }),
    ...(cacheRead !== undefined && { cacheRead }),
    ...(output !== undefined && { output }),
    ...(reasoning !== undefined && { reasoning }),
    quality: cacheRead !== cached && quality === 'reported' ? 'estimated' : quality,
    raw,
  }
  return hasCounts(usage) ? usage : { quality: 'unavailable', raw }
}

function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0)
}
