/**
 * What a JSON value of a file is to a provider's API: a message, a request, an answer, or one of the lines that batches and training sets
 * wrap around them. By content alone. Where two APIs would take the same value, the one that is spoken most is said, and that it is a guess.
 */
import {
  asArray,
  asNumber,
  asObject,
  asString,
  isObject,
  rest,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import type { WireApi } from '../wire/message.ts'
import { messagesApi } from './provider-vote.ts'

export type ProviderUnit = {
  readonly api: WireApi
  /** What the file calls it: a batch's `custom_id`. */
  readonly name?: string
  readonly request?: JsonObject
  readonly response?: JsonObject
  /** One message of a list or of lines, alone. */
  readonly message?: JsonObject
  /** Answers beside the one that counts: what a training set prefers not to be said. */
  readonly others?: JsonObject
  /** What stands around it. */
  readonly around?: JsonObject
  /** From 0 to 1: how sure the value alone makes us. */
  readonly confidence: number
}

export function toUnit(value: Json): ProviderUnit | undefined {
  if (!isObject(value)) return undefined
  return wrapped(value) ?? toResponse(value) ?? toRequest(value) ?? toMessage(value)
}

const URLS: readonly (readonly [RegExp, WireApi])[] = [
  [/\/chat\/completions$/, 'openai-chat'],
  [/\/responses$/, 'openai-responses'],
  [/\/messages$/, 'anthropic-messages'],
  [/:(?:stream)?generateContent$/i, 'gemini'],
]

/** Lines of batches, of training sets and of logs: a request, its answer, or both. */
function wrapped(value: JsonObject): ProviderUnit | undefined {
  return batchRequest(value) ?? batchResult(value) ?? preference(value) ?? exchange(value)
}

function batchRequest(value: JsonObject): ProviderUnit | undefined {
  const url = asString(value['url'])
  const body = asObject(value['body'])
  const named = nameOf(value)
  if (body !== undefined && url !== undefined && named.name !== undefined) {
    const api = URLS.find(([pattern]) => pattern.test(url))?.[1]
    const around = rest(value, new Set(['body', 'custom_id']))
    if (api !== undefined)
      return { api, ...named, request: body, ...(around && { around }), confidence: 0.95 }
  }
  const inner = asObject(value['params']) ?? asObject(value['modelInput']) ?? asObject(value['request'])
  const isOpen =
    value['response'] === undefined && value['result'] === undefined && value['modelOutput'] === undefined
  const request = named.name === undefined || inner === undefined || !isOpen ? undefined : toRequest(inner)
  if (request === undefined) return undefined
  const around = rest(value, new Set(['params', 'modelInput', 'request', 'custom_id', 'recordId', 'key']))
  return { ...request, ...named, ...(around && { around }), confidence: 0.95 }
}

function batchResult(value: JsonObject): ProviderUnit | undefined {
  const named = nameOf(value)
  if (named.name === undefined) return undefined
  const result = asObject(value['result'])
  const response = asObject(value['response'])
  const body = asObject(response?.['body']) ?? asObject(result?.['message']) ?? asObject(result?.['error'])
  const answered = toAnswer(body ?? asObject(value['modelOutput']) ?? response)
  if (answered === undefined) return undefined
  const asked = asObject(value['modelInput']) ?? asObject(value['request'])
  const around = rest(
    value,
    new Set(['result', 'modelInput', 'modelOutput', 'request', 'custom_id', 'recordId', 'key']),
  )
  return {
    ...answered,
    ...named,
    ...(asked !== undefined && { request: asked }),
    // The envelope has the status and the id of the request beside the body.
    around: {
      ...around,
      ...(response !== undefined && { response: rest(response, new Set(['body'])) ?? {} }),
    },
    confidence: 0.95,
  }
}

/** `{input: {messages}, preferred_output, non_preferred_output}`: OpenAI's training sets of preferences. */
function preference(value: JsonObject): ProviderUnit | undefined {
  const input = asObject(value['input'])
  const preferred = asArray(value['preferred_output'])
  if (input === undefined || preferred === undefined || asArray(input['messages']) === undefined)
    return undefined
  const others = rest(value, new Set(['input', 'preferred_output']))
  const messages = [...(asArray(input['messages']) ?? []), ...preferred]
  return { api: 'openai-chat', request: { ...input, messages }, ...(others && { others }), confidence: 0.95 }
}

/** A log's line with both sides of one call. */
function exchange(value: JsonObject): ProviderUnit | undefined {
  const request = asObject(value['request'])
  const response = asObject(value['response'])
  if (request === undefined || response === undefined) return undefined
  const answered = toAnswer(asObject(response['body']) ?? response)
  const asked = toRequest(asObject(request['body']) ?? request)
  if (answered === undefined || asked === undefined) return undefined
  const around = rest(value, new Set(['request', 'response']))
  const body = asked.request as JsonObject
  return { ...answered, request: body, ...(around && { around }), confidence: 0.85 }
}

const nameOf = (value: JsonObject): { readonly name?: string } => {
  const name = asString(value['custom_id']) ?? asString(value['recordId']) ?? asString(value['key'])
  return name === undefined ? {} : { name }
}

/** A body that came back, or the error that came instead. */
function toAnswer(value: JsonObject | undefined): ProviderUnit | undefined {
  return value === undefined ? undefined : toResponse(value)
}

function toResponse(value: JsonObject): ProviderUnit | undefined {
  const api = responseApi(value)
  if (api !== undefined) return { api, response: value, confidence: 0.95 }
  const error = asObject(value['error'])
  if (error === undefined || asString(error['message']) === undefined) return undefined
  // What else a body with an error in it says, is little: other programs put errors into records of their own.
  if (Object.keys(value).some((key) => !ERROR_KEYS.has(key))) return undefined
  const response = value
  if (value['type'] === 'error') return { api: 'anthropic-messages', response, confidence: 0.95 }
  if (asNumber(error['code']) !== undefined && asString(error['status']) !== undefined)
    return { api: 'gemini', response, confidence: 0.9 }
  // Chat and Responses say errors in the same words.
  if ('type' in error && ('param' in error || 'code' in error))
    return { api: 'openai-chat', response, confidence: 0.7 }
  return undefined
}

const ERROR_KEYS: ReadonlySet<string> = new Set([
  'error',
  'type',
  'request_id',
  'id',
  'status',
  'status_code',
])

function responseApi(value: JsonObject): WireApi | undefined {
  if (value['object'] === 'response' && 'output' in value) return 'openai-responses'
  const [choice] = asArray(value['choices']) ?? []
  if (isObject(choice) && isObject(choice['message'])) return 'openai-chat'
  const isMessage =
    value['type'] === 'message' && value['role'] === 'assistant' && Array.isArray(value['content'])
  // Why it stopped stands behind what it says, which may be long.
  const isNamed = asString(value['id'])?.startsWith('msg_') === true && 'model' in value
  if (isMessage && ('stop_reason' in value || isNamed)) return 'anthropic-messages'
  const [candidate] = asArray(value['candidates']) ?? []
  if (isObject(candidate) && ('content' in candidate || 'finishReason' in candidate)) return 'gemini'
  return undefined
}

function toRequest(value: JsonObject): ProviderUnit | undefined {
  const messages = asArray(value['messages'])
  if (messages !== undefined && !('input' in value) && !('contents' in value)) {
    const vote = messagesApi(messages, value)
    return vote && { api: vote.api, request: value, confidence: around(vote.confidence, value) }
  }
  const { contents, input } = value
  const inner = asObject(value['request'])
  if (contents !== undefined || inner?.['contents'] !== undefined) {
    const list = asArray(contents ?? inner?.['contents'])
    if (list?.every((one) => isObject(one) && 'parts' in one) !== true) return undefined
    return { api: 'gemini', request: value, confidence: around(0.95, value) }
  }
  const isInput = typeof input === 'string' || Array.isArray(input)
  if (!isInput || asString(value['model']) === undefined) return undefined
  const isKnown = Object.keys(value).every((key) => REQUEST_KEYS.has(key))
  return isKnown ? { api: 'openai-responses', request: value, confidence: 0.9 } : undefined
}

/** Programs that keep messages among things of their own have a format of theirs: what is not a request's makes us less sure. */
function around(confidence: number, value: JsonObject): number {
  const strange = Object.keys(value).filter((key) => !REQUEST_KEYS.has(key)).length
  return strange === 0 ? confidence : Math.min(confidence, 0.55)
}

/** Of all four APIs, and of the sets that models are trained with. */
const REQUEST_KEYS: ReadonlySet<string> = new Set(
  `messages contents input model system instructions tools tool_choice toolConfig tool_config functions function_call max_tokens
  max_completion_tokens max_output_tokens temperature top_p top_k stop stop_sequences stream stream_options metadata thinking betas
  anthropic_version anthropic_beta container context_management mcp_servers output_config service_tier n seed logprobs top_logprobs
  logit_bias presence_penalty frequency_penalty response_format parallel_tool_calls reasoning reasoning_effort verbosity modalities audio
  prediction store user safety_identifier prompt_cache_key previous_response_id conversation include text truncation background prompt
  systemInstruction system_instruction generationConfig generation_config safetySettings cachedContent labels request project weight
  max_tool_calls prompt_cache_retention cache_control inference_geo speed`.split(/\s+/),
)

function toMessage(value: JsonObject): ProviderUnit | undefined {
  const { role, content, parts, type } = value
  if (
    typeof role === 'string' &&
    Array.isArray(parts) &&
    content === undefined &&
    !('id' in value) &&
    !('uuid' in value)
  )
    return role === 'user' || role === 'model' || role === 'function'
      ? { api: 'gemini', message: value, confidence: 0.9 }
      : undefined
  if (typeof type === 'string' && ITEMS.has(type) && ('call_id' in value || 'summary' in value))
    return { api: 'openai-responses', message: value, confidence: 0.9 }
  if (typeof role !== 'string' || !('content' in value || 'tool_calls' in value)) return undefined
  const vote = messagesApi([value], {})
  return vote && { api: vote.api, message: value, confidence: vote.confidence }
}

/** Of the Responses API's input and output, beside messages. */
const ITEMS: ReadonlySet<string> = new Set(
  'function_call function_call_output reasoning custom_tool_call custom_tool_call_output local_shell_call local_shell_call_output shell_call shell_call_output apply_patch_call apply_patch_call_output computer_call computer_call_output'.split(
    ' ',
  ),
)
