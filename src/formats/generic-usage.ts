/**
 * Token counts that nobody told us how to read. Names are looked for, near the message; whether the input includes what was cached is told
 * by the total where there is one, and assumed where there is none: such a usage is `estimated`, always.
 */
import { asCount, asObject, asString, isObject, type Json, type JsonObject } from '../transcript/json.ts'
import { hasCounts, withoutZeros, type Usage } from '../transcript/usage.ts'

export type Found = { readonly usage?: Usage; readonly model?: string }

/** Levels below the message, and objects, that are looked at. */
const DEPTH = 4
const MOST = 100

export function findUsage(message: JsonObject): Found | undefined {
  let level: readonly JsonObject[] = [message]
  let looked = 0
  for (let depth = 0; depth <= DEPTH; depth += 1) {
    for (const one of level) {
      const usage = toUsage(one['usage'] ?? one['token_usage'] ?? one['tokenUsage'] ?? one['tokens'])
      const model = asString(one['model']) ?? asString(one['modelId']) ?? asString(one['model_id'])
      if (usage !== undefined) return { usage, ...(model !== undefined && { model }) }
    }
    looked += level.length
    if (looked > MOST) return undefined
    level = level.flatMap((one) =>
      Object.keys(one).flatMap((key): readonly JsonObject[] => {
        const below = one[key]
        return isObject(below) ? [below] : []
      }),
    )
  }
  return undefined
}

const INPUT = ['input_tokens', 'inputTokens', 'prompt_tokens', 'promptTokens', 'input']
const OUTPUT = ['output_tokens', 'outputTokens', 'completion_tokens', 'completionTokens', 'output']
const READ = [
  'cache_read_tokens',
  'cacheReadTokens',
  'cache_read_input_tokens',
  'cachedInputTokens',
  'cached_tokens',
  'cacheRead',
]
const WRITTEN = [
  'cache_creation_tokens',
  'cacheWriteTokens',
  'cache_creation_input_tokens',
  'cache_write_tokens',
  'cacheWrite',
]
const REASONING = ['reasoning_tokens', 'reasoningTokens']
const TOTAL = ['total_tokens', 'totalTokens', 'total']

function toUsage(raw: Json | undefined): Usage | undefined {
  if (!isObject(raw)) return undefined
  const count = (names: readonly string[]): number | undefined =>
    names.map((name) => asCount(raw[name])).find((one) => one !== undefined)
  const stated = count(INPUT)
  const output = count(OUTPUT)
  if (stated === undefined && output === undefined) return undefined
  const details = asObject(raw['prompt_tokens_details']) ?? asObject(raw['input_tokens_details'])
  const cacheRead = count(READ) ?? asCount(details?.['cached_tokens'])
  const cacheWrite5m = count(WRITTEN)
  const reasoning = count(REASONING)
  const cached = (cacheRead ?? 0) + (cacheWrite5m ?? 0)
  const input =
    stated === undefined
      ? undefined
      : isIncluded(raw, stated, output, cached, count(TOTAL))
        ? Math.max(0, stated - cached)
        : stated
  const usage: Usage = {
    ...(input !== undefined && { input }),
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite5m !== undefined && { cacheWrite5m }),
    ...(output !== undefined && { output }),
    ...(reasoning !== undefined && { reasoning }),
    quality: 'estimated',
    raw,
  }
  return hasCounts(usage) ? withoutZeros(usage) : undefined
}

/** By the total, else by whose words they are: OpenAI's `prompt_tokens` include what was cached. */
function isIncluded(
  raw: JsonObject,
  input: number,
  output: number | undefined,
  cached: number,
  total: number | undefined,
): boolean {
  if (cached === 0) return false
  if (total === input + (output ?? 0)) return true
  if (total === input + (output ?? 0) + cached) return false
  return 'prompt_tokens' in raw || 'promptTokens' in raw || 'cachedInputTokens' in raw
}
