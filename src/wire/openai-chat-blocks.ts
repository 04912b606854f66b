/** A message of Chat Completions as blocks: the same for a request's messages and for an answer. */
import type { Block } from '../transcript/block.ts'
import type { Json, JsonObject } from '../transcript/json.ts'
import { asArray, asObject, asString, isObject, rest } from '../transcript/json.ts'
import { splitContent, splitPart, toArguments, withExtras } from './openai-parts.ts'
import type { SplitBlock } from './split.ts'

/** What the message thought (servers beside OpenAI say it), then what it said, then what it called. */
export function splitChatMessage(message: JsonObject): SplitBlock[] {
  if (message['role'] === 'tool' || message['role'] === 'function') return [toToolResult(message)]
  const thought = asString(message['reasoning_content']) ?? asString(message['reasoning'])
  const refusal = asString(message['refusal'])
  const legacyCall = asObject(message['function_call'])
  return [
    ...(thought === undefined || thought === ''
      ? []
      : [{ block: { type: 'thinking', text: thought } satisfies Block }]),
    ...splitContent(message['content']),
    ...(refusal === undefined ? [] : [splitPart({ type: 'refusal', refusal })]),
    ...(asArray(message['tool_calls']) ?? []).map(splitToolCall),
    ...(legacyCall === undefined ? [] : [splitToolCall({ type: 'function', function: legacyCall })]),
  ]
}

/** Fields of a message that its blocks do not say. */
export function chatMessageRest(message: JsonObject): JsonObject | undefined {
  return rest(message, CHAT_FIELDS)
}

const CHAT_FIELDS: ReadonlySet<string> = new Set([
  'role',
  'content',
  'refusal',
  'reasoning_content',
  'reasoning',
  'tool_calls',
  'function_call',
  'tool_call_id',
])
const CALL_FIELDS: ReadonlySet<string> = new Set(['id', 'type', 'index', 'function', 'custom'])
const FUNCTION_FIELDS: ReadonlySet<string> = new Set(['name', 'arguments'])
const CUSTOM_FIELDS: ReadonlySet<string> = new Set(['name', 'input'])

function splitToolCall(raw: Json): SplitBlock {
  const called = asObject(asObject(raw)?.['function'])
  const custom = asObject(asObject(raw)?.['custom'])
  const name = asString((called ?? custom)?.['name'])
  if (!isObject(raw) || name === undefined) return { block: { type: 'unknown', raw } }
  const callId = asString(raw['id'])
  const input = called === undefined ? custom?.['input'] : toInput(called['arguments'])
  return withExtras(
    {
      type: 'tool-call',
      ...(callId !== undefined && { callId }),
      name,
      ...(input !== undefined && { input }),
    },
    rest(raw, CALL_FIELDS),
    called && rest(called, FUNCTION_FIELDS),
    custom && rest(custom, CUSTOM_FIELDS),
  )
}

function toInput(stated: Json | undefined): Json | undefined {
  return typeof stated === 'string' ? toArguments(stated) : stated
}

/** `function` is the role that `tool` replaced; it names the tool and has no id. */
function toToolResult(message: JsonObject): SplitBlock {
  const callId = asString(message['tool_call_id'])
  const name = asString(message['name'])
  const content = message['content']
  const parts = asArray(content)?.map((part) => splitPart(part).block)
  const output = asString(content) ?? parts
  return {
    block: {
      type: 'tool-result',
      ...(callId !== undefined && { callId }),
      ...(name !== undefined && { name }),
      ...(output !== undefined && { output }),
    },
  }
}
