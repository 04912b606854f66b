/**
 * Messages of OpenTelemetry's GenAI conventions as blocks: `[{ role, parts: [{ type, … }] }]`, as a value or as JSON in a text. Also
 * the AI SDK's, which are like them. What is not understood is an unknown block.
 */
import type { Block } from '../transcript/block.ts'
import type { Role } from '../transcript/entry.ts'
import {
  asArray,
  asString,
  isObject,
  parseJson,
  toJson,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import { splitChatMessage } from './openai-chat-blocks.ts'
import type { RequestMessage } from './request.ts'

export type OtelMessage = RequestMessage & { readonly finishReason?: string }

/** `given`: a list, the JSON of one, or a text alone. */
export function toMessages(given: Json | undefined, role: Role = 'user'): readonly OtelMessage[] {
  const value = fromJson(given)
  if (value === undefined || value === null) return []
  const list = asArray(value) ?? [value]
  return list.map((one): OtelMessage => {
    if (!isObject(one)) return { role, blocks: [toBlock(one)] }
    const finishReason = asString(one['finish_reason'])
    const message = isChat(one) ? fromChat(one, role) : fromParts(one, role)
    return finishReason === undefined || finishReason === '' ? message : { ...message, finishReason }
  })
}

/** System instructions: a list of parts, or a text. */
export function toParts(given: Json | undefined): readonly Block[] {
  const value = fromJson(given)
  if (value === undefined || value === null) return []
  return (asArray(value) ?? [value]).map(toBlock)
}

/** A message in the words of chat completions, which older conventions use. */
export function fromChat(message: JsonObject, role: Role): RequestMessage {
  return toMessage(
    toRole(message['role']) ?? role,
    splitChatMessage({ role, ...message }).map(({ block }) => block),
  )
}

/** A value that may be JSON in a text: content that is no JSON is that text. */
export function fromJson(value: Json | undefined): Json | undefined {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  return parseJson(value) ?? value
}

/** The arguments of a call: a value, or the JSON of one. */
export function toInput(value: Json | undefined): Json {
  if (typeof value !== 'string') return value ?? {}
  return parseJson(value) ?? value
}

/** What a tool gave, as text. */
export function toOutput(value: Json | undefined): string | undefined {
  return value === undefined || typeof value === 'string' ? value : toJson(value)
}

const ROLES: ReadonlyMap<string, Role> = new Map<string, Role>([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
  ['human', 'user'],
  ['assistant', 'assistant'],
  ['model', 'assistant'],
  ['ai', 'assistant'],
  ['tool', 'tool'],
  ['function', 'tool'],
])

export function toRole(role: Json | undefined): Role | undefined {
  return typeof role === 'string' ? ROLES.get(role.toLowerCase()) : undefined
}

function isChat(message: JsonObject): boolean {
  return !('parts' in message) && ('tool_calls' in message || 'tool_call_id' in message)
}

function fromParts(message: JsonObject, role: Role): RequestMessage {
  const stated = toRole(message['role']) ?? role
  // A text that looks like JSON is what somebody said.
  const content = message['parts'] === undefined ? message['content'] : fromJson(message['parts'])
  const parts = asArray(content) ?? (content === undefined || content === null ? [] : [content])
  return toMessage(stated, parts.map(toBlock))
}

/** Nothing but results is the tools' word, whoever is said to have brought it. */
function toMessage(role: Role, blocks: readonly Block[]): RequestMessage {
  const isResults = blocks.length > 0 && blocks.every(({ type }) => type === 'tool-result')
  return { role: isResults ? 'tool' : role, blocks }
}

function toBlock(part: Json): Block {
  if (typeof part === 'string') return { type: 'text', text: part }
  return (isObject(part) ? knownPart(part) : undefined) ?? { type: 'unknown', raw: part }
}

function knownPart(part: JsonObject): Block | undefined {
  const said = asString(part['content']) ?? asString(part['text'])
  switch (asString(part['type']) ?? '') {
    case 'text':
      return said === undefined ? undefined : { type: 'text', text: said }
    case 'reasoning':
    case 'thinking':
      return said === undefined ? undefined : { type: 'thinking', text: said }
    case 'tool_call':
    case 'tool-call':
    case 'tool_use':
      return toCall(part)
    case 'tool_call_response':
    case 'tool-result':
    case 'tool_result':
      return toResult(part)
    case 'blob':
      return toImage(part, part['content'] ?? part['data'], undefined)
    case 'uri':
      return toImage(part, undefined, asString(part['uri']))
    default:
      return part['type'] === undefined && said !== undefined ? { type: 'text', text: said } : undefined
  }
}

function toCall(part: JsonObject): Block | undefined {
  const name = asString(part['name']) ?? asString(part['toolName'])
  if (name === undefined) return undefined
  const callId = idOf(part)
  const input = part['arguments'] ?? part['input'] ?? part['args']
  return {
    type: 'tool-call',
    ...(callId !== undefined && { callId }),
    name,
    ...(input !== undefined && input !== null && { input: toInput(input) }),
  }
}

/** `result` was `response` before, and is both in what is sent. */
function toResult(part: JsonObject): Block {
  const callId = idOf(part)
  const name = asString(part['name']) ?? asString(part['toolName'])
  const given = part['response'] ?? part['result'] ?? part['output'] ?? part['content']
  const value = isObject(given) && 'value' in given && 'type' in given ? given['value'] : given
  const output = toOutput(value ?? undefined)
  return {
    type: 'tool-result',
    ...(callId !== undefined && { callId }),
    ...(name !== undefined && { name }),
    ...(output !== undefined && { output }),
    ...((part['is_error'] === true || part['isError'] === true) && { isError: true }),
  }
}

function idOf(part: JsonObject): string | undefined {
  // The conventions' own example has a space in front of one.
  const id = [part['id'], part['toolCallId'], part['tool_use_id'], part['call_id']]
    .map((one) => asString(one)?.trim())
    .find((one) => one !== undefined && one !== '')
  return id
}

/** Only images are blocks of their own; other files stay as they are said. */
function toImage(part: JsonObject, data: Json | undefined, url: string | undefined): Block | undefined {
  const mediaType = asString(part['mime_type']) ?? asString(part['mimeType'])
  if (part['modality'] !== 'image' && !mediaType?.startsWith('image/')) return undefined
  const bytes = asString(data)
  if (bytes === undefined && url === undefined) return undefined
  return {
    type: 'image',
    ...(mediaType !== undefined && { mediaType }),
    ...(bytes !== undefined ? { data: bytes } : url !== undefined && { url }),
  }
}
