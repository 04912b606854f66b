/** Anthropic's messages, whole and as the events of a stream. */
import { asObject, asString, toJson, type Json, type JsonObject } from '../transcript/json.ts'
import { toAnthropicBlock } from '../wire/anthropic-blocks.ts'
import type { NamedAnswer, StreamEvent } from './regenerate.ts'

export function anthropicMessage(answer: NamedAnswer): JsonObject {
  return {
    ...headOf(answer),
    content: answer.blocks.map((block) => toAnthropicBlock(block)),
    stop_reason: stopOf(answer),
    usage: usageOf(answer),
  }
}

export function anthropicEvents(answer: NamedAnswer): readonly StreamEvent[] {
  const usage = usageOf(answer)
  const events: StreamEvent[] = [
    [
      'message_start',
      { type: 'message_start', message: { ...headOf(answer), usage: { ...usage, output_tokens: 0 } } },
    ],
  ]
  for (const [index, block] of answer.blocks.entries()) {
    const raw = asObject(toAnthropicBlock(block)) ?? {}
    const { begun, deltas } = cut(raw)
    events.push(['content_block_start', { type: 'content_block_start', index, content_block: begun }])
    for (const delta of deltas)
      events.push(['content_block_delta', { type: 'content_block_delta', index, delta }])
    events.push(['content_block_stop', { type: 'content_block_stop', index }])
  }
  const delta = { stop_reason: stopOf(answer), stop_sequence: null }
  events.push([
    'message_delta',
    { type: 'message_delta', delta, usage: { output_tokens: usage['output_tokens'] ?? 0 } },
  ])
  events.push(['message_stop', { type: 'message_stop' }])
  return events
}

function headOf({ messageId, model }: NamedAnswer): JsonObject {
  return {
    id: messageId ?? 'msg_regenerated',
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
  }
}

/** A block as it begins, and what is then added to it. */
function cut(raw: JsonObject): { readonly begun: JsonObject; readonly deltas: readonly JsonObject[] } {
  switch (asString(raw['type']) ?? '') {
    case 'text':
      return { begun: { ...raw, text: '' }, deltas: [{ type: 'text_delta', text: raw['text'] ?? '' }] }
    case 'thinking': {
      const signature = asString(raw['signature'])
      return {
        begun: { ...raw, thinking: '', signature: '' },
        deltas: [
          { type: 'thinking_delta', thinking: raw['thinking'] ?? '' },
          ...(signature === undefined ? [] : [{ type: 'signature_delta', signature }]),
        ],
      }
    }
    case 'tool_use': {
      const input = raw['input'] ?? {}
      const partial = typeof input === 'string' ? input : toJson(input)
      return { begun: { ...raw, input: {} }, deltas: [{ type: 'input_json_delta', partial_json: partial }] }
    }
    default:
      return { begun: raw, deltas: [] }
  }
}

const REASONS: ReadonlySet<string> = new Set([
  'end_turn',
  'max_tokens',
  'stop_sequence',
  'tool_use',
  'pause_turn',
  'refusal',
])

function stopOf({ stopReason, blocks }: NamedAnswer): string {
  if (stopReason !== undefined && REASONS.has(stopReason)) return stopReason
  return blocks.some(({ type }) => type === 'tool-call') ? 'tool_use' : 'end_turn'
}

/** As the provider said it where that is known; its clients add up what they are given. */
function usageOf({ usage }: NamedAnswer): { readonly [name: string]: Json } {
  return {
    input_tokens: usage?.input ?? 0,
    ...(usage?.cacheRead !== undefined && { cache_read_input_tokens: usage.cacheRead }),
    ...(usage?.cacheWrite5m !== undefined && {
      cache_creation_input_tokens: usage.cacheWrite5m + (usage.cacheWrite1h ?? 0),
    }),
    output_tokens: usage?.output ?? 0,
  }
}
