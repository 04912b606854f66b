/**
 * Conversations that instrumentations lay flat, an attribute for every field: OpenInference (`llm.input_messages.0.message.role`) and
 * Traceloop (`gen_ai.prompt.0.content`). Put together by name and number, in maps: an attribute's name never becomes a path.
 */
import type { Json, JsonObject } from '../transcript/json.ts'
import { asObject, asString } from '../transcript/json.ts'
import { fromChat, fromJson, toInput, type OtelMessage } from './otel-messages.ts'
import type { Attributes } from './otlp.ts'

/** Numbers in names: past these nothing is looked at. */
const MOST_MESSAGES = 10_000
const MOST_CALLS = 1024

/** `prefix`: `llm.input_messages` or `llm.output_messages`. */
export function openInferenceMessages(attributes: Attributes, prefix: string): readonly OtelMessage[] {
  return numbered(attributes, prefix, MOST_MESSAGES).map((fields) => {
    const message = below(fields, 'message')
    const calls = numbered(message, 'tool_calls', MOST_CALLS).map((call) =>
      toCall(
        textOf(call, 'tool_call.id'),
        textOf(call, 'tool_call.function.name'),
        call.get('tool_call.function.arguments'),
      ),
    )
    const content = message.get('content') ?? contentsOf(message)
    return toChat(message, content, calls)
  })
}

/** `prefix`: `gen_ai.prompt` or `gen_ai.completion`. */
export function traceloopMessages(attributes: Attributes, prefix: string): readonly OtelMessage[] {
  return numbered(attributes, prefix, MOST_MESSAGES).map((fields) => {
    const calls = numbered(fields, 'tool_calls', MOST_CALLS).map((call) =>
      toCall(textOf(call, 'id'), textOf(call, 'name'), call.get('arguments')),
    )
    const reason = asString(fields.get('finish_reason'))
    const message = toChat(fields, partsOf(fields.get('content')), calls)
    return reason === undefined || reason === '' ? message : { ...message, finishReason: reason }
  })
}

/** Tools that a model was given: `llm.tools.0.tool.json_schema`, `llm.request.functions.0.name`. */
export function flatTools(attributes: Attributes): Json | undefined {
  const schemas = numbered(attributes, 'llm.tools', MOST_CALLS).map((tool) =>
    fromJson(tool.get('tool.json_schema')),
  )
  const functions = numbered(attributes, 'llm.request.functions', MOST_CALLS).map((tool): Json =>
    Object.fromEntries([...tool].map(([name, value]) => [name, fromJson(value) ?? null])),
  )
  const tools = [...schemas.filter((one) => one !== undefined), ...functions]
  return tools.length > 0 ? tools : undefined
}

const textOf = (fields: Attributes, name: string): string | undefined => asString(fields.get(name))

function toChat(fields: Attributes, content: Json | undefined, calls: readonly JsonObject[]): OtelMessage {
  const named = ['role', 'tool_call_id', 'name'].flatMap((name) => {
    const value = fields.get(name)
    return typeof value === 'string' && value !== '' ? [[name, value] as const] : []
  })
  // A result that says whose it is may call itself anybody's.
  const isResult = named.some(([name]) => name === 'tool_call_id')
  return fromChat(
    {
      ...Object.fromEntries(named),
      ...(isResult && { role: 'tool' }),
      ...(content !== undefined && { content }),
      ...(calls.length > 0 && { tool_calls: calls }),
    },
    'user',
  )
}

function toCall(id: string | undefined, name: string | undefined, given: Json | undefined): JsonObject {
  return {
    ...(id !== undefined && { id }),
    type: 'function',
    function: { name: name ?? 'unknown', ...(given !== undefined && { arguments: toInput(given) }) },
  }
}

/** A message of several parts: `contents.0.message_content.type`, `.text`, `.image.image.url`. */
function contentsOf(message: Attributes): Json | undefined {
  const parts = numbered(message, 'contents', MOST_CALLS).map((fields): Json => {
    const content = below(fields, 'message_content')
    const url = asString(content.get('image.image.url'))
    if (url !== undefined) return { type: 'image_url', image_url: { url } }
    const text = asString(content.get('text'))
    return text === undefined ? Object.fromEntries(content) : { type: 'text', text }
  })
  return parts.length > 0 ? parts : undefined
}

/** Traceloop writes lists of parts as JSON; a text that only looks like one stays a text. */
function partsOf(content: Json | undefined): Json | undefined {
  const value = fromJson(content)
  const isParts =
    Array.isArray(value) && value.every((one) => asString(asObject(one)?.['type']) !== undefined)
  return isParts ? value : content
}

/** `prefix.N.rest` → the fields of each N, in order of the numbers. */
function numbered(attributes: Attributes, prefix: string, most: number): readonly Attributes[] {
  const found = new Map<number, Map<string, Json>>()
  for (const [name, value] of attributes) {
    if (!name.startsWith(`${prefix}.`)) continue
    const [, digits, rest] = /^(\d{1,6})\.(.+)$/s.exec(name.slice(prefix.length + 1)) ?? []
    const number = Number(digits)
    if (rest === undefined || number >= most) continue
    const fields = found.get(number) ?? new Map<string, Json>()
    fields.set(rest, value)
    found.set(number, fields)
  }
  return [...found].toSorted(([a], [b]) => a - b).map(([, fields]) => fields)
}

/** The fields below a name, without it. */
function below(fields: Attributes, name: string): Attributes {
  return new Map(
    [...fields].flatMap(([key, value]) =>
      key.startsWith(`${name}.`) ? [[key.slice(name.length + 1), value]] : [],
    ),
  )
}
