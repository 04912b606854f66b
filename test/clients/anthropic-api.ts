/** Anthropic's Messages API, as far as Claude Code needs it: text, thinking and tool calls, with usage in its first and last events. */
import {
  asArray,
  asObject,
  asString,
  isObject,
  type Json,
  type JsonObject,
} from '../../src/transcript/json.ts'
import { PLAY, type Conversation } from './play.ts'
import type { Answer, Api, Asked } from './provider.ts'

export const anthropic: Api = { name: 'anthropic', ends: '/v1/messages', conversation, answer }

function conversation(body: JsonObject): Conversation {
  const messages = (asArray(body['messages']) ?? []).filter((one) => isObject(one))
  const at = messages.findLastIndex((one) => one['role'] === 'user' && PLAY.test(textOf(one['content'])))
  const since = messages.slice(at + 1)
  return {
    prompt: at < 0 ? '' : textOf(messages[at]?.['content']),
    answers: since.filter((one) => one['role'] === 'assistant').length,
    lastResult: resultOf(messages.at(-1)?.['content']),
    model: asString(body['model']) ?? '',
    tools: (asArray(body['tools']) ?? []).flatMap((tool) => asString(asObject(tool)?.['name']) ?? []),
  }
}

/** The last play that a message's texts name, what tools returned left out: they may repeat a prompt. */
function textOf(content: Json | undefined): string {
  if (typeof content === 'string') return content
  const texts = (asArray(content) ?? []).flatMap((block) => asString(asObject(block)?.['text']) ?? [])
  return texts.findLast((text) => PLAY.test(text)) ?? ''
}

function resultOf(content: Json | undefined): string {
  const results = (asArray(content) ?? []).filter((block) => asObject(block)?.['type'] === 'tool_result')
  return JSON.stringify(results)
}

/** Every count differs from call to call and from the others, so that none can stand in for another unnoticed. */
function usageOf({ serial, step }: Asked): JsonObject {
  const [short, long] = [300 + 7 * serial, 40 + 3 * serial]
  return {
    input_tokens: step.input ?? 1000 + 11 * serial,
    cache_creation_input_tokens: short + long,
    cache_read_input_tokens: 5000 + 13 * serial,
    cache_creation: { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long },
    output_tokens: 80 + 17 * serial,
    ...(step.thinking !== undefined && { output_tokens_details: { thinking_tokens: 20 + serial } }),
    service_tier: 'standard',
  }
}

function answer(asked: Asked): Answer {
  const { serial, model, step, uses } = asked
  const id = `msg_clients_${serial}`
  const usage = usageOf(asked)
  const content: JsonObject[] = [
    ...(step.thinking === undefined
      ? []
      : [{ type: 'thinking', thinking: step.thinking, signature: `c2lnbmVk${serial}` }]),
    ...(step.say === undefined ? [] : [{ type: 'text', text: step.say }]),
    ...uses.map(({ use, input }, at) => ({
      type: 'tool_use',
      id: `toolu_clients_${serial}_${at}`,
      name: use.tool,
      input,
    })),
  ]
  const stop = uses.length > 0 ? 'tool_use' : 'end_turn'
  const envelope = { id, type: 'message', role: 'assistant', model, stop_sequence: null }
  const started = { ...usage, output_tokens: 2 }
  const events: JsonObject[] = [
    { type: 'message_start', message: { ...envelope, content: [], stop_reason: null, usage: started } },
    ...content.flatMap(blockEvents),
    {
      type: 'message_delta',
      delta: { stop_reason: stop, stop_sequence: null },
      usage: {
        output_tokens: usage['output_tokens'] ?? 0,
        ...(usage['output_tokens_details'] !== undefined && {
          output_tokens_details: usage['output_tokens_details'],
        }),
      },
    },
    { type: 'message_stop' },
  ]
  return {
    id,
    usage,
    toldAtCut: started,
    body: { ...envelope, content, stop_reason: stop, usage },
    events: events.map((data) => ({ name: asString(data['type']) ?? '', data })),
    beforeCut: 1 + (content[0] === undefined ? 0 : blockEvents(content[0], 0).length),
  }
}

function blockEvents(block: JsonObject, index: number): JsonObject[] {
  const start = (empty: JsonObject): JsonObject => ({
    type: 'content_block_start',
    index,
    content_block: { ...block, ...empty },
  })
  const delta = (type: string, field: string, value: Json): JsonObject => ({
    type: 'content_block_delta',
    index,
    delta: { type, [field]: value },
  })
  const stop = { type: 'content_block_stop', index }
  if (block['type'] === 'tool_use') {
    const text = JSON.stringify(block['input'])
    const half = Math.ceil(text.length / 2)
    const parts = [text.slice(0, half), text.slice(half)].map((part) =>
      delta('input_json_delta', 'partial_json', part),
    )
    return [start({ input: {} }), ...parts, stop]
  }
  if (block['type'] === 'thinking') {
    return [
      start({ thinking: '', signature: '' }),
      delta('thinking_delta', 'thinking', block['thinking'] ?? ''),
      delta('signature_delta', 'signature', block['signature'] ?? ''),
      stop,
    ]
  }
  return [start({ text: '' }), delta('text_delta', 'text', block['text'] ?? ''), stop]
}
