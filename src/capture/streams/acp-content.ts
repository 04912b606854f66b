/** What the Agent Client Protocol calls content, as our blocks: prompts, messages, what tools gave. What is none of ours is kept as it is. */
import type { Block } from '../../transcript/block.ts'
import type { Json, JsonObject } from '../../transcript/json.ts'
import { asArray, asObject, asString, toJson } from '../../transcript/json.ts'
import type { ToolResult } from '../recorder.ts'

export const isOver = ({ status }: JsonObject): boolean => status === 'completed' || status === 'failed'

export function toResult(update: JsonObject): ToolResult {
  const callId = asString(update['toolCallId'])
  const content = (asArray(update['content']) ?? []).map(toOutput)
  const raw = update['rawOutput']
  const output = content.length > 0 ? content : raw === undefined ? undefined : [textBlock(raw)]
  return {
    ...(callId !== undefined && { callId }),
    ...(output !== undefined && { output }),
    ...(update['status'] === 'failed' && { isError: true }),
    ...(content.length > 0 && raw !== undefined && { metadata: { rawOutput: raw } }),
  }
}

const textBlock = (raw: Json): Block => ({ type: 'text', text: typeof raw === 'string' ? raw : toJson(raw) })

/** A tool's output is content, or a change of a file, or a terminal. */
function toOutput(raw: Json): Block {
  const inner = asObject(raw)?.['type'] === 'content' ? asObject(raw)?.['content'] : undefined
  return toBlock(inner ?? raw)
}

export function toBlock(raw: Json): Block {
  const value = asObject(raw)
  const text = textOf(value)
  if (text !== undefined) return { type: 'text', text }
  const data = asString(value?.['data'])
  const mediaType = asString(value?.['mimeType'])
  if (value?.['type'] === 'image' && data !== undefined)
    return { type: 'image', data, ...(mediaType !== undefined && { mediaType }) }
  return { type: 'unknown', raw }
}

export function textOf(value: JsonObject | undefined): string | undefined {
  return value?.['type'] === 'text' ? asString(value['text']) : undefined
}
