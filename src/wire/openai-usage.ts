/**
 * OpenAI's usage, of Chat Completions and of Responses. Its totals include their details, so they are taken apart here:
 * input = prompt − cached − written to cache; reasoning stays a part of output.
 */
import type { Json, JsonObject } from '../transcript/json.ts'
import { asCount, asObject, isObject } from '../transcript/json.ts'
import type { Quality, Usage } from '../transcript/usage.ts'
import { hasCounts } from '../transcript/usage.ts'

/**
 * The counts an OpenAI usage object states, made disjoint; `raw` keeps the object. OpenAI names one kind of cache write:
 * it stands in `cacheWrite5m`. Details that are larger than their total contradict it: they are cut to it and the usage is
 * `estimated`.
 */
export function fromOpenAiUsage(raw: Json | undefined, quality: Quality = 'reported'): Usage {
  if (!isObject(raw)) return { quality: 'unavailable', ...(raw !== undefined && raw !== null && { raw }) }
  const prompt = asCount(raw['prompt_tokens']) ?? asCount(raw['input_tokens'])
  const output = asCount(raw['completion_tokens']) ?? asCount(raw['output_tokens'])
  const promptDetails = details(raw, 'prompt_tokens_details', 'input_tokens_details')
  const outputDetails = details(raw, 'completion_tokens_details', 'output_tokens_details')
  const cached = asCount(promptDetails?.['cached_tokens'])
  const written = asCount(promptDetails?.['cache_write_tokens'])
  const reasoning = asCount(outputDetails?.['reasoning_tokens'])
  const cacheRead = cut(cached, prompt)
  const cacheWrite5m = cut(written, minus(prompt, cacheRead))
  const input = minus(minus(prompt, cacheRead), cacheWrite5m)
  const isCut = cacheRead !== cached || cacheWrite5m !== written
  const usage: Usage = {
    ...(input !== undefined && { input }),
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite5m !== undefined && { cacheWrite5m }),
    ...(output !== undefined && { output }),
    ...(reasoning !== undefined && { reasoning }),
    quality: isCut && quality === 'reported' ? 'estimated' : quality,
    raw,
  }
  return hasCounts(usage) ? usage : { quality: 'unavailable', raw }
}

function details(raw: JsonObject, chat: string, responses: string): JsonObject | undefined {
  return asObject(raw[chat]) ?? asObject(raw[responses])
}

function cut(part: number | undefined, whole: number | undefined): number | undefined {
  return part === undefined || whole === undefined ? part : Math.min(part, whole)
}

function minus(whole: number | undefined, part: number | undefined): number | undefined {
  return whole === undefined ? undefined : whole - (part ?? 0)
}
