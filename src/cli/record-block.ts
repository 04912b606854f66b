/**
 * Blocks as a line of `hansard record` spells them. What is no block that we know is kept whole, as unknown; what a known one
 * says beyond its fields is given back, to be kept beside it.
 */
import type { Block } from '../transcript/block.ts'
import {
  asArray,
  asBoolean,
  asObject,
  asString,
  rest,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'

export type Blocks = {
  readonly blocks: readonly Block[]
  /** For each block what it says beyond its fields, or null; absent when none does. */
  readonly strange?: readonly Json[]
}

export function toBlocks(values: readonly Json[]): Blocks {
  const blocks = values.map(toBlock)
  const strange = values.map((value, at) => beyond(value, blocks[at] as Block) ?? null)
  return { blocks, ...(strange.some((fields) => fields !== null) && { strange }) }
}

/** What a tool returned: text, blocks, or any other JSON as it is. */
export function toOutput(value: Json | undefined): string | readonly Block[] | undefined {
  if (value === undefined || typeof value === 'string') return value
  return asArray(value)?.map(toBlock) ?? [{ type: 'unknown', raw: value }]
}

function toBlock(value: Json): Block {
  const block = asObject(value)
  const known = block && toKnown(block)
  return known ?? { type: 'unknown', raw: value }
}

function toKnown(block: JsonObject): Block | undefined {
  const text = asString(block['text'])
  const name = asString(block['name'])
  switch (asString(block['type']) ?? '') {
    case 'text':
      return text === undefined ? undefined : { type: 'text', text }
    case 'thinking':
      return { type: 'thinking', text: text ?? '', ...strings(block, 'signature', 'redacted') }
    case 'tool-call': {
      if (name === undefined) return undefined
      const { input } = block
      return { type: 'tool-call', ...strings(block, 'callId'), name, ...(input !== undefined && { input }) }
    }
    case 'tool-result': {
      const output = toOutput(block['output'])
      const isError = asBoolean(block['isError'])
      return {
        type: 'tool-result',
        ...strings(block, 'callId', 'name', 'error'),
        ...(output !== undefined && { output }),
        ...(isError !== undefined && { isError }),
      }
    }
    case 'image':
      return { type: 'image', ...strings(block, 'mediaType', 'data', 'url') }
    case 'error': {
      const message = asString(block['message'])
      return message === undefined ? undefined : { type: 'error', message, ...strings(block, 'code') }
    }
    default:
      return undefined
  }
}

/** Those of the fields that are text. */
export function strings<K extends string>(value: JsonObject, ...names: readonly K[]): { [N in K]?: string } {
  const found: { [N in K]?: string } = {}
  for (const name of names) {
    const text = asString(value[name])
    if (text !== undefined) found[name] = text
  }
  return found
}

function beyond(value: Json, block: Block): JsonObject | undefined {
  const given = asObject(value)
  return given === undefined || block.type === 'unknown'
    ? undefined
    : rest(given, new Set(Object.keys(block)))
}
