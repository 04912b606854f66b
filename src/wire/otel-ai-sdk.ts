/** What the AI SDK's own spans say of a conversation: prompts and answers as JSON in attributes. */
import { asObject, asString, type Json, type JsonObject } from '../transcript/json.ts'
import { fromJson, toMessages, type OtelMessage } from './otel-messages.ts'
import type { Attributes } from './otlp.ts'

/** The inner span has the messages; the outer one what the program gave. */
export function aiSdkMessages(attributes: Attributes): readonly OtelMessage[] {
  const messages = attributes.get('ai.prompt.messages')
  if (messages !== undefined) return toMessages(messages)
  const given = asObject(fromJson(attributes.get('ai.prompt')))
  if (given === undefined) return []
  const system = asString(given['system'])
  return [
    ...(system === undefined ? [] : toMessages([{ role: 'system', content: system }])),
    ...toMessages(given['messages'] ?? given['prompt']),
  ]
}

export function aiSdkAnswer(attributes: Attributes): readonly OtelMessage[] {
  const text = asString(attributes.get('ai.response.text'))
  const thought = asString(attributes.get('ai.response.reasoning'))
  const object = attributes.get('ai.response.object')
  const calls = fromJson(attributes.get('ai.response.toolCalls'))
  const parts: readonly Json[] = [
    ...(thought === undefined || thought === '' ? [] : [{ type: 'reasoning', text: thought }]),
    ...(text === undefined || text === '' ? [] : [{ type: 'text', text }]),
    ...(typeof object === 'string' ? [{ type: 'text', text: object }] : []),
    ...(Array.isArray(calls) ? calls.map(asCall) : []),
  ]
  return parts.length === 0 ? [] : toMessages([{ role: 'assistant', parts }], 'assistant')
}

function asCall(call: Json): JsonObject {
  return { ...asObject(call), type: 'tool-call' }
}
