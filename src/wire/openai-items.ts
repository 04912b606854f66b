/** Items of the Responses API as blocks: the same for a request's `input` and for a response's `output`. */
import type { Block, ToolResultBlock } from '../transcript/block.ts'
import type { Json, JsonObject } from '../transcript/json.ts'
import { asArray, asObject, asString, isObject, rest } from '../transcript/json.ts'
import { saidFields } from './message.ts'
import { splitContent, splitPart, toArguments, withExtras } from './openai-parts.ts'
import type { SplitBlock } from './split.ts'

/**
 * The blocks of one item. What the item says beyond them (its id, status, phase, type) is under `extras.item` of its first
 * block. An item that stands for a tool the client runs is a call or a result, whatever the tool; those the provider ran
 * itself (`web_search_call`, `mcp_call`, …) are unknown blocks, verbatim.
 */
export function splitItem(raw: Json): SplitBlock[] {
  const unknown: SplitBlock[] = [{ block: { type: 'unknown', raw } }]
  if (!isObject(raw)) return unknown
  const type = asString(raw['type']) ?? (raw['role'] === undefined ? '' : 'message')
  if (type === 'message') return splitMessage(raw)
  if (type === 'reasoning') return [splitReasoning(raw)]
  if (type.endsWith('_output')) return splitOutput(raw) ?? unknown
  if (type.endsWith('_call')) return splitCall(raw, type) ?? unknown
  return unknown
}

const MESSAGE_FIELDS: ReadonlySet<string> = new Set(['type', 'role', 'content'])
const REASONING_FIELDS: ReadonlySet<string> = new Set(['type', 'summary', 'content', 'encrypted_content'])
const CALL_FIELDS: ReadonlySet<string> = new Set(['type', 'call_id', 'name', 'arguments', 'input'])
const OWN_CALL_FIELDS: ReadonlySet<string> = new Set(['id', 'type', 'call_id', 'status'])
const OUTPUT_FIELDS: ReadonlySet<string> = new Set(['call_id', 'output'])

function splitMessage(raw: JsonObject): SplitBlock[] {
  const [first, ...others] = splitContent(raw['content'])
  return first === undefined ? [] : [withItem(first, rest(raw, MESSAGE_FIELDS)), ...others]
}

/** Its full text where the model shows it, else the summary; the encrypted form is kept verbatim. */
function splitReasoning(raw: JsonObject): SplitBlock {
  const content = textsOf(raw['content'])
  const summary = textsOf(raw['summary'])
  const redacted = asString(raw['encrypted_content'])
  const block: Block = {
    type: 'thinking',
    text: (content.length > 0 ? content : summary).join('\n\n'),
    ...(redacted !== undefined && { redacted }),
  }
  const both = content.length > 0 && summary.length > 0 ? { summary: raw['summary'] ?? [] } : undefined
  return withItem({ block }, saidFields(rest(raw, REASONING_FIELDS), both))
}

function textsOf(parts: Json | undefined): string[] {
  return (asArray(parts) ?? [])
    .map((part) => asString(asObject(part)?.['text']) ?? '')
    .filter((text) => text !== '')
}

/** `function_call` and `custom_tool_call` name their tool; `local_shell_call` and its like are named after their type. */
function splitCall(raw: JsonObject, type: string): SplitBlock[] | undefined {
  const callId = asString(raw['call_id'])
  const stated = asString(raw['name'])
  if (callId === undefined || (stated === undefined && type === 'function_call')) return undefined
  const input = stated === undefined ? (rest(raw, OWN_CALL_FIELDS) ?? {}) : toInput(raw)
  const block: Block = {
    type: 'tool-call',
    callId,
    name: stated ?? type.slice(0, -'_call'.length),
    ...(input !== undefined && { input }),
  }
  if (stated !== undefined) {
    const named = type === 'function_call' ? undefined : { type }
    return [withItem({ block }, saidFields(named, rest(raw, CALL_FIELDS)))]
  }
  const { id, status } = raw
  return [withItem({ block }, saidFields({ type, id: id ?? null, status: status ?? null }))]
}

function toInput(raw: JsonObject): Json | undefined {
  const stated = raw['arguments']
  return typeof stated === 'string' ? toArguments(stated) : (stated ?? raw['input'])
}

function splitOutput(raw: JsonObject): SplitBlock[] | undefined {
  const callId = asString(raw['call_id'])
  const output = raw['output']
  if (callId === undefined || output === undefined) return undefined
  const block: ToolResultBlock = { type: 'tool-result', callId, output: toOutput(output) }
  const others = rest(raw, OUTPUT_FIELDS)
  const isPlain = others?.['type'] === 'function_call_output'
  return [withItem({ block }, isPlain ? rest(raw, new Set([...OUTPUT_FIELDS, 'type'])) : others)]
}

function toOutput(output: Json): string | Block[] {
  if (typeof output === 'string') return output
  return (asArray(output) ?? [output]).map((part) => splitPart(part).block)
}

function withItem({ block, extras }: SplitBlock, item: JsonObject | undefined): SplitBlock {
  const said = saidFields(item)
  return withExtras(block, extras, said && { item: said })
}
