/**
 * Which API a list of `{role, content}` was written for. A plain text is the same in all: what decides is tools, blocks and who may speak.
 */
import { asArray, asObject, asString, isObject, type Json, type JsonObject } from '../transcript/json.ts'
import type { WireApi } from '../wire/message.ts'

export type Vote = { readonly api: WireApi; readonly confidence: number }

/** Undefined for a list of which most elements are no messages. `request` is what the list stands in. */
export function messagesApi(messages: readonly Json[], request: JsonObject): Vote | undefined {
  const votes = new Map<WireApi, number>()
  let own = 0
  for (const message of messages) {
    if (!isObject(message) || !isMessage(message)) continue
    own += 1
    for (const api of signsOf(message)) votes.set(api, (votes.get(api) ?? 0) + 1)
  }
  if (messages.length > 0 && own * 2 <= messages.length) return undefined
  for (const api of requestSigns(request)) votes.set(api, (votes.get(api) ?? 0) + 1)
  const [best] = [...votes].sort(([, a], [, b]) => b - a)
  if (best === undefined) return { api: 'openai-chat', confidence: own === 0 ? 0.3 : 0.5 }
  return { api: best[0], confidence: own === messages.length ? 0.9 : 0.6 }
}

const ROLES: ReadonlySet<string> = new Set(['system', 'developer', 'user', 'assistant', 'tool', 'function'])

/** Keys that only agents' own logs give a message: those have formats of their own. */
const OTHERS: readonly string[] = [
  'parts',
  'ts',
  'uuid',
  'parentUuid',
  'sessionId',
  'toolInvocations',
  'providerOptions',
  'extra',
]

export function isMessage(message: JsonObject): boolean {
  const role = asString(message['role'])
  if (role === undefined || !ROLES.has(role) || OTHERS.some((key) => key in message)) return false
  const { content } = message
  return (
    typeof content === 'string' ||
    Array.isArray(content) ||
    'tool_calls' in message ||
    'function_call' in message
  )
}

function* signsOf(message: JsonObject): Generator<WireApi> {
  const { role } = message
  if (role === 'developer' || role === 'tool' || role === 'function' || 'tool_call_id' in message)
    yield 'openai-chat'
  else if ('tool_calls' in message || 'function_call' in message || 'refusal' in message) yield 'openai-chat'
  else if (role === 'system') yield 'openai-chat'
  for (const part of asArray(message['content']) ?? []) {
    const type = asString(asObject(part)?.['type']) ?? ''
    if (ANTHROPIC.test(type) || 'cache_control' in (asObject(part) ?? {})) yield 'anthropic-messages'
    else if (type === 'image_url' || type === 'input_audio') yield 'openai-chat'
    else if (type === 'input_text' || type === 'output_text' || type === 'input_image')
      yield 'openai-responses'
  }
}

const ANTHROPIC =
  /^(?:tool_use|tool_result|thinking|redacted_thinking|image|document|server_tool_use|mcp_tool_use|[a-z_]+_tool_result)$/

function* requestSigns(request: JsonObject): Generator<WireApi> {
  if ('anthropic_version' in request || 'thinking' in request || 'stop_sequences' in request)
    yield 'anthropic-messages'
  if ('system' in request) yield 'anthropic-messages'
  if ('response_format' in request || 'max_completion_tokens' in request || 'functions' in request)
    yield 'openai-chat'
  if ('stream_options' in request || 'reasoning_effort' in request || 'n' in request) yield 'openai-chat'
  const [tool] = asArray(request['tools']) ?? []
  if (!isObject(tool)) return
  if ('input_schema' in tool) yield 'anthropic-messages'
  else if ('function' in tool) yield 'openai-chat'
}

const PLAIN: ReadonlySet<string> = new Set(
  'role content name tool_calls tool_call_id function_call refusal audio annotations reasoning_content reasoning weight'.split(
    ' ',
  ),
)

/** A message with nothing in it but what the API knows. */
export function isPlainMessage(message: JsonObject, api: WireApi): boolean {
  if (api !== 'openai-chat' && api !== 'anthropic-messages') return true
  return Object.keys(message).every((key) => PLAIN.has(key))
}
