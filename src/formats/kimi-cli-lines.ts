/** Lines of Kimi CLI's wire, which Kimi Code's replaced: `{timestamp, message: {type, payload}}`, with times in seconds. */
import type { Block } from '../transcript/block.ts'
import { fromMillis } from '../transcript/instant.ts'
import {
  asArray,
  asNumber,
  asObject,
  asString,
  toJson,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import { splitContent, toArguments } from '../wire/openai-parts.ts'
import { toBlock, usageOf } from './kimi-parts.ts'
import { asId, type Said } from './placing.ts'
import { unknownSaid } from './unknown.ts'

export function isCliLine({ timestamp, message }: JsonObject): boolean {
  const type = asString(asObject(message)?.['type'])
  return asNumber(timestamp) !== undefined && type !== undefined && /^[A-Z][A-Za-z]+$/.test(type)
}

/** Undefined for a line that is none. */
export function fromCliLine(line: JsonObject): readonly Said[] | undefined {
  if (!isCliLine(line)) return undefined
  const { type, payload: stated } = asObject(line['message']) ?? {}
  const payload = asObject(stated) ?? {}
  const record = asString(type) as string
  const seconds = asNumber(line['timestamp']) as number
  const at = fromMillis(seconds * 1000)
  const placed = { ...(at !== undefined && { at }), metadata: { record } }
  const said = toSaid(record, payload)
  return [said === undefined ? { ...unknownSaid(line), ...placed } : { ...said, ...placed }]
}

function toSaid(record: string, payload: JsonObject): Said | undefined {
  if (record === 'TurnBegin') {
    const input = payload['user_input']
    return { kind: 'message', role: 'user', blocks: splitContent(input).map(({ block }) => block) }
  }
  if (record === 'ContentPart') return { kind: 'message', role: 'assistant', blocks: [toBlock(payload)] }
  if (record === 'ToolCall') return toCall(payload)
  if (record === 'ToolResult') return { kind: 'message', role: 'tool', blocks: [toResult(payload)] }
  if (record !== 'StatusUpdate') return undefined
  const usage = usageOf(payload['token_usage'])
  const messageId = asId(payload['message_id'])
  if (usage === undefined) return undefined
  return { ...unknownSaid(payload), usage, ...(messageId !== undefined && { call: { messageId } }) }
}

function toCall(payload: JsonObject): Said | undefined {
  const called = asObject(payload['function'])
  const name = asString(called?.['name'])
  if (name === undefined) return undefined
  const callId = asString(payload['id'])
  const stated = called?.['arguments']
  const input = typeof stated === 'string' ? toArguments(stated) : (stated ?? {})
  const block: Block = { type: 'tool-call', ...(callId !== undefined && { callId }), name, input }
  return { kind: 'message', role: 'assistant', blocks: [block] }
}

function toResult(payload: JsonObject): Block {
  const callId = asString(payload['tool_call_id'])
  const returned = asObject(payload['return_value']) ?? asObject(payload['result'])
  const output = returned?.['output']
  const text =
    typeof output === 'string'
      ? output
      : (asArray(output)?.map((part: Json) => toBlock(part)) ??
        (output === undefined || output === null ? undefined : toJson(output)))
  return {
    type: 'tool-result',
    ...(callId !== undefined && { callId }),
    ...(text !== undefined && { output: text }),
    ...(returned?.['is_error'] === true && { isError: true }),
  }
}
