/**
 * What a tool of Codex returned: text, parts, or, in old versions, a JSON string of text with exit code and time. How a command
 * ended stands in the text's first lines in new versions. An exit code that is not 0 is an error.
 */
import { contentText, isBlobRef, type Block, type ToolResultBlock } from '../transcript/block.ts'
import {
  asArray,
  asNumber,
  asString,
  isObject,
  parseJson,
  toJson,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import { fromPart, toPart } from './codex-parts.ts'

export type SaidOutput = {
  readonly output?: string | readonly Block[]
  readonly isError?: boolean
  readonly durationMs?: number
  /** Exit code and time as old versions wrote them into the text. */
  readonly command?: JsonObject
}

export function fromOutput(output: Json): SaidOutput {
  if (typeof output === 'string') return fromText(output)
  const parts = asArray(output)
  if (parts !== undefined) return { output: parts.map((part) => fromPart(part)) }
  if (!isObject(output)) return {}
  const text = asString(output['content']) ?? asString(output['text'])
  if (text === undefined) return { output: [{ type: 'unknown', raw: output }] }
  return { output: text, ...(output['success'] === false && { isError: true }) }
}

/** How a result goes back. One that failed is told as old versions told it: new ones say it in the text alone. */
export function toOutput({ output, error, isError }: ToolResultBlock, command?: JsonObject): Json {
  if (Array.isArray(output)) return (output as readonly Block[]).map((part) => toPart(part))
  const text = output === undefined ? (error ?? '') : plainText(output)
  if (command !== undefined) return toJson({ output: text, metadata: command })
  if (isError !== true || exitOf(text)?.isError === true) return text
  return toJson({ output: text, metadata: { exit_code: 1 } })
}

const plainText = (output: NonNullable<ToolResultBlock['output']>): string =>
  typeof output === 'string' || isBlobRef(output) ? contentText(output) : toJson(output)

function fromText(text: string): SaidOutput {
  const old = text.startsWith('{"output":') ? parseJson(text) : undefined
  if (isObject(old) && typeof old['output'] === 'string' && isObject(old['metadata'])) {
    const command = old['metadata']
    const { exit_code: exit, duration_seconds: seconds } = command
    const duration = asNumber(seconds)
    return {
      output: old['output'],
      command,
      ...(typeof exit === 'number' && exit !== 0 && { isError: true }),
      ...(duration !== undefined && duration >= 0 && { durationMs: Math.round(duration * 1000) }),
    }
  }
  return { output: text, ...exitOf(text) }
}

/** Where the header of a command's output ends: it is five short lines. */
const HEADER_CHARACTERS = 300

function exitOf(text: string): Omit<SaidOutput, 'output'> | undefined {
  const header = text.slice(0, HEADER_CHARACTERS)
  if (!header.startsWith('Chunk ID:') && !header.startsWith('Exit code:') && !header.startsWith('Wall time:'))
    return undefined
  const end = header.indexOf('\nOutput:')
  const lines = (end === -1 ? header : header.slice(0, end)).split('\n')
  let said: { isError?: boolean; durationMs?: number } = {}
  for (const line of lines) {
    const exit = /^(?:Exit code:|Process exited with code) (-?\d+)$/.exec(line)?.[1]
    if (exit !== undefined && exit !== '0') said = { ...said, isError: true }
    const seconds = /^Wall time: (\d+(?:\.\d+)?) seconds$/.exec(line)?.[1]
    if (seconds !== undefined) said = { ...said, durationMs: Math.round(Number(seconds) * 1000) }
  }
  return said
}
