/**
 * One line of a swarm transcript as entries. Three dialects are in use: the seed's role lines, the step contract's typed lines,
 * and a provider's own stream with a timestamp added. One tool line of the seed is a call and its result, so two entries.
 * What a line says beyond them stands in `metadata.swarm.fields`, for a writer to put back.
 */
import type { Block, ToolResultBlock } from '../transcript/block.ts'
import { PRIMARY, ROLES, type Entry, type Role } from '../transcript/entry.ts'
import { parseInstant } from '../transcript/instant.ts'
import {
  asBoolean,
  asObject,
  asString,
  isObject,
  rest,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import { fromAnthropicContent } from '../wire/anthropic-blocks.ts'
import { fromAnthropicUsage } from '../wire/anthropic-usage.ts'

/** An entry without its place: whoever reads the file adds id, sequence and origin. */
export type LineEntry = Omit<Entry, 'id' | 'sequence' | 'origin'>

export function fromSwarmLine(value: Json): readonly LineEntry[] {
  if (!isObject(value)) return [toEvent({ swarm: { in: 'llm' } }, value)]
  const type = asString(value['type'])
  return (
    (type === undefined ? undefined : TYPED.get(type)?.(value)) ??
    fromRoleLine(value) ?? [fromOther(value, type)]
  )
}

/** The seed's dialect. */
function fromRoleLine(line: JsonObject): readonly LineEntry[] | undefined {
  const role = ROLES.find((role) => role === line['role'])
  if (role === undefined) return undefined
  if (role === 'tool') return fromToolLine(line)
  const { content } = line
  if (typeof content !== 'string' && !Array.isArray(content)) return undefined
  return [toMessage(line, roleOf(role, content), fromAnthropicContent(content), ['role', 'content', 'type'])]
}

/** A call, and its result where the line has one: `content` for tools that read, `tool_output` for the others. */
function fromToolLine(line: JsonObject): readonly LineEntry[] | undefined {
  const name = asString(line['tool_name'])
  if (name === undefined) return undefined
  const input = line['tool_input']
  const output = line['tool_output'] ?? line['content']
  const used = ['role', 'tool_name', 'tool_input', 'tool_output' in line ? 'tool_output' : 'content']
  const call: Block = { type: 'tool-call', name, ...(input !== undefined && { input }) }
  const called = toMessage(line, 'assistant', [call], used)
  if (output === undefined) return [called]
  const result: Block = { type: 'tool-result', name, ...toOutput(output) }
  const { at, source } = called
  return [
    called,
    { source, kind: 'message', role: 'tool', ...(at !== undefined && { at }), blocks: [result] },
  ]
}

const TYPED: ReadonlyMap<string, (line: JsonObject) => readonly LineEntry[] | undefined> = new Map([
  ['message', fromRoleLine],
  ['tool_use', fromToolUse],
  ['tool_result', fromToolResult],
  ['assistant', fromProviderMessage],
  ['user', fromProviderMessage],
])

function fromToolUse(line: JsonObject): readonly LineEntry[] | undefined {
  const [nameKey, name] = firstString(line, ['tool', 'tool_name', 'name'])
  if (name === undefined) return undefined
  const [idKey, callId] = firstString(line, CALL_IDS)
  const inputKey = ['input', 'tool_input', 'parameters'].find((key) => line[key] !== undefined) ?? 'input'
  const input = line[inputKey]
  const call: Block = {
    type: 'tool-call',
    ...(callId !== undefined && { callId }),
    name,
    ...(input !== undefined && { input }),
  }
  return [toMessage(line, 'assistant', [call], ['type', nameKey, idKey, inputKey])]
}

function fromToolResult(line: JsonObject): readonly LineEntry[] | undefined {
  const [nameKey, name] = firstString(line, ['tool', 'tool_name', 'name'])
  const [idKey, callId] = firstString(line, CALL_IDS)
  const output = line['output'] ?? line['tool_output'] ?? line['content']
  const error = asString(line['error']) ?? asString(asObject(line['error'])?.['message'])
  const failed =
    line['success'] === false || line['status'] === 'error' || asBoolean(line['is_error']) === true
  const result: ToolResultBlock = {
    type: 'tool-result',
    ...(callId !== undefined && { callId }),
    ...(name !== undefined && { name }),
    ...(output !== undefined && toOutput(output)),
    ...(error !== undefined && { error }),
    ...(failed && { isError: true }),
  }
  const used = [
    'type',
    nameKey,
    idKey,
    'output',
    'tool_output',
    'content',
    'error',
    'success',
    'status',
    'is_error',
  ]
  return [toMessage(line, 'tool', [result], used)]
}

const CALL_IDS = ['tool_use_id', 'tool_id', 'tool_call_id', 'id'] as const

/** Claude's stream-json: the API's message inside the line. */
function fromProviderMessage(line: JsonObject): readonly LineEntry[] | undefined {
  const message = asObject(line['message'])
  const content = message?.['content']
  if (message === undefined || (typeof content !== 'string' && !Array.isArray(content))) return undefined
  const model = asString(message['model'])
  const messageId = asString(message['id'])
  const stopReason = asString(message['stop_reason'])
  const parent = asString(line['parent_tool_use_id'])
  const role = line['type'] === 'assistant' ? 'assistant' : roleOf('user', content)
  const entry = toMessage(line, role, fromAnthropicContent(content), ['type', 'message'])
  return [
    {
      ...entry,
      ...(parent !== undefined && { source: `subagent:${parent}` }),
      ...(model !== undefined && { model }),
      ...(message['usage'] !== undefined && { usage: fromAnthropicUsage(message['usage']) }),
      ...(stopReason !== undefined && { stopReason }),
      ...(messageId !== undefined && { call: { provider: 'anthropic', messageId } }),
    },
  ]
}

/** An event: errors and plain output in words as well, and every one whole. */
function fromOther(line: JsonObject, type: string | undefined): LineEntry {
  const said =
    asString(line['message']) ?? asString(line['error']) ?? asString(asObject(line['error'])?.['message'])
  const words: Block[] = []
  if (type === 'text' && said !== undefined) words.push({ type: 'text', text: said })
  if (type === 'error' && said !== undefined) words.push({ type: 'error', message: said })
  const record = type ?? (line['phase'] === undefined ? undefined : 'phase')
  const event = toEvent({ ...(record !== undefined && { record }), swarm: { in: 'llm' } }, line, words)
  // The first line of both providers' streams names the model.
  const model = type === 'init' || type === 'system' ? asString(line['model']) : undefined
  return { ...event, ...(model !== undefined && { model }) }
}

function toEvent(metadata: JsonObject, raw: Json, words: readonly Block[] = []): LineEntry {
  const at = isObject(raw) ? timeOf(raw) : undefined
  return {
    source: PRIMARY,
    kind: 'event',
    ...(at !== undefined && { at }),
    blocks: [...words, { type: 'unknown', raw }],
    ...(Object.keys(metadata).length > 0 && { metadata }),
  }
}

function toMessage(
  line: JsonObject,
  role: Role,
  blocks: readonly Block[],
  used: readonly string[],
): LineEntry {
  const at = timeOf(line)
  const timeKeys = at === undefined ? [] : ['timestamp', ...(line['timestamp'] === undefined ? ['ts'] : [])]
  const fields = rest(line, new Set([...used, ...timeKeys]))
  return {
    source: PRIMARY,
    kind: 'message',
    role,
    ...(at !== undefined && { at }),
    blocks,
    ...(fields && { metadata: { swarm: { fields } } }),
  }
}

function timeOf(line: JsonObject): string | undefined {
  return parseInstant(asString(line['timestamp']) ?? asString(line['ts']))
}

/** A user line of nothing but results is the tools speaking. */
function roleOf(role: Role, content: Json): Role {
  if (role !== 'user' || !Array.isArray(content) || content.length === 0) return role
  return content.every((block) => isObject(block) && block['type'] === 'tool_result') ? 'tool' : role
}

function toOutput(output: Json): Pick<ToolResultBlock, 'output'> {
  if (typeof output === 'string') return { output }
  return { output: Array.isArray(output) ? fromAnthropicContent(output) : [{ type: 'unknown', raw: output }] }
}

function firstString(line: JsonObject, keys: readonly string[]): readonly [string, string | undefined] {
  const key = keys.find((key) => typeof line[key] === 'string') ?? keys[0] ?? ''
  return [key, asString(line[key])]
}
