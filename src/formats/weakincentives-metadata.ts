/** What an entry says beyond the fields of a `TranscriptEntry`, as keys of its `metadata`, in and out. */
import type { Block } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import { asNumber, asObject, asString, type Json, type JsonObject } from '../transcript/json.ts'
import type { Usage } from '../transcript/usage.ts'
import { fromAnthropicBlock, toAnthropicBlock } from '../wire/anthropic-blocks.ts'
import { fromAnthropicUsage } from '../wire/anthropic-usage.ts'

/** Keys of `metadata` that fields of an entry come from. */
export const SAID: ReadonlySet<string> = new Set([
  'model',
  'usage',
  'usage_quality',
  'stop_reason',
  'duration_ms',
  'call',
  'parent',
  'kind',
  'roleless',
  'blocks',
  'raw_input',
  'success',
  'error',
  'output',
])

/** Blocks as Anthropic writes them, and errors, for which it has no block. */
export function toRaw(block: Block): Json {
  if (block.type !== 'error') return toAnthropicBlock(block)
  return { type: 'error', message: block.message, ...(block.code !== undefined && { code: block.code }) }
}

export function fromRaw(raw: Json): Block {
  const object = asObject(raw)
  const message = object?.['type'] === 'error' ? asString(object['message']) : undefined
  if (message === undefined) return fromAnthropicBlock(raw)
  const code = asString(object?.['code'])
  return { type: 'error', message, ...(code !== undefined && { code }) }
}

export function usageIn(metadata: JsonObject): Usage | undefined {
  const raw = asObject(metadata['usage'])
  if (raw === undefined) return undefined
  const quality = QUALITIES.find((known) => known === metadata['usage_quality'])
  // weakincentives' own adapters count what they read from a cache as a part of the input.
  const cached = asNumber(raw['cached_tokens'])
  const input = asNumber(raw['input_tokens'])
  const isInclusive = cached !== undefined && input !== undefined && cached <= input
  const counts = isInclusive ? { ...raw, input_tokens: input - cached, cache_read_input_tokens: cached } : raw
  const usage = fromAnthropicUsage(counts)
  return { ...usage, raw, ...(quality !== undefined && { quality }) }
}

const QUALITIES = ['reported', 'partial', 'estimated', 'unavailable'] as const

export function callIn(value: Json | undefined): Entry['call'] {
  const call = asObject(value)
  if (call === undefined) return undefined
  const provider = asString(call['provider'])
  const requestId = asString(call['request_id'])
  const messageId = asString(call['message_id'])
  return {
    ...(provider !== undefined && { provider }),
    ...(requestId !== undefined && { requestId }),
    ...(messageId !== undefined && { messageId }),
  }
}

export function toCallMetadata({ provider, requestId, messageId }: NonNullable<Entry['call']>): JsonObject {
  return {
    ...(provider !== undefined && { provider }),
    ...(requestId !== undefined && { request_id: requestId }),
    ...(messageId !== undefined && { message_id: messageId }),
  }
}
