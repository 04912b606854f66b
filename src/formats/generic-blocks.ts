/** Parts of a message in anybody's words, as blocks: those of the providers' APIs and of the SDKs around them. */
import type { Block, ToolResultBlock } from '../transcript/block.ts'
import { asArray, asObject, asString, isObject, type Json, type JsonObject } from '../transcript/json.ts'
import { splitAnthropicBlock } from '../wire/anthropic-blocks.ts'
import { splitPart as splitGeminiPart } from '../wire/gemini-parts.ts'
import { splitPart, toArguments } from '../wire/openai-parts.ts'

export function genericBlocks(content: Json | undefined): readonly Block[] {
  if (content === undefined || content === null || content === '') return []
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  const list = asArray(content) ?? asArray(asObject(content)?.['parts'])
  return list === undefined ? [toBlock(content)] : list.map(toBlock)
}

/** Each vocabulary in turn: the first that knows the part has it. */
function toBlock(part: Json): Block {
  if (!isObject(part)) return splitPart(part).block
  for (const split of [
    fromSdk(part),
    splitPart(part).block,
    splitAnthropicBlock(part).block,
    splitGeminiPart(part).block,
  ])
    if (split !== undefined && split.type !== 'unknown') return split
  return { type: 'unknown', raw: part }
}

/** Vercel's model messages, and others who name things as it does. */
function fromSdk(part: JsonObject): Block | undefined {
  const { type, text, toolCallId, toolName, args, input } = part
  if (type === 'reasoning' && typeof text === 'string') return { type: 'thinking', text }
  if (typeof toolName !== 'string' || typeof toolCallId !== 'string') return undefined
  const named = { callId: toolCallId, name: toolName }
  if (type === 'tool-call') return { type: 'tool-call', ...named, input: input ?? args ?? {} }
  return type === 'tool-result'
    ? { type: 'tool-result', ...named, ...toOutput(part['output'] ?? part['result']) }
    : undefined
}

/** `{type: 'text' | 'json' | 'error-text' | …, value}`, or the value alone. */
function toOutput(output: Json | undefined): Partial<ToolResultBlock> {
  const { type, value } = asObject(output) ?? {}
  const said = value === undefined ? output : value
  const isError = typeof type === 'string' && type.startsWith('error')
  if (said === undefined || said === null) return isError ? { isError } : {}
  return {
    output: typeof said === 'string' ? said : [{ type: 'unknown', raw: said }],
    ...(isError && { isError }),
  }
}

/** OpenAI's call, or one without its envelope. */
export function toCall(raw: Json): Block {
  const called = asObject(asObject(raw)?.['function']) ?? asObject(raw)
  const name = asString(called?.['name']) ?? asString(called?.['toolName'])
  if (called === undefined || name === undefined) return { type: 'unknown', raw }
  const callId = asString(asObject(raw)?.['id']) ?? asString(called['toolCallId'])
  const stated = called['arguments'] ?? called['args'] ?? called['input']
  const input = typeof stated === 'string' ? toArguments(stated) : stated
  return {
    type: 'tool-call',
    ...(callId !== undefined && { callId }),
    name,
    ...(input !== undefined && { input }),
  }
}
