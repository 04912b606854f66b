/**
 * A bubble of Cursor's chats as entries: what was typed, thought and said, and a tool's call with its result. Token counts are those
 * of the bubble; 0 is what newer versions write for "not said", and is never taken for a count.
 */
import type { Block } from '../transcript/block.ts'
import { fromMillis, parseInstant } from '../transcript/instant.ts'
import {
  asArray,
  asCount,
  asObject,
  asString,
  isObject,
  parseJson,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import type { Usage } from '../transcript/usage.ts'
import { toOutput } from './cursor-content.ts'
import { asId, type Said } from './placing.ts'

export function fromBubble(bubble: JsonObject): readonly Said[] {
  const id = asId(bubble['bubbleId'])
  const at = instantOf(bubble['createdAt'])
  const role = bubble['type'] === 1 ? 'user' : bubble['type'] === 2 ? 'assistant' : undefined
  const tool = asObject(bubble['toolFormerData'])
  const call = tool && toCall(tool, id)
  const blocks = [...spoken(bubble), ...(call === undefined ? [] : [call])]
  const place = { ...(id !== undefined && { id }), ...(at !== undefined && { at }) }
  if (role === undefined || blocks.length === 0)
    return [
      { ...place, kind: 'event', blocks: [{ type: 'unknown', raw: bubble }], metadata: { record: 'bubble' } },
    ]
  const model = asString(asObject(bubble['modelInfo'])?.['modelName'])
  const usage = role === 'assistant' ? usageOf(asObject(bubble['tokenCount'])) : undefined
  const requestId = asId(bubble['requestId'])
  const metadata = whatElse(bubble, BUBBLE)
  const said: Said = {
    ...place,
    kind: 'message',
    role,
    blocks,
    ...(role === 'assistant' && model !== undefined && !UNNAMED.has(model) && { model }),
    ...(role === 'assistant' &&
      id !== undefined && { call: { messageId: id, ...(requestId && { requestId }) } }),
    ...(usage !== undefined && { usage }),
    ...(metadata !== undefined && { metadata }),
  }
  const result = tool && call && toResult(tool, call, place)
  return result === undefined ? [said] : [said, result]
}

/** Milliseconds, or a text. */
export function instantOf(value: Json | undefined): string | undefined {
  if (typeof value === 'number') return value > 0 ? fromMillis(value) : undefined
  return parseInstant(value)
}

/** What Cursor calls a model that it picked itself. */
export const UNNAMED: ReadonlySet<string> = new Set(['default', 'auto', ''])

/** A chat's hundred fields are mostly empty: those that say something. Keys that unlock other things are withheld. */
export function whatElse(object: JsonObject, known: ReadonlySet<string>): JsonObject | undefined {
  const kept = Object.entries(object).flatMap(([key, value]) => {
    if (known.has(key) || isEmpty(value)) return []
    return [[key, /encryptionkey$/i.test(key) ? 'WITHHELD' : value] as const]
  })
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}

const BUBBLE: ReadonlySet<string> = new Set([
  'bubbleId',
  'type',
  'text',
  // The same text again, as the editor's own tree.
  'richText',
  'thinking',
  'createdAt',
  'requestId',
  'modelInfo',
  'tokenCount',
  'toolFormerData',
])

function isEmpty(value: Json): boolean {
  if (value === null || value === false || value === '') return true
  if (Array.isArray(value)) return value.length === 0
  return isObject(value) && Object.keys(value).length === 0
}

function spoken(bubble: JsonObject): readonly Block[] {
  const thinking = asObject(bubble['thinking'])
  const thought = asString(thinking?.['text']) ?? asString(bubble['thinking'])
  const signature = asString(thinking?.['signature'])
  const text = asString(bubble['text'])
  return [
    ...(thought ? [{ type: 'thinking', text: thought, ...(signature && { signature }) } as const] : []),
    ...(text ? [{ type: 'text', text } as const] : []),
  ]
}

type Call = {
  readonly type: 'tool-call'
  readonly callId?: string
  readonly name: string
  readonly input?: Json
}

function toCall(tool: JsonObject, bubble: string | undefined): Call | undefined {
  const number = tool['tool']
  const name = asString(tool['name']) ?? (typeof number === 'number' ? `tool ${number}` : asString(number))
  if (name === undefined) return undefined
  const callId = asId(tool['toolCallId']) ?? bubble
  const input = parsed(tool['rawArgs']) ?? parsed(tool['params']) ?? parsed(tool['args'])
  return {
    type: 'tool-call',
    ...(callId !== undefined && { callId }),
    name,
    ...(input !== undefined && { input }),
  }
}

function toResult(tool: JsonObject, call: Call, { id, at }: Pick<Said, 'id' | 'at'>): Said | undefined {
  const status = asString(tool['status'])
  const output = toOutput(tool['result'])
  const isError = status === 'error'
  const failure = asString(tool['error']) ?? asString(asObject(parsed(tool['error']))?.['message'])
  if (output === undefined && failure === undefined && !isError) return undefined
  const metadata = whatElse(tool, TOOL)
  return {
    ...(id !== undefined && { id: `${id}/result`, parent: id }),
    ...(at !== undefined && { at }),
    kind: 'message',
    role: 'tool',
    blocks: [
      {
        type: 'tool-result',
        ...(call.callId !== undefined && { callId: call.callId }),
        name: call.name,
        ...(output !== undefined && { output }),
        ...(failure !== undefined && { error: failure }),
        ...(isError && { isError }),
      },
    ],
    ...(metadata !== undefined && { metadata }),
  }
}

const TOOL: ReadonlySet<string> = new Set(['toolCallId', 'name', 'rawArgs', 'result', 'error'])

/** Arguments are JSON in a text. */
function parsed(value: Json | undefined): Json | undefined {
  if (typeof value !== 'string') return isObject(value) || asArray(value) ? value : undefined
  return value === '' ? undefined : (parseJson(value) ?? value)
}

/** Which side the cache is on is not said, so what there is is an estimate. */
function usageOf(tokens: JsonObject | undefined): Usage | undefined {
  if (tokens === undefined) return undefined
  const input = asCount(tokens['inputTokens']) || undefined
  const output = asCount(tokens['outputTokens']) || undefined
  if (input === undefined && output === undefined) return { quality: 'unavailable', raw: tokens }
  return {
    ...(input !== undefined && { input }),
    ...(output !== undefined && { output }),
    quality: 'estimated',
    raw: tokens,
  }
}
