/**
 * The older conventions, in which a call's messages are events beside it: `gen_ai.user.message`, `gen_ai.choice` and the like, as
 * events of a span or as log records, with what was said in attributes or in a body.
 */
import { asObject, asString, isObject, type Json, type JsonObject } from '../transcript/json.ts'
import type { Role } from '../transcript/entry.ts'
import { fromChat, fromJson, toMessages, type OtelMessage } from './otel-messages.ts'
import type { Attributes, OtlpEvent } from './otlp.ts'

export type EventMessages = {
  readonly asked: readonly OtelMessage[]
  readonly answered: readonly OtelMessage[]
  /** The event that has all of a call in its attributes, as a span would. */
  readonly details?: Attributes
}

/** The events of which a conversation can be told. */
export function isGenAiEvent(name: string): boolean {
  return ROLES.has(name) || CONTENT.has(name) || name === 'gen_ai.choice' || name === DETAILS
}

export function fromEvents(events: readonly (OtlpEvent & { readonly body?: Json })[]): EventMessages {
  const asked: OtelMessage[] = []
  const answered: OtelMessage[] = []
  let details: Attributes | undefined
  for (const { name, attributes, body } of events) {
    const role = ROLES.get(name)
    const content = CONTENT.get(name)
    if (role !== undefined) asked.push(fromChat(saidIn(attributes, body), role))
    else if (name === 'gen_ai.choice') answered.push(toChoice(saidIn(attributes, body)))
    else if (content !== undefined)
      (content.isAnswer ? answered : asked).push(
        ...toMessages(attributes.get(content.attribute) ?? body, content.isAnswer ? 'assistant' : 'user'),
      )
    else if (name === DETAILS) details = attributes
  }
  return { asked, answered, ...(details !== undefined && { details }) }
}

const DETAILS = 'gen_ai.client.inference.operation.details'

const ROLES: ReadonlyMap<string, Role> = new Map<string, Role>([
  ['gen_ai.system.message', 'system'],
  ['gen_ai.user.message', 'user'],
  ['gen_ai.assistant.message', 'assistant'],
  ['gen_ai.tool.message', 'tool'],
])

/** Older still: all that was asked, or answered, in one event. */
const CONTENT: ReadonlyMap<string, { readonly attribute: string; readonly isAnswer: boolean }> = new Map([
  ['gen_ai.content.prompt', { attribute: 'gen_ai.prompt', isAnswer: false }],
  ['gen_ai.content.completion', { attribute: 'gen_ai.completion', isAnswer: true }],
])

/** In the body of a log record; of a span's event in one attribute as JSON, or in one for each field. */
function saidIn(attributes: Attributes, body: Json | undefined): JsonObject {
  const whole = fromJson(body ?? attributes.get('gen_ai.event.content'))
  if (isObject(whole)) return withId(whole)
  if (whole !== undefined && whole !== null) return { content: whole }
  const fields = FIELDS.flatMap((name) => {
    const value = attributes.get(name)
    return value === undefined
      ? []
      : [[name, name === 'content' ? value : (fromJson(value) ?? value)] as const]
  })
  return withId(Object.fromEntries(fields))
}

const FIELDS = [
  'role',
  'content',
  'tool_calls',
  'id',
  'tool_call_id',
  'name',
  'message',
  'finish_reason',
  'index',
]

/** A tool's message names its call as `id`. */
function withId(said: JsonObject): JsonObject {
  const id = said['id']
  const isResult = typeof id === 'string' && said['tool_calls'] === undefined && said['message'] === undefined
  return isResult ? { ...said, tool_call_id: said['tool_call_id'] ?? id } : said
}

function toChoice(said: JsonObject): OtelMessage {
  const inner = fromJson(said['message'])
  const message = isObject(inner) ? inner : { ...said, ...(inner !== undefined && { content: inner }) }
  const calls = message['tool_calls'] ?? said['tool_calls']
  const finishReason = asString(said['finish_reason'])
  return {
    ...fromChat(
      {
        role: 'assistant',
        ...(message['content'] !== undefined && { content: message['content'] }),
        ...(Array.isArray(calls) && { tool_calls: calls.map(toCall) }),
      },
      'assistant',
    ),
    ...(finishReason !== undefined && { finishReason }),
  }
}

/** As chat completions have it, or laid flat. */
function toCall(call: Json): Json {
  if (!isObject(call) || asObject(call['function']) !== undefined) return call
  const { id, name, arguments: given } = call
  return {
    ...(id !== undefined && { id }),
    function: { name: name ?? 'unknown', ...(given !== undefined && { arguments: given }) },
  }
}
