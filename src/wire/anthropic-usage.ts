/**
 * Anthropic's usage, in and out. Its counts are already disjoint (input excludes cache); only the two kinds of cache write,
 * which are priced differently, sometimes come as one number.
 */
import type { Json, JsonObject } from '../transcript/json.ts'
import { asArray, asCount, asObject, asString, isObject } from '../transcript/json.ts'
import type { Quality, Usage } from '../transcript/usage.ts'
import { COUNTS, hasCounts } from '../transcript/usage.ts'

/** One sampling of a call that took several: compaction, an advisor, a fallback. Priced by its own model where it names one. */
export type Iteration = { readonly type?: string; readonly model?: string; readonly usage: Usage }

/**
 * The counts an Anthropic usage object states; `raw` keeps the object. `quality` is what the caller knows of the report: a
 * stream that was cut, or a log line written before the last event, is `partial`. A cache write whose duration nobody states
 * is counted as 5 minutes (the API's default) and makes the usage `estimated`. Without any count it is `unavailable`.
 */
export function fromAnthropicUsage(raw: Json, quality: Quality = 'reported'): Usage {
  if (!isObject(raw)) return { quality: 'unavailable', ...(raw !== null && { raw }) }
  // Built field by field: every assistant line of a log comes through here, and spreads cost more than its JSON.parse.
  const usage: { -readonly [K in keyof Usage]: Usage[K] } = { quality, raw }
  const input = asCount(raw['input_tokens'])
  if (input !== undefined) usage.input = input
  const cacheRead = asCount(raw['cache_read_input_tokens'])
  if (cacheRead !== undefined) usage.cacheRead = cacheRead
  const { cacheWrite5m, cacheWrite1h, attributed } = cacheWrites(raw)
  if (cacheWrite5m !== undefined) usage.cacheWrite5m = cacheWrite5m
  if (cacheWrite1h !== undefined) usage.cacheWrite1h = cacheWrite1h
  if (attributed && quality === 'reported') usage.quality = 'estimated'
  const output = asCount(raw['output_tokens'])
  if (output !== undefined) usage.output = output
  const reasoning = asCount(asObject(raw['output_tokens_details'])?.['thinking_tokens'])
  if (reasoning !== undefined) usage.reasoning = reasoning
  return hasCounts(usage) ? usage : { quality: 'unavailable', raw }
}

/**
 * The usage as Anthropic writes it. The provider's own object when `raw` is one that says the same counts, so that nothing
 * in it is lost; else the counts that are known.
 */
export function toAnthropicUsage(usage: Usage): JsonObject {
  const { raw, input, output, cacheRead, cacheWrite5m, cacheWrite1h, reasoning } = usage
  if (isObject(raw) && saysTheSame(raw, usage)) return raw
  const written = cacheWrite5m === undefined && cacheWrite1h === undefined ? undefined : true
  return {
    ...(input !== undefined && { input_tokens: input }),
    ...(written && { cache_creation_input_tokens: (cacheWrite5m ?? 0) + (cacheWrite1h ?? 0) }),
    ...(cacheRead !== undefined && { cache_read_input_tokens: cacheRead }),
    ...(written && {
      cache_creation: {
        ...(cacheWrite5m !== undefined && { ephemeral_5m_input_tokens: cacheWrite5m }),
        ...(cacheWrite1h !== undefined && { ephemeral_1h_input_tokens: cacheWrite1h }),
      },
    }),
    ...(output !== undefined && { output_tokens: output }),
    ...(reasoning !== undefined && { output_tokens_details: { thinking_tokens: reasoning } }),
  }
}

/**
 * `usage.iterations`, where a call took more than one sampling. The counts beside them sum only those of type `message`:
 * compaction and advisor tokens are billed and stand nowhere else, so whoever prices a call with iterations prices these.
 */
export function anthropicIterations(raw: Json | undefined): Iteration[] | undefined {
  const list = asArray(asObject(raw)?.['iterations'])
  if (list === undefined || list.length === 0) return undefined
  return list.map((one) => {
    const type = asString(asObject(one)?.['type'])
    const model = asString(asObject(one)?.['model'])
    return {
      ...(type !== undefined && { type }),
      ...(model !== undefined && { model }),
      usage: fromAnthropicUsage(one),
    }
  })
}

type Writes = { readonly cacheWrite5m?: number; readonly cacheWrite1h?: number }

/** `message_delta` states the total alone: its split is the one of `message_start`, or that of the iterations. */
function cacheWrites(raw: JsonObject): Writes & { readonly attributed: boolean } {
  const total = asCount(raw['cache_creation_input_tokens'])
  const split = raw['cache_creation']
  if (split === undefined && total === 0) return NO_WRITES
  const both = isObject(split) ? bothWrites(split, total) : undefined
  if (both !== undefined) return both
  const stated = statedWrites(split)
  const sum = sumOf(stated)
  if (total === undefined || total === sum) return { ...stated, attributed: false }
  const iterated = iteratedWrites(raw['iterations'])
  if (sumOf(iterated) === total) return { ...iterated, attributed: false }
  if (sum === undefined) return { cacheWrite5m: total, attributed: total > 0 }
  if (total < sum) return { ...stated, attributed: true }
  return { ...stated, cacheWrite5m: (stated.cacheWrite5m ?? 0) + total - sum, attributed: true }
}

const NO_WRITES = { cacheWrite5m: 0, attributed: false } as const

/** Both durations, that make up the total: what nearly all say, without the spreads that are slow in such numbers. */
function bothWrites(
  split: JsonObject,
  total: number | undefined,
): ReturnType<typeof cacheWrites> | undefined {
  const cacheWrite5m = asCount(split['ephemeral_5m_input_tokens'])
  const cacheWrite1h = asCount(split['ephemeral_1h_input_tokens'])
  if (cacheWrite5m === undefined || cacheWrite1h === undefined) return undefined
  if (total !== undefined && total !== cacheWrite5m + cacheWrite1h) return undefined
  return { cacheWrite5m, cacheWrite1h, attributed: false }
}

function statedWrites(split: Json | undefined): Writes {
  const cacheWrite5m = asCount(asObject(split)?.['ephemeral_5m_input_tokens'])
  const cacheWrite1h = asCount(asObject(split)?.['ephemeral_1h_input_tokens'])
  return {
    ...(cacheWrite5m !== undefined && { cacheWrite5m }),
    ...(cacheWrite1h !== undefined && { cacheWrite1h }),
  }
}

/** Only what the top level sums as well: the iterations of type `message`. */
function iteratedWrites(iterations: Json | undefined): Writes {
  let sum: Writes = {}
  for (const one of asArray(iterations) ?? []) {
    if (asObject(one)?.['type'] !== 'message') continue
    const { cacheWrite5m, cacheWrite1h } = statedWrites(asObject(one)?.['cache_creation'] ?? null)
    sum = {
      cacheWrite5m: (sum.cacheWrite5m ?? 0) + (cacheWrite5m ?? 0),
      cacheWrite1h: (sum.cacheWrite1h ?? 0) + (cacheWrite1h ?? 0),
    }
  }
  return sum
}

function sumOf({ cacheWrite5m, cacheWrite1h }: Writes): number | undefined {
  if (cacheWrite5m === undefined && cacheWrite1h === undefined) return undefined
  return (cacheWrite5m ?? 0) + (cacheWrite1h ?? 0)
}

function saysTheSame(raw: JsonObject, usage: Usage): boolean {
  const said = fromAnthropicUsage(raw)
  return hasCounts(said) && COUNTS.every((count) => said[count] === usage[count])
}
