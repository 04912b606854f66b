/** One step of an ATIF trajectory as entries: what was said and called, then each result that was observed. */
import type { Block } from '../transcript/block.ts'
import { parseInstant } from '../transcript/instant.ts'
import {
  asArray,
  asCount,
  asObject,
  asString,
  isObject,
  rest,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import { withoutZeros, type Usage } from '../transcript/usage.ts'
import { isInstant, isText, takes, type Takes } from './left-over.ts'
import { OWN, withFacts } from './own-facts.ts'
import type { Said } from './placing.ts'
import { unknownSaid } from './unknown.ts'
import { inside, unsaid, withUnsaid } from './unsaid.ts'

/** Where a step stands: what the trajectory says of all of them. */
export type Around = { readonly model: string | undefined; readonly source?: string }

const PARTS = 'type text image source media_type path url'
const CALLS = 'tool_call_id function_name arguments'

const TAKEN: Takes = takes({
  step_id: (value) => typeof value === 'number',
  timestamp: isInstant,
  source: inside('system user agent'),
  model_name: isText,
  message: inside(PARTS),
  reasoning_content: isText,
  tool_calls: inside(CALLS),
  observation: inside('results source_call_id content type text image source media_type path'),
  metrics: inside(''),
  llm_call_count: (value) => value === 1,
})

/** What a step says, with what we wrote along with it in its places again. */
export function fromStep(step: Json, around: Around): readonly Said[] {
  const extra = isObject(step) ? asObject(step['extra']) : undefined
  const own = asObject(extra?.[OWN])
  if (!isObject(step) || extra === undefined || own === undefined) return readStep(step, around)
  const others = rest(extra, new Set([OWN]))
  const { extra: _, ...bare } = step
  const [answer, ...results] = readStep(others === undefined ? bare : { ...bare, extra: others }, around)
  const before = (asArray(own['before']) ?? []).map((one) => withFacts(undefined, one))
  const said = own['isEmpty'] === true ? undefined : withFacts(answer, own['entry'])
  const facts = asArray(own['results']) ?? []
  const returned = joined(results, facts)
  const where = around.source === undefined ? {} : { source: around.source }
  return [...before, said, ...returned].flatMap((one) => (one === undefined ? [] : [{ ...one, ...where }]))
}

/** Results that were one entry are one again. */
function joined(results: readonly Said[], facts: readonly Json[]): readonly Said[] {
  const groups: Said[][] = []
  for (const [index, result] of results.entries()) {
    const last = groups.at(-1)
    if (facts[index] === null && last !== undefined) last.push(result)
    else groups.push([result])
  }
  const own = facts.filter((one) => one !== null)
  return groups.map((group, index) => {
    const [first] = group as [Said]
    const whole = { ...first, blocks: group.flatMap(({ blocks }) => blocks) }
    return withFacts(whole, own[index]) ?? whole
  })
}

export function readStep(step: Json, { model: named, source }: Around): readonly Said[] {
  const role = isObject(step) ? ROLES.get(asString(step['source']) ?? '') : undefined
  if (!isObject(step) || role === undefined)
    return [{ ...unknownSaid(step), ...(source !== undefined && { source }) }]
  const at = parseInstant(step['timestamp'])
  const reasoning = asString(step['reasoning_content']) ?? ''
  const isCopied = step['is_copied_context'] === true
  const metrics = asObject(step['metrics'])
  // What was copied was counted where it was said first.
  const usage = metrics === undefined || isCopied ? undefined : usageOf(metrics)
  const model = asString(step['model_name']) ?? named
  const isAnswer = role === 'assistant' && step['llm_call_count'] !== 0
  const where = { ...(source !== undefined && { source }), ...(at !== undefined && { at }) }
  const blocks: Block[] = [
    ...(reasoning === '' ? [] : [{ type: 'thinking', text: reasoning } satisfies Block]),
    ...fromContent(step['message']),
    ...(asArray(step['tool_calls']) ?? []).map(fromCall),
  ]
  const answer: Said = {
    ...where,
    kind: 'message',
    role,
    blocks,
    ...(isAnswer && model !== undefined && { model }),
    ...(usage !== undefined && { usage }),
  }
  const results = (asArray(asObject(step['observation'])?.['results']) ?? []).map((result): Said => {
    const said: Said = { ...where, kind: 'message', role: 'tool', blocks: [fromResult(result)] }
    return isObject(result) ? withUnsaid(said, result, RESULT) : said
  })
  // One net for the whole step: what neither the answer nor its results say.
  const left = unsaid(step, TAKEN, {
    blocks: [...blocks, ...results.flatMap((one) => one.blocks)],
    metadata: { results: results.map((one) => one.metadata ?? {}) },
    ...(usage !== undefined && { usage }),
  })
  return [left === undefined ? answer : { ...answer, metadata: left }, ...results]
}

const ROLES: ReadonlyMap<string, 'system' | 'user' | 'assistant'> = new Map([
  ['system', 'system'],
  ['user', 'user'],
  ['agent', 'assistant'],
])

/** Text, or parts since 1.6. */
function fromContent(content: Json | undefined): readonly Block[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  if (content === undefined || content === null) return []
  return (asArray(content) ?? [content]).map(fromPart)
}

function fromPart(part: Json): Block {
  if (!isObject(part)) return { type: 'unknown', raw: part }
  const { type, text } = part
  const image = asObject(part['source'])
  const url = asString(image?.['path']) ?? asString(image?.['url'])
  const mediaType = asString(image?.['media_type'])
  const data = asString(image?.['data'])
  if (type === 'text' && typeof text === 'string') return { type: 'text', text }
  const [, typed, inPlace] = /^data:([^;,]{0,100});base64,(.*)$/s.exec(url ?? '') ?? []
  if (type === 'image' && inPlace !== undefined) {
    const stated = mediaType ?? typed
    return {
      type: 'image',
      ...(stated !== undefined && stated !== '' && { mediaType: stated }),
      data: inPlace,
    }
  }
  if (type !== 'image' || (url === undefined && data === undefined)) return { type: 'unknown', raw: part }
  return {
    type: 'image',
    ...(mediaType !== undefined && { mediaType }),
    ...(data !== undefined && { data }),
    ...(url !== undefined && { url }),
  }
}

function fromCall(call: Json): Block {
  const name = isObject(call) ? asString(call['function_name']) : undefined
  if (!isObject(call) || name === undefined) return { type: 'unknown', raw: call }
  const callId = asString(call['tool_call_id'])
  const input = call['arguments']
  return {
    type: 'tool-call',
    ...(callId !== undefined && { callId }),
    name,
    ...(input !== undefined && { input }),
  }
}

const RESULT: Takes = takes({ source_call_id: isText, content: inside(PARTS) })

function fromResult(result: Json): Block {
  if (!isObject(result)) return { type: 'unknown', raw: result }
  const callId = asString(result['source_call_id'])
  const content = result['content']
  const output =
    typeof content === 'string'
      ? content
      : content === undefined || content === null
        ? undefined
        : fromContent(content)
  return {
    type: 'tool-result',
    ...(callId !== undefined && { callId }),
    ...(output !== undefined && { output }),
  }
}

/**
 * `prompt_tokens` has the cached ones in it. Some who convert from Claude's logs leave them out, which shows where there are more of these;
 * then, and with what was written to a cache, which stands in `extra`, the counts are our reading.
 */
export function usageOf(metrics: JsonObject, prefix = ''): Usage {
  const prompt = asCount(metrics[`${prefix}prompt_tokens`])
  const output = asCount(metrics[`${prefix}completion_tokens`])
  const cacheRead = asCount(metrics[`${prefix}cached_tokens`])
  const extra = asObject(metrics['extra'])
  const written =
    asCount(extra?.['cache_creation_input_tokens']) ?? asCount(extra?.['total_cache_creation_input_tokens'])
  const reasoning = asCount(extra?.['reasoning_tokens']) ?? asCount(extra?.['total_reasoning_tokens'])
  const inPrompt = (cacheRead ?? 0) + (written ?? 0)
  const isApart = prompt !== undefined && inPrompt > prompt
  const input = prompt === undefined ? undefined : isApart ? prompt : prompt - inPrompt
  return withoutZeros({
    ...(input !== undefined && { input }),
    ...(cacheRead !== undefined && { cacheRead }),
    ...(written !== undefined && { cacheWrite5m: written }),
    ...(output !== undefined && { output }),
    ...(reasoning !== undefined && output !== undefined && reasoning <= output && { reasoning }),
    quality: isApart || (written ?? 0) > 0 ? 'estimated' : 'reported',
    raw: metrics,
  })
}
