/** Requests and answers of a provider as what an agent would have said: the same parsing that a recorded call goes through. */
import { fromMillis, parseInstant } from '../transcript/instant.ts'
import { asNumber, asString, type Json, type JsonObject } from '../transcript/json.ts'
import { parseMessage } from '../wire/apis.ts'
import type { WireApi, WireMessage } from '../wire/message.ts'
import { parseRequest, type RequestMessage } from '../wire/request.ts'
import type { SplitBlocks } from '../wire/split.ts'
import type { Said } from './placing.ts'
import { unknownSaid } from './unknown.ts'

/** Where each API keeps its messages. */
export const LISTS: Readonly<Record<WireApi, string>> = {
  'anthropic-messages': 'messages',
  'openai-chat': 'messages',
  'openai-responses': 'input',
  gemini: 'contents',
}

/** A request's messages; what it asks for beside them is an event before them. */
export function fromRequest(api: WireApi, request: JsonObject): readonly Said[] {
  const { system, messages, model, stream, parameters, unknown } = parseRequest(api, request)
  const asked = {
    ...(model !== undefined && { model }),
    ...(stream !== undefined && { stream }),
    ...parameters,
  }
  return [
    ...(Object.keys(asked).length > 0 ? [unknownSaid(asked, 'request')] : []),
    ...(system === undefined ? [] : [toSaid({ role: 'system', ...system })]),
    ...messages.map(toSaid),
    ...unknown.map((raw) => unknownSaid(raw)),
  ]
}

/** One message of a request's list. */
export function fromRequestMessage(api: WireApi, message: Json): readonly Said[] {
  const { messages, unknown } = parseRequest(api, { [LISTS[api]]: [message] })
  return [...messages.map(toSaid), ...unknown.map((raw) => unknownSaid(raw))]
}

export function fromResponse(api: WireApi, response: Json): Said {
  return fromAnswer(parseMessage(api, response))
}

export function fromAnswer(answer: WireMessage): Said {
  const { provider, messageId, requestId, model, usage, stopReason, error, complete } = answer
  const { blocks, extras, serviceTier, alternatives, fields, unknown, dropped } = answer
  // Seconds in OpenAI's APIs, a text in Gemini's.
  const created = asNumber(fields?.['created_at']) ?? asNumber(fields?.['created'])
  const at = parseInstant(fields?.['createTime']) ?? (created ? fromMillis(created * 1000) : undefined)
  const call = {
    provider,
    ...(messageId !== undefined && { messageId }),
    ...(requestId !== undefined && { requestId }),
  }
  const metadata: { [key: string]: Json } = {
    ...(extras !== undefined && { extras }),
    ...(fields !== undefined && { fields }),
    ...(serviceTier !== undefined && { serviceTier }),
    ...(alternatives !== undefined && { alternatives }),
    ...(unknown.length > 0 && { unknown }),
    ...(dropped !== undefined && { dropped }),
    ...(!complete && error === undefined && { incomplete: true }),
  }
  return {
    kind: 'message',
    role: 'assistant',
    ...(at !== undefined && { at }),
    blocks: error === undefined ? blocks : [...blocks, { type: 'error', ...error }],
    ...(model !== undefined && { model }),
    ...(usage !== undefined && { usage }),
    ...(stopReason !== undefined && { stopReason }),
    call,
    ...(Object.keys(metadata).length > 0 && { metadata }),
  }
}

function toSaid({ role, blocks, extras, fields }: RequestMessage & SplitBlocks): Said {
  const stated = fields?.['timestamp'] ?? fields?.['created_at']
  const at =
    parseInstant(stated) ??
    (typeof stated === 'string' ? undefined : fromMillis(asNumber(stated) ?? Number.NaN))
  const model = role === 'assistant' ? asString(fields?.['model']) : undefined
  const metadata: JsonObject = {
    ...(extras !== undefined && { extras }),
    ...(fields !== undefined && { fields }),
  }
  return {
    kind: 'message',
    role,
    ...(at !== undefined && { at }),
    blocks,
    ...(model !== undefined && { model }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  }
}
