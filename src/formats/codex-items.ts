/**
 * Items of a Codex rollout as blocks, and back. An item that is no message, no reasoning and no tool's is nobody's here: its
 * reader keeps it whole. `toItem(fromItem(x))` need not be x: what is missing is kept beside the entry (`kept-fields.ts`).
 */
import { contentText, type Block, type ToolCallBlock, type ToolResultBlock } from '../transcript/block.ts'
import type { Role } from '../transcript/entry.ts'
import { asArray, asObject, asString, isObject, parseJson, rest, toJson } from '../transcript/json.ts'
import type { Json, JsonObject } from '../transcript/json.ts'
import { fromOutput, toOutput } from './codex-outputs.ts'
import { fromPart, toPart } from './codex-parts.ts'

export type SaidItem = {
  readonly role: Role
  readonly blocks: readonly Block[]
  readonly durationMs?: number
  /** Exit code and time of a command, of old versions, which write them and its text into one string. */
  readonly command?: JsonObject
}

/** How an item was spelt where that is not how we would. */
export type Spelling = { readonly type?: string; readonly command?: JsonObject }

/** What an item says; undefined for what is not part of the conversation. */
export function fromItem(item: JsonObject): SaidItem | undefined {
  const type = itemType(item)
  if (type === 'message') return fromMessage(item)
  if (type === 'reasoning') return fromReasoning(item)
  if (type.endsWith('_call')) return fromCall(item, type)
  if (type.endsWith('_output')) return fromResult(item, type)
  return undefined
}

/** Old files leave out the type of messages. */
function itemType(item: JsonObject): string {
  return asString(item['type']) ?? ('role' in item && item['type'] === undefined ? 'message' : '')
}

/** The item of one entry's blocks, with the type that we would give it; `spelling` says what else there is to know. */
export function toItem(
  role: Role | undefined,
  blocks: readonly Block[],
  spelling: Spelling = {},
): JsonObject {
  const type = defaultType(blocks)
  const [first] = blocks
  if (first?.type === 'tool-call') return { type, ...toCall(first, spelling.type ?? type) }
  if (first?.type === 'tool-result') return { type, ...toResult(first, { type, ...spelling }) }
  if (type === 'reasoning') return toReasoning(blocks)
  return { type, role: toRole(role), content: blocks.map((block) => toPart(block, role)) }
}

export function defaultType([first]: readonly Block[]): string {
  if (first?.type === 'tool-call') return 'function_call'
  if (first?.type === 'tool-result') return 'function_call_output'
  return first?.type === 'thinking' ? 'reasoning' : 'message'
}

const ROLES: ReadonlyMap<string, Role> = new Map([
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['developer', 'system'],
  ['system', 'system'],
])

const toRole = (role: Role | undefined): string => (role === 'system' ? 'developer' : (role ?? 'user'))

function fromMessage({ role: stated, content }: JsonObject): SaidItem | undefined {
  const role = ROLES.get(asString(stated) ?? '')
  if (role === undefined) return undefined
  if (typeof content === 'string') return { role, blocks: [{ type: 'text', text: content }] }
  const parts = asArray(content)
  return parts && { role, blocks: parts.map((part) => fromPart(part)) }
}

/** Its full text where the model shows it, else its summary, a block for each part; what is encrypted stands with the first. */
function fromReasoning({ summary, content, encrypted_content: encrypted }: JsonObject): SaidItem | undefined {
  const full = textsOf(content)
  const texts = full?.length ? full : textsOf(summary)
  if (texts === undefined) return undefined
  const redacted = asString(encrypted)
  const blocks = (texts.length === 0 ? [''] : texts).map((text, index): Block => ({
    type: 'thinking',
    text,
    ...(index === 0 && redacted !== undefined && { redacted }),
  }))
  return { role: 'assistant', blocks }
}

/** Undefined for a list with something else than texts in it. */
function textsOf(parts: Json | undefined): string[] | undefined {
  if (parts === undefined || parts === null) return []
  const texts = asArray(parts)?.map((part) => asString(asObject(part)?.['text']))
  return texts?.every((text) => text !== undefined) ? texts : undefined
}

function toReasoning(blocks: readonly Block[]): JsonObject {
  const texts = blocks.flatMap((block) => (block.type === 'thinking' ? contentText(block.text) : []))
  const [first] = blocks
  const redacted = first?.type === 'thinking' ? first.redacted : undefined
  const summary = texts.length === 1 && texts[0] === '' ? [] : texts
  return {
    type: 'reasoning',
    summary: summary.map((text) => ({ type: 'summary_text', text })),
    ...(redacted !== undefined && { encrypted_content: redacted }),
  }
}

const CALL_FACTS: ReadonlySet<string> = new Set(['type', 'id', 'call_id', 'status'])

/** Calls that name no tool are named after their type: `web_search_call` calls `web_search`. */
function fromCall(item: JsonObject, type: string): SaidItem | undefined {
  const callId = asString(item['call_id'])
  const name = asString(item['name'])
  const isNamed = type === 'function_call' || type === 'custom_tool_call'
  if (isNamed && name === undefined) return undefined
  const input = isNamed ? inputOf(item, type) : (rest(item, CALL_FACTS) ?? {})
  const block: Block = {
    type: 'tool-call',
    ...(callId !== undefined && { callId }),
    name: isNamed ? (name as string) : type.slice(0, -'_call'.length),
    ...(input !== undefined && { input }),
  }
  return { role: 'assistant', blocks: [block] }
}

/** A function's arguments are JSON in a string; what is not JSON stays the model's own text. Custom tools take plain text. */
function inputOf(item: JsonObject, type: string): Json | undefined {
  if (type === 'custom_tool_call') return item['input']
  const stated = item['arguments']
  return typeof stated === 'string' ? (parseJson(stated) ?? stated) : stated
}

function toCall({ callId, name, input, inputBlob }: ToolCallBlock, type: string): JsonObject {
  const id = { ...(callId !== undefined && { call_id: callId }) }
  if (type === 'custom_tool_call') return { name, ...(input !== undefined && { input }), ...id }
  if (type !== 'function_call') return { ...asObject(input), ...id }
  const given = inputBlob === undefined ? (input ?? {}) : contentText(inputBlob)
  return { name, arguments: toJson(given), ...id }
}

function fromResult(item: JsonObject, type: string): SaidItem | undefined {
  const callId = asString(item['call_id'])
  const facts = { type: 'tool-result' as const, ...(callId !== undefined && { callId }) }
  if (item['output'] === undefined) {
    if (isPlain(type)) return undefined
    const raw = rest(item, CALL_FACTS) ?? {}
    return { role: 'tool', blocks: [{ ...facts, output: [{ type: 'unknown', raw }] }] }
  }
  const { durationMs, command, ...said } = fromOutput(item['output'])
  return {
    role: 'tool',
    blocks: [{ ...facts, ...said }],
    ...(durationMs !== undefined && { durationMs }),
    ...(command !== undefined && { command }),
  }
}

const isPlain = (type: string): boolean =>
  type === 'function_call_output' || type === 'custom_tool_call_output'

function toResult(block: ToolResultBlock, { type, command }: Spelling & { type: string }): JsonObject {
  const { callId, output } = block
  const id = { ...(callId !== undefined && { call_id: callId }) }
  const [only] = Array.isArray(output) ? output : []
  if (!isPlain(type) && only?.type === 'unknown' && isObject(only.raw)) return { ...only.raw, ...id }
  return { ...id, output: toOutput(block, command) }
}
