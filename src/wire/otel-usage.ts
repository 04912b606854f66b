/**
 * Token counts as spans state them. The conventions say that input includes what was read from and written to a cache; not all who
 * follow them do so, and the total or the counts themselves tell. Unknown stays unknown.
 */
import type { Json } from '../transcript/json.ts'
import { asCount } from '../transcript/json.ts'
import { hasCounts, type Usage } from '../transcript/usage.ts'
import type { Attributes } from './otlp.ts'

/** What each count is called, by the conventions and those before and beside them. The first that is there counts. */
const INPUT = [
  'gen_ai.usage.input_tokens',
  'gen_ai.usage.prompt_tokens',
  'llm.token_count.prompt',
  'llm.usage.prompt_tokens',
  'ai.usage.promptTokens',
  'ai.usage.inputTokens',
]
const OUTPUT = [
  'gen_ai.usage.output_tokens',
  'gen_ai.usage.completion_tokens',
  'llm.token_count.completion',
  'llm.usage.completion_tokens',
  'ai.usage.completionTokens',
  'ai.usage.outputTokens',
]
const CACHE_READ = [
  'gen_ai.usage.cache_read.input_tokens',
  'gen_ai.usage.cache_read_input_tokens',
  'gen_ai.usage.cached_tokens',
  'llm.token_count.prompt_details.cache_read',
  'ai.usage.cachedInputTokens',
]
const CACHE_WRITE = [
  'gen_ai.usage.cache_creation.input_tokens',
  'gen_ai.usage.cache_creation_input_tokens',
  'llm.token_count.prompt_details.cache_write',
]
const REASONING = [
  'gen_ai.usage.reasoning.output_tokens',
  'gen_ai.usage.reasoning_tokens',
  'llm.token_count.completion_details.reasoning',
  'ai.usage.reasoningTokens',
]
const TOTAL = [
  'gen_ai.usage.total_tokens',
  'llm.usage.total_tokens',
  'llm.token_count.total',
  'ai.usage.totalTokens',
]

/** Undefined where the span states no count at all. */
export function toUsage(attributes: Attributes): Usage | undefined {
  const count = (names: readonly string[]): number | undefined =>
    names.map((name) => asCount(attributes.get(name))).find((found) => found !== undefined)
  const stated = count(INPUT)
  const output = count(OUTPUT)
  const cacheRead = count(CACHE_READ)
  const cacheWrite5m = count(CACHE_WRITE)
  const reasoning = count(REASONING)
  const cached = (cacheRead ?? 0) + (cacheWrite5m ?? 0)
  const isApart = stated !== undefined && isCacheApart(stated, cached, output, count(TOTAL))
  const input = stated === undefined || isApart ? stated : stated - cached
  const usage: Usage = {
    ...(input !== undefined && { input }),
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite5m !== undefined && { cacheWrite5m }),
    ...(output !== undefined && { output }),
    ...(reasoning !== undefined && { reasoning: Math.min(reasoning, output ?? reasoning) }),
    quality: 'reported',
  }
  return hasCounts(usage) ? { ...usage, raw: rawOf(attributes) } : undefined
}

/** Whether the input leaves out what the cache took part in: as the total says, else where it could not hold it. */
function isCacheApart(input: number, cached: number, output = 0, total: number | undefined): boolean {
  if (cached === 0) return false
  if (total === input + output) return false
  return total === input + cached + output || cached > input
}

function rawOf(attributes: Attributes): Json {
  return Object.fromEntries(
    [...attributes].filter(([name]) =>
      /^(?:gen_ai\.usage|llm\.usage|llm\.token_count|ai\.usage)\./.test(name),
    ),
  )
}
