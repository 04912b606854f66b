/** Inspect's chat messages as entries, and its counts. Texts that were put aside (`attachment://<hash>`) stand in their places again. */
import type { Block } from '../transcript/block.ts'
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
import { isText, takes, type Takes } from './left-over.ts'
import type { Said } from './placing.ts'
import { unknownSaid } from './unknown.ts'
import { inside, withUnsaid } from './unsaid.ts'

const PARTS =
  'type text reasoning signature redacted image detail auto low high id function arguments name content'
const TAKEN: Takes = takes({
  id: isText,
  role: inside('system user assistant tool'),
  content: inside(PARTS),
  tool_calls: inside(PARTS),
  tool_call_id: isText,
  function: isText,
  error: inside('type message'),
  model: isText,
})

export function fromMessage(message: Json): Said {
  const role = isObject(message) ? asString(message['role']) : undefined
  if (!isObject(message) || (role !== 'system' && role !== 'user' && role !== 'assistant' && role !== 'tool'))
    return unknownSaid(message)
  const id = asString(message['id'])
  const blocks = fromContent(message['content'])
  const model = role === 'assistant' ? asString(message['model']) : undefined
  const said: Said = {
    ...(id !== undefined && { id }),
    kind: 'message',
    role,
    blocks:
      role === 'tool'
        ? [toResult(message, blocks)]
        : [...blocks, ...(asArray(message['tool_calls']) ?? []).map(fromCall)],
    ...(model !== undefined && { model }),
  }
  return withUnsaid(said, message, TAKEN)
}

function fromContent(content: Json | undefined): readonly Block[] {
  if (content === undefined || content === null || content === '') return []
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return (asArray(content) ?? [content]).map(fromPart)
}

function fromPart(part: Json): Block {
  if (typeof part === 'string') return { type: 'text', text: part }
  if (!isObject(part)) return { type: 'unknown', raw: part }
  const { type, text, reasoning, image } = part
  const signature = asString(part['signature'])
  if (type === 'text' && typeof text === 'string') return { type: 'text', text }
  if (type === 'reasoning' && typeof reasoning === 'string') {
    // What the provider hides is in `reasoning` then, encrypted.
    if (part['redacted'] === true) return { type: 'thinking', text: '', redacted: reasoning }
    return { type: 'thinking', text: reasoning, ...(signature !== undefined && { signature }) }
  }
  if (type !== 'image' || typeof image !== 'string') return { type: 'unknown', raw: part }
  const [, mediaType, data] = /^data:([^;,]{1,100});base64,(.*)$/s.exec(image) ?? []
  return data === undefined
    ? { type: 'image', url: image }
    : { type: 'image', mediaType: mediaType as string, data }
}

function fromCall(call: Json): Block {
  const name = isObject(call) ? asString(call['function']) : undefined
  if (!isObject(call) || name === undefined) return { type: 'unknown', raw: call }
  const callId = asString(call['id'])
  const input = call['arguments']
  return {
    type: 'tool-call',
    ...(callId !== undefined && { callId }),
    name,
    ...(input !== undefined && { input }),
  }
}

function toResult(message: JsonObject, blocks: readonly Block[]): Block {
  const callId = asString(message['tool_call_id'])
  const name = asString(message['function'])
  const error = asObject(message['error'])
  const reason = asString(error?.['message']) ?? asString(error?.['type'])
  const [only] = blocks
  const isPlain = blocks.length === 1 && only?.type === 'text' && typeof only.text === 'string'
  return {
    type: 'tool-result',
    ...(callId !== undefined && { callId }),
    ...(name !== undefined && { name }),
    ...(blocks.length > 0 && { output: isPlain ? only.text : blocks }),
    ...(reason !== undefined && { error: reason, isError: true }),
  }
}

/**
 * Input excludes what was cached, as Inspect says today; earlier versions handed on what a provider counted. The total tells: where it has
 * no room for the cached ones beside the input, they are inside of it.
 */
export function usageOf(raw: JsonObject): Usage {
  const stated = asCount(raw['input_tokens'])
  const output = asCount(raw['output_tokens'])
  const total = asCount(raw['total_tokens'])
  const cacheRead = asCount(raw['input_tokens_cache_read'])
  const cacheWrite5m = asCount(raw['input_tokens_cache_write'])
  const reasoning = asCount(raw['reasoning_tokens'])
  const cached = (cacheRead ?? 0) + (cacheWrite5m ?? 0)
  const isWithin = stated !== undefined && cached > 0 && cached <= stated && total === stated + (output ?? 0)
  const input = stated === undefined ? undefined : isWithin ? stated - cached : stated
  return withoutZeros({
    ...(input !== undefined && { input }),
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite5m !== undefined && { cacheWrite5m }),
    ...(output !== undefined && { output }),
    ...(reasoning !== undefined && reasoning <= (output ?? 0) && { reasoning }),
    quality: 'reported',
    raw,
  })
}

const ASIDE = /^(?:attachment|tc):\/\/([0-9a-f]{16,64})$/
/** Deeper than this nothing is put back. */
const DEPTH = 12

export type Aside = {
  /** The value with each text that was put aside in its place. */
  restored(value: Json): Json
  /** What nothing has asked for so far; undefined when there is none. */
  left(): Json | undefined
}

export function createAside(texts: Json | undefined): Aside {
  const used = new Set<string>()
  const put = (value: Json, depth: number): Json => {
    if (!isObject(texts) || depth === 0) return value
    if (typeof value === 'string') {
      const hash = ASIDE.exec(value)?.[1]
      if (hash === undefined || typeof texts[hash] !== 'string') return value
      used.add(hash)
      return texts[hash]
    }
    if (Array.isArray(value)) return (value as readonly Json[]).map((one) => put(one, depth - 1))
    if (!isObject(value)) return value
    const whole = Object.create(null) as Record<string, Json>
    for (const key of Object.keys(value)) whole[key] = put(value[key] as Json, depth - 1)
    return whole
  }
  return {
    restored: (value) => put(value, DEPTH),
    left: () => (isObject(texts) ? rest(texts, used) : (texts ?? undefined)),
  }
}
