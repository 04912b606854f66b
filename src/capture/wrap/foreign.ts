/** What frameworks hand us, as JSON and blocks of ours. Takes anything, and never throws. */
import type { Block, ToolResultBlock } from '../../transcript/block.ts'
import { parseJson, toJson, type Json, type JsonObject } from '../../transcript/json.ts'

/** What JSON can say of it: objects of classes are what they say they are, functions are nothing. */
export function toPlain(value: unknown): Json {
  if (value === undefined || value === null) return null
  if (typeof value === 'string' || typeof value === 'boolean') return value
  try {
    return parseJson(toJson(value)) ?? null
  } catch {
    return null
  }
}

/** The fields that have a value, as JSON. */
export function toPlainFields(fields: Readonly<Record<string, unknown>>): JsonObject {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== undefined && value !== null && typeof value !== 'function')
      .map(([name, value]) => [name, toPlain(value)]),
  )
}

/** The arguments of a call: a value, or the JSON of one. */
export function toInput(input: unknown): Json {
  return typeof input === 'string' ? (parseJson(input) ?? input) : toPlain(input)
}

/** What a tool gave, as text. */
export function toOutput(value: unknown): string {
  return typeof value === 'string' ? value : toJson(toPlain(value))
}

export function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && name in value
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined
}

export function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** A file in a message: an image is one, of all else we keep what is said of it. */
export function toFileBlock(mediaType: unknown, data: unknown): Block {
  const type = text(mediaType)
  if (type !== undefined && !type.startsWith('image/'))
    return { type: 'unknown', raw: { file: type, ...(typeof data === 'string' && { data }) } }
  const url = data instanceof URL ? data.href : typeof data === 'string' && isUrl(data) ? data : undefined
  const bytes = data instanceof Uint8Array ? Buffer.from(data).toString('base64') : text(data)
  return {
    type: 'image',
    ...(type !== undefined && { mediaType: type }),
    ...(url !== undefined ? { url } : bytes !== undefined && { data: bytes }),
  }
}

const isUrl = (data: string): boolean => /^(https?|gs|data):/i.test(data)

export function toolResult(
  callId: unknown,
  name: unknown,
  output: string | readonly Block[] | undefined,
  isError = false,
): ToolResultBlock {
  const id = text(callId)
  const tool = text(name)
  return {
    type: 'tool-result',
    ...(id !== undefined && { callId: id }),
    ...(tool !== undefined && { name: tool }),
    ...(output !== undefined && { output }),
    ...(isError && { isError }),
  }
}
