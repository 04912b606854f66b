/** The spans of `@openai/agents` in our words: what a model was asked and answered, told when it is over. */
import { asString, isObject, type Json, type JsonObject } from '../../transcript/json.ts'
import { parseMessage } from '../../wire/apis.ts'
import type { WireMessage } from '../../wire/message.ts'
import { parseRequest, type WireRequest } from '../../wire/request.ts'
import { field, list, text, toOutput, toPlain } from './foreign.ts'

export type Told = { readonly request: WireRequest; readonly message?: WireMessage }

/** Of the Responses API: the answer is the provider's own; what was asked is in the package's words. */
export function fromResponseSpan(data: unknown): Told {
  const response = toPlain(field(data, '_response'))
  const said: JsonObject = isObject(response) ? response : {}
  const input = field(data, '_input')
  const request = parseRequest('openai-responses', {
    input: typeof input === 'string' ? input : list(input).map(toWireItem),
    ...copy(said, 'instructions', 'tools', 'model', 'temperature', 'tool_choice', 'reasoning'),
  })
  return { request, ...(isObject(response) && { message: parseMessage('openai-responses', response) }) }
}

/** Of any other model: in the words of chat completions, or of the package. */
export function fromGenerationSpan(data: unknown): Told {
  const input = list(field(data, 'input')).map(toPlain)
  const config = toPlain(field(data, 'model_config'))
  const model = text(field(data, 'model'))
  const isItems = input.some((item) => isObject(item) && 'callId' in item)
  const body = { ...(isObject(config) && config), ...(model !== undefined && { model }) }
  const request = isItems
    ? parseRequest('openai-responses', { ...body, input: list(field(data, 'input')).map(toWireItem) })
    : parseRequest('openai-chat', { ...body, messages: input })
  const output = list(field(data, 'output')).map(toPlain)
  return output.length === 0 ? { request } : { request, message: toMessage(output, data, model) }
}

function toMessage(output: readonly Json[], data: unknown, model: string | undefined): WireMessage {
  const [first] = output
  const usage = toPlain(field(data, 'usage'))
  if (isObject(first) && 'choices' in first) return parseMessage('openai-chat', first)
  const named = { ...(model !== undefined && { model }), ...(usage !== null && { usage }) }
  if (isObject(first) && 'role' in first && !('type' in first))
    return parseMessage('openai-chat', { ...named, choices: [{ index: 0, message: first }] })
  return parseMessage('openai-responses', { ...named, status: 'completed', output: output.map(toWireItem) })
}

/** Items are the API's, but for the names of their fields and for what tools gave. */
function toWireItem(item: unknown): Json {
  const plain = toPlain(item)
  if (!isObject(plain)) return plain
  const { callId, ...rest } = plain
  const callIdOf = callId ?? rest['call_id']
  const own = { ...rest, ...(callIdOf !== undefined && { call_id: callIdOf }) }
  if (plain['type'] !== 'function_call_result') return own
  const output = field(item, 'output')
  return { ...own, type: 'function_call_output', output: toText(output) }
}

export function toText(output: unknown): string {
  return asString(field(output, 'text')) ?? toOutput(output)
}

function copy(from: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(
    Object.entries(from).filter(([name, value]) => names.includes(name) && value !== null),
  )
}
