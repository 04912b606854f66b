/** What Kimi's lines are made of, in both of its programs: parts of messages, and counts. */
import type { Block } from '../transcript/block.ts'
import { asCount, asObject, asString, isObject, type Json } from '../transcript/json.ts'
import { hasCounts, type Usage } from '../transcript/usage.ts'
import { splitPart } from '../wire/openai-parts.ts'

/** Thinking has a type of its own; the rest is OpenAI's. */
export function toBlock(part: Json): Block {
  const think = isObject(part) && part['type'] === 'think' ? asString(part['think']) : undefined
  if (think === undefined) return splitPart(part).block
  const signature = asString(asObject(part)?.['encrypted'])
  return { type: 'thinking', text: think, ...(signature !== undefined && { signature }) }
}

/** Input excludes what was read from a cache and what was written to one. */
export function usageOf(raw: Json | undefined): Usage | undefined {
  const said = asObject(raw)
  if (said === undefined) return undefined
  const pick = (name: string, older: string): number | undefined =>
    asCount(said[name]) ?? asCount(said[older])
  const input = pick('inputOther', 'input_other')
  const cacheRead = pick('inputCacheRead', 'input_cache_read')
  const cacheWrite5m = pick('inputCacheCreation', 'input_cache_creation')
  const output = asCount(said['output'])
  const usage: Usage = {
    ...(input !== undefined && { input }),
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite5m !== undefined && { cacheWrite5m }),
    ...(output !== undefined && { output }),
    quality: 'reported',
    raw: said,
  }
  return hasCounts(usage) ? usage : undefined
}
