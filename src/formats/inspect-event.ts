/** What one event of an Inspect sample says: the messages that a model was given, what it answered, a tool's call and its result. */
import { millisBetween, parseInstant } from '../transcript/instant.ts'
import {
  asArray,
  asObject,
  asString,
  isObject,
  toJson,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import { fromMessage, usageOf, type Aside } from './inspect-message.ts'
import { isInstant, takes } from './left-over.ts'
import { asId, type Said } from './placing.ts'
import { inside, unsaid } from './unsaid.ts'

/** The messages of a call: in place, or by their places in the sample's pool, `[from, to)`. */
export function inputOf(event: JsonObject, pool: readonly Json[]): readonly Json[] {
  const input = asArray(event['input'])
  const refs = asArray(event['input_refs'])
  if (refs === undefined || (input !== undefined && input.length > 0)) return input ?? []
  return refs.flatMap((ref) => {
    const [from, to] = asArray(ref) ?? [ref]
    if (typeof from !== 'number') return []
    return pool.slice(from, typeof to === 'number' ? to : from + 1)
  })
}

const CHOICE = takes({
  choices:
    inside(`message id role content assistant source generate model tool_calls stop_reason type function arguments stop text
    reasoning tool_calls max_tokens`),
  usage: inside('input_tokens output_tokens total_tokens'),
  completion: inside(''),
  model: inside(''),
  time: (value) => typeof value === 'number',
})
const MODEL = takes({
  event: inside('model'),
  timestamp: isInstant,
  input: Array.isArray,
  input_refs: Array.isArray,
  output: isObject,
  model: inside(''),
  completed: isInstant,
})

/** What came of a model call: its answer, or the error; the rest of the event is the answer's metadata. */
export function answersOf(event: JsonObject, aside: Aside): readonly Said[] {
  const output = asObject(aside.restored(event['output'] ?? null))
  const choices = (asArray(output?.['choices']) ?? []).filter(isObject)
  const [choice] = choices
  const message = choice === undefined ? undefined : fromMessage(choice['message'] ?? null)
  const counts = asObject(output?.['usage'])
  const error = asString(event['error']) ?? asString(output?.['error'])
  const durationMs = millisBetween(parseInstant(event['timestamp']), parseInstant(event['completed']))
  const messageId = message?.id ?? asId(event['uuid'])
  const model = asString(output?.['model']) ?? message?.model ?? asString(event['model'])
  const stopReason = asString(choice?.['stop_reason'])
  // Read from Inspect's own cache: nobody was asked.
  const isCached = event['cache'] === 'read'
  const said: Said = {
    ...(message?.id !== undefined && { id: message.id }),
    kind: 'message',
    role: 'assistant',
    blocks: [
      ...(message?.blocks ?? []),
      ...(error === undefined ? [] : [{ type: 'error', message: error } as const]),
    ],
    ...(model !== undefined && { model }),
    ...(stopReason !== undefined && { stopReason }),
    ...(durationMs !== undefined && durationMs >= 0 && { durationMs }),
    ...(counts !== undefined && !isCached && { usage: usageOf(counts) }),
    ...(messageId !== undefined && !isCached && { call: { messageId } }),
  }
  const whole = { ...said, metadata: { ...message?.metadata } }
  const left = { ...message?.metadata, ...unsaid(event, MODEL, whole) }
  const beyond =
    output === undefined
      ? undefined
      : unsaid(output, CHOICE, {
          ...whole,
          ...(isCached && counts !== undefined && { metadata: { counts } }),
        })
  const metadata = {
    ...left,
    ...(beyond !== undefined && { output: beyond }),
    ...(isCached && counts !== undefined && { usage: counts }),
  }
  return [Object.keys(metadata).length > 0 ? { ...said, metadata } : said]
}

const TOOL = takes({
  event: inside('tool'),
  timestamp: isInstant,
  id: inside(''),
  function: inside(''),
  arguments: inside(''),
  result: inside('type text'),
  error: inside('type message'),
  events: Array.isArray,
  completed: isInstant,
})

export function fromTool(event: JsonObject, aside: Aside): { readonly call: Said; readonly result: Said } {
  const callId = asString(event['id'])
  const name = asString(event['function']) ?? 'tool'
  const id = callId === undefined ? {} : { callId }
  const given = event['result']
  const content = aside.restored(given ?? null)
  const said = fromMessage({
    role: 'tool',
    content:
      typeof content === 'string' || Array.isArray(content) || content === null ? content : toJson(content),
    ...(callId !== undefined && { tool_call_id: callId }),
    function: name,
    ...(isObject(event['error']) && { error: event['error'] }),
  })
  const durationMs = millisBetween(parseInstant(event['timestamp']), parseInstant(event['completed']))
  const call: Said = {
    kind: 'message',
    role: 'assistant',
    blocks: [
      {
        type: 'tool-call',
        ...id,
        name,
        ...(event['arguments'] !== undefined && { input: event['arguments'] }),
      },
    ],
  }
  const left = unsaid(event, TOOL, {
    ...said,
    metadata: { call: call.blocks, restored: given ?? null },
  })
  return {
    call,
    result: {
      ...said,
      ...(durationMs !== undefined && durationMs >= 0 && { durationMs }),
      metadata: {
        ...said.metadata,
        ...left,
        ...(event['arguments'] !== undefined && { arguments: event['arguments'] }),
      },
    },
  }
}
