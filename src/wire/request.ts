/**
 * What a request states, for all four APIs: its system prompt and its messages as blocks, everything else verbatim. The
 * conversion of blocks is the one that reads answers, so that a call and its echo in the next request are equal.
 */
import type { Role } from '../transcript/entry.ts'
import type { Json, JsonObject } from '../transcript/json.ts'
import { asArray, asBoolean, asObject, asString, isObject, rest } from '../transcript/json.ts'
import { splitAnthropicBlock } from './anthropic-blocks.ts'
import { splitParts } from './gemini-parts.ts'
import type { WireApi } from './message.ts'
import { chatMessageRest, splitChatMessage } from './openai-chat-blocks.ts'
import { splitItem } from './openai-items.ts'
import type { SplitBlock, SplitBlocks } from './split.ts'
import { toBlocks } from './split.ts'

export type WireRequest = {
  /** The prompt that stands outside of the messages. */
  readonly system?: SplitBlocks
  readonly messages: readonly RequestMessage[]
  /** As asked for. Absent where the API puts it into the URL, as Gemini does; so is `stream`. */
  readonly model?: string
  readonly stream?: boolean
  /** Everything else the body says: tools, limits, temperature, metadata. */
  readonly parameters?: JsonObject
  /** Messages that are none, and a body that is no object, verbatim. */
  readonly unknown: readonly Json[]
}

export type RequestMessage = SplitBlocks & {
  /** As stated, in our words; `tool` for a message of nothing but tool results, whoever the API says brought it. */
  readonly role: Role
  /** Fields of the message beside its role and content. */
  readonly fields?: JsonObject
}

export function parseRequest(api: WireApi, body: Json): WireRequest {
  if (!isObject(body)) return { messages: [], unknown: [body] }
  switch (api) {
    case 'anthropic-messages':
      return parseAnthropic(body)
    case 'openai-chat':
      return parseChat(body)
    case 'openai-responses':
      return parseResponses(body)
    case 'gemini':
      return parseGemini(body)
  }
}

const ROLES: ReadonlyMap<string, Role> = new Map<string, Role>([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['model', 'assistant'],
  ['tool', 'tool'],
  ['function', 'tool'],
])

function parseAnthropic(body: JsonObject): WireRequest {
  const split = (content: Json | undefined): SplitBlock[] => textOr(content, splitAnthropicBlock)
  const { messages, unknown } = readMessages(body['messages'], (message) =>
    toMessage(message['role'], split(message['content']), rest(message, ROLE_CONTENT)),
  )
  return toRequest(body, split(body['system']), messages, unknown, ['system', 'messages'])
}

function parseChat(body: JsonObject): WireRequest {
  const { messages, unknown } = readMessages(body['messages'], (message) =>
    toMessage(message['role'], splitChatMessage(message), chatMessageRest(message)),
  )
  return toRequest(body, [], messages, unknown, ['messages'])
}

/** Neighbouring items of one role are separate messages: the API states them so, and their order is all that binds them. */
function parseResponses(body: JsonObject): WireRequest {
  const input = body['input']
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : input
  const { messages, unknown } = readMessages(items, (item) => {
    const split = splitItem(item)
    const isAnswer = split.some(({ block }) => block.type === 'thinking' || block.type === 'tool-call')
    return toMessage(item['role'] ?? (isAnswer ? 'assistant' : undefined), split, undefined)
  })
  const instructions = textOr(body['instructions'], (raw) => ({ block: { type: 'unknown', raw } }))
  return toRequest(body, instructions, messages, unknown, ['instructions', 'input'])
}

/** `contents` may be one content, and a content may be a bare text. Both spellings of `systemInstruction` are taken. */
function parseGemini(body: JsonObject): WireRequest {
  const inner = asObject(body['request']) ?? body
  const contents = inner['contents']
  const list = typeof contents === 'string' || isObject(contents) ? [contents] : contents
  const stated = asArray(list)?.map((one) => (typeof one === 'string' ? { role: 'user', parts: one } : one))
  const { messages, unknown } = readMessages(stated, (content) =>
    toMessage(content['role'] ?? 'user', splitParts(content['parts']), rest(content, ROLE_PARTS)),
  )
  const instruction = inner['systemInstruction'] ?? inner['system_instruction']
  const system = splitParts(asObject(instruction)?.['parts'] ?? instruction)
  const outer = inner === body ? undefined : rest(body, new Set(['request']))
  return toRequest({ ...outer, ...inner }, system, messages, unknown, [
    'systemInstruction',
    'system_instruction',
    'contents',
  ])
}

const ROLE_CONTENT: ReadonlySet<string> = new Set(['role', 'content'])
const ROLE_PARTS: ReadonlySet<string> = new Set(['role', 'parts'])

function textOr(content: Json | undefined, split: (raw: Json) => SplitBlock): SplitBlock[] {
  if (content === undefined || content === null) return []
  if (typeof content === 'string') return [{ block: { type: 'text', text: content } }]
  return (asArray(content) ?? [content]).map(split)
}

function readMessages(
  list: Json | undefined,
  read: (message: JsonObject) => RequestMessage | undefined,
): { readonly messages: RequestMessage[]; readonly unknown: Json[] } {
  const messages: RequestMessage[] = []
  const unknown: Json[] = []
  for (const one of asArray(list) ?? (list === undefined ? [] : [list])) {
    const message = isObject(one) ? read(one) : undefined
    if (message === undefined) unknown.push(one)
    else messages.push(message)
  }
  return { messages, unknown }
}

/** An item without a role that is no answer either was put there by the client: it is the user's, unless it is a result. */
function toMessage(
  stated: Json | undefined,
  split: readonly SplitBlock[],
  fields: JsonObject | undefined,
): RequestMessage | undefined {
  const isResults = split.length > 0 && split.every(({ block }) => block.type === 'tool-result')
  const role = isResults ? 'tool' : ROLES.get(asString(stated) ?? 'user')
  return role === undefined
    ? undefined
    : { role, ...toBlocks(split), ...(fields !== undefined && { fields }) }
}

function toRequest(
  body: JsonObject,
  system: readonly SplitBlock[],
  messages: readonly RequestMessage[],
  unknown: readonly Json[],
  known: readonly string[],
): WireRequest {
  const model = asString(body['model'])
  const stream = asBoolean(body['stream'])
  const parameters = rest(body, new Set([...known, 'model', 'stream']))
  return {
    ...(system.length > 0 && { system: toBlocks(system) }),
    messages,
    ...(model !== undefined && { model }),
    ...(stream !== undefined && { stream }),
    ...(parameters !== undefined && { parameters }),
    unknown,
  }
}
