/** What is asked otherwise from a fork on: another model, another prompt, another result of a tool. Everything else stays as it is. */
import { asArray, asString, isObject, type Json, type JsonObject } from '../transcript/json.ts'
import type { ForkPoint } from './fork.ts'

export type Edits = {
  readonly model?: string
  /** Instead of the words of the entry that is forked at. */
  readonly prompt?: string
  /** Instead of what the tool gave whose result that entry is. */
  readonly result?: string
}

/** Undefined where nothing is edited. */
export function editRequest(
  body: Json,
  point: Pick<ForkPoint, 'text' | 'callId'>,
  edits: Edits,
): Json | undefined {
  const { model, prompt, result } = edits
  if (model === undefined && prompt === undefined && result === undefined) return undefined
  let edited = body
  if (prompt !== undefined && point.text !== undefined) edited = withText(edited, point.text, prompt)
  if (result !== undefined && point.callId !== undefined) edited = withResult(edited, point.callId, result)
  return model !== undefined && isObject(edited) ? withModel(edited, model) : edited
}

/** The same words, wherever a message has them as its own. */
function withText(value: Json, before: string, after: string): Json {
  return mapped(value, (one) => (typeof one === 'string' && one.trim() === before.trim() ? after : undefined))
}

function withResult(value: Json, callId: string, result: string): Json {
  return mapped(value, (one) => {
    if (!isObject(one)) return undefined
    if (one['tool_use_id'] === callId) return { ...one, content: result }
    if (one['tool_call_id'] === callId) return { ...one, content: result }
    const isOutput = one['call_id'] === callId && asString(one['type'])?.endsWith('_output') === true
    return isOutput ? { ...one, output: result } : undefined
  })
}

/** Thinking is signed for the model that thought it: another one refuses it, so it goes without. */
function withModel(body: JsonObject, model: string): JsonObject {
  const stripped = mapped(body, (one) => {
    const items = asArray(one)
    if (items?.some(isSigned) === true)
      return items.filter((item) => !isSigned(item)).map((item) => mapped(item, stripSignature))
    return stripSignature(one)
  })
  const edited = isObject(stripped) ? stripped : body
  const messages = asArray(edited['messages'])
  return { ...edited, ...(messages && { messages: messages.filter((one) => !isEmpty(one)) }), model }
}

/** An answer of nothing but thinking: providers refuse messages without content. */
function isEmpty(message: Json): boolean {
  return isObject(message) && message['role'] === 'assistant' && asArray(message['content'])?.length === 0
}

function isSigned(item: Json): boolean {
  return isObject(item) && SIGNED.has(asString(item['type']) ?? '')
}

const SIGNED: ReadonlySet<string> = new Set(['thinking', 'redacted_thinking', 'reasoning'])

/** Gemini's stand in the parts that they belong to. */
function stripSignature(value: Json): Json | undefined {
  if (!isObject(value) || value['thoughtSignature'] === undefined) return undefined
  const { thoughtSignature: _, ...rest } = value
  return rest
}

/** Deeper than any request. */
const DEEPEST = 200

/** Top down: what `change` gives stands for the value, and is not gone into. */
function mapped(value: Json, change: (value: Json) => Json | undefined, depth = 0): Json {
  const changed = change(value)
  if (changed !== undefined) return changed
  if (depth > DEEPEST || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((one: Json) => mapped(one, change, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, mapped(one, change, depth + 1)]),
  )
}
