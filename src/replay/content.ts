/** A block's content as plain text, not yet escaped. Nothing is left out: what has no text is named. */
import {
  contentText,
  isBlobRef,
  type Block,
  type ToolCallBlock,
  type ToolResultBlock,
} from '../transcript/block.ts'
import { toJson } from '../transcript/json.ts'

/** As weakincentives has it: a call is its arguments, a result is its output. */
export function toText(block: Block): string {
  switch (block.type) {
    case 'text':
      return contentText(block.text)
    case 'thinking':
      return `[thinking] ${contentText(block.text) || 'not shown by the provider'}`
    case 'tool-call':
      return `Calling tool: ${block.name}\n${inputText(block)}`
    case 'tool-result':
      return resultText(block)
    case 'image':
      return `[image ${[block.mediaType, block.url ?? imageSize(block.data)].filter(Boolean).join(', ')}]`
    case 'error':
      return `Error: ${block.message}${block.code === undefined ? '' : ` (${block.code})`}`
    case 'unknown':
      return block.reason === undefined ? toJson(block.raw) : `[${block.reason}] ${toJson(block.raw)}`
  }
}

/** The arguments as JSON; text that was no JSON as it is. */
export function inputText(call: ToolCallBlock, indent?: number): string {
  if (call.inputBlob !== undefined) return contentText(call.inputBlob)
  if (typeof call.input === 'string') return call.input
  return call.input === undefined ? '' : toJson(call.input, indent)
}

/** What the tool returned, without its error. */
export function outputText({ output }: ToolResultBlock): string {
  if (output === undefined) return ''
  if (typeof output === 'string' || isBlobRef(output)) return contentText(output)
  return output.map(toText).join('\n')
}

/** The error's own words, or that it failed; undefined when it did not. */
export function errorText({ error, isError }: ToolResultBlock): string | undefined {
  return error ?? (isError === true ? 'failed' : undefined)
}

function resultText(result: ToolResultBlock): string {
  const failed = errorText(result)
  const output = outputText(result)
  if (failed === undefined) return output
  return output === '' ? `Error: ${failed}` : `${output}\nError: ${failed}`
}

function imageSize(data: Extract<Block, { type: 'image' }>['data']): string | undefined {
  if (data === undefined) return undefined
  return `${isBlobRef(data) ? data.bytes : Math.floor((data.length * 3) / 4)} bytes`
}
