/** Events that Qwen Code's daemon sends to editors: updates of the Agent Client Protocol in an envelope with a number. A line, an entry. */
import type { Block } from '../transcript/block.ts'
import { asNumber, asObject, asString, toJson, type Json, type JsonObject } from '../transcript/json.ts'
import type { Said } from './placing.ts'
import { unknownSaid } from './unknown.ts'

export function isDaemonEvent({ id, v, type, data }: JsonObject): boolean {
  if (asNumber(id) === undefined || asNumber(v) === undefined) return false
  if (type === 'session_update')
    return asString(asObject(asObject(data)?.['update'])?.['sessionUpdate']) !== undefined
  return type === 'permission_request' || type === 'permission_resolved'
}

export function fromDaemonEvent(event: JsonObject): readonly Said[] {
  const update = asObject(asObject(event['data'])?.['update'])
  const kind = asString(update?.['sessionUpdate'])
  if (update === undefined || kind === undefined) return [unknownSaid(event, asString(event['type']))]
  const metadata = { record: kind }
  const said = CHUNKS.get(kind)
  const text = asString(asObject(update['content'])?.['text'])
  if (said !== undefined && text !== undefined) {
    const block: Block = kind === 'agent_thought_chunk' ? { type: 'thinking', text } : { type: 'text', text }
    return [{ kind: 'message', role: said, blocks: [block], metadata }]
  }
  const callId = asString(update['toolCallId'])
  const isOver = update['status'] === 'completed' || update['status'] === 'failed'
  if (callId === undefined || (kind !== 'tool_call' && !isOver)) return [unknownSaid(event, kind)]
  const name = asString(asObject(update['_meta'])?.['toolName']) ?? asString(update['title']) ?? 'tool'
  const call: Block = { type: 'tool-call', callId, name, input: update['rawInput'] ?? {} }
  return [
    ...(kind === 'tool_call'
      ? [{ kind: 'message', role: 'assistant', blocks: [call], metadata: { ...metadata, update } } as const]
      : []),
    ...(isOver ? [toResult(callId, name, update)] : []),
  ]
}

function toResult(callId: string, name: string, update: JsonObject): Said {
  const output = toText(update['rawOutput'] ?? update['content'])
  const isError = update['status'] === 'failed'
  const result = {
    type: 'tool-result',
    callId,
    name,
    ...(output !== undefined && { output }),
    ...(isError && { isError }),
  } as const
  return { kind: 'message', role: 'tool', blocks: [result], metadata: { record: 'tool_call_update', update } }
}

const toText = (value: Json | undefined): string | undefined =>
  value === undefined || value === null ? undefined : typeof value === 'string' ? value : toJson(value)

const CHUNKS: ReadonlyMap<string, 'user' | 'assistant'> = new Map([
  ['user_message_chunk', 'user'],
  ['agent_message_chunk', 'assistant'],
  ['agent_thought_chunk', 'assistant'],
])
