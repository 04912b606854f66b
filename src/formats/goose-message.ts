/** Goose's messages as entries: the same content in its database and in the logs that it wrote before. */
import type { Block } from '../transcript/block.ts'
import { fromMillis } from '../transcript/instant.ts'
import {
  asArray,
  asNumber,
  asObject,
  asString,
  isObject,
  toJson,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import { takes } from './left-over.ts'
import type { Said } from './placing.ts'
import { unknownSaid } from './unknown.ts'
import { inside, withUnsaid } from './unsaid.ts'

const TAKEN = takes({
  id: inside(''),
  role: inside('user assistant'),
  created: (value) => typeof value === 'number',
  content:
    inside(`type text image data mimeType mime_type toolRequest toolResponse toolCall toolResult status success error value name arguments id
    content thinking signature redactedThinking annotations isError is_error audience priority reasoning frontendToolRequest`),
})

export function fromGooseMessage(message: Json): Said {
  const role = isObject(message) ? asString(message['role']) : undefined
  const parts = isObject(message) ? asArray(message['content']) : undefined
  if (!isObject(message) || parts === undefined || (role !== 'user' && role !== 'assistant'))
    return unknownSaid(message)
  const created = asNumber(message['created'])
  // In seconds, and in milliseconds where a client sent them so.
  const at = created === undefined ? undefined : fromMillis(created > 1e11 ? created : created * 1000)
  const id = asString(message['id'])
  const blocks = parts.map(fromPart)
  const isResults = blocks.length > 0 && blocks.every(({ type }) => type === 'tool-result')
  const said: Said = {
    ...(id !== undefined && id !== '' && { id }),
    kind: 'message',
    role: isResults ? 'tool' : role,
    ...(at !== undefined && { at }),
    blocks,
  }
  return withUnsaid(said, message, TAKEN)
}

function fromPart(part: Json): Block {
  if (!isObject(part)) return { type: 'unknown', raw: part }
  const { type, text } = part
  const callId = asString(part['id'])
  const named = callId === undefined ? {} : { callId }
  if (type === 'text' && typeof text === 'string') return { type: 'text', text }
  if (type === 'image' && typeof part['data'] === 'string') {
    const mediaType = asString(part['mimeType']) ?? asString(part['mime_type'])
    return { type: 'image', ...(mediaType !== undefined && { mediaType }), data: part['data'] }
  }
  if (type === 'thinking' && typeof part['thinking'] === 'string') {
    const signature = asString(part['signature'])
    return { type: 'thinking', text: part['thinking'], ...(signature !== undefined && { signature }) }
  }
  if (type === 'redactedThinking' && typeof part['data'] === 'string')
    return { type: 'thinking', text: '', redacted: part['data'] }
  if (type === 'toolRequest' || type === 'frontendToolRequest') {
    const call = asObject(part['toolCall'])
    const value = asObject(call?.['value'])
    const name = asString(value?.['name'])
    if (name !== undefined) {
      const input = value?.['arguments']
      return { type: 'tool-call', ...named, name, ...(input !== undefined && { input }) }
    }
    const error = asString(call?.['error'])
    if (error !== undefined) return { type: 'error', message: error }
  }
  if (type === 'toolResponse' && isObject(part['toolResult'])) return fromResult(part['toolResult'], named)
  return { type: 'unknown', raw: part }
}

/** `{status, value}`: a list of contents, or since 1.10 an object around it. */
function fromResult(result: JsonObject, named: { readonly callId?: string }): Block {
  const value = result['value']
  const error = asString(result['error'])
  const parts = asArray(value) ?? asArray(asObject(value)?.['content'])
  const isError = result['status'] === 'error' || asObject(value)?.['isError'] === true
  const blocks = parts?.map(fromPart)
  const [only] = blocks ?? []
  const output =
    blocks === undefined
      ? value === undefined || value === null
        ? undefined
        : typeof value === 'string'
          ? value
          : toJson(value)
      : blocks.length === 1 && only?.type === 'text'
        ? only.text
        : blocks
  return {
    type: 'tool-result',
    ...named,
    ...(output !== undefined && { output }),
    ...(error !== undefined && { error }),
    ...(isError && { isError }),
  }
}
