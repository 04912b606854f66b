/** OpenAI's Responses API, as far as Codex needs it: messages, reasoning and function calls, with usage in the last event. */
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

export const responses: Api = { name: 'openai-responses', ends: '/v1/responses', conversation, answer }

function conversation(body: JsonObject): Conversation {
  const items = (asArray(body['input']) ?? []).filter((one) => isObject(one))
  const at = items.findLastIndex((item) => item['role'] === 'user' && PLAY.test(textOf(item['content'])))
  const since = items.slice(at + 1)
  const last = items.findLast((item) => asString(item['type'])?.endsWith('_output'))
  return {
    prompt: at < 0 ? '' : textOf(items[at]?.['content']),
    // An answer is several items: those that follow each other are one.
    answers: since.filter((item, index) => isAnswer(item) && !isAnswer(since[index - 1])).length,
    lastResult: JSON.stringify(last?.['output'] ?? ''),
    model: asString(body['model']) ?? '',
    tools: (asArray(body['tools']) ?? []).flatMap(namesOf),
  }
}

function isAnswer(item: JsonObject | undefined): boolean {
  const type = asString(item?.['type']) ?? ''
  return item?.['role'] === 'assistant' || type === 'reasoning' || type.endsWith('_call')
}

function textOf(content: Json | undefined): string {
  const texts = (asArray(content) ?? []).flatMap((part) => asString(asObject(part)?.['text']) ?? [])
  return texts.findLast((text) => PLAY.test(text)) ?? ''
}

/** A namespace holds tools of its own. */
function namesOf(tool: Json): readonly string[] {
  const inner = asArray(asObject(tool)?.['tools'])
  return inner === undefined ? [asString(asObject(tool)?.['name']) ?? ''] : inner.flatMap(namesOf)
}

/** Here `input` includes what was cached and `output` what was reasoned. */
function usageOf({ serial, step }: Asked): JsonObject {
  const input = step.input ?? 6000 + 11 * serial
  const output = 300 + 17 * serial
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 2000 + 13 * serial, cache_write_tokens: 100 + 3 * serial },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 50 + 5 * serial },
    total_tokens: input + output,
  }
}

function answer(asked: Asked): Answer {
  const { serial, model, step, uses } = asked
  const id = `resp_clients_${serial}`
  const usage = usageOf(asked)
  const output: JsonObject[] = [
    ...(step.thinking === undefined
      ? []
      : [
          {
            type: 'reasoning',
            id: `rs_clients_${serial}`,
            summary: [{ type: 'summary_text', text: step.thinking }],
            encrypted_content: `c2VhbGVk${serial}`,
          },
        ]),
    ...(step.say === undefined
      ? []
      : [
          {
            type: 'message',
            id: `msg_clients_${serial}`,
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text: step.say, annotations: [] }],
          },
        ]),
    ...uses.map(({ use, input }, at) => ({
      type: 'function_call',
      id: `fc_clients_${serial}_${at}`,
      call_id: `call_clients_${serial}_${at}`,
      name: use.tool,
      ...(use.namespace !== undefined && { namespace: use.namespace }),
      arguments: JSON.stringify(input),
      status: 'completed',
    })),
  ]
  const body: JsonObject = {
    id,
    object: 'response',
    created_at: 1_760_000_000 + serial,
    status: 'completed',
    model,
    output,
    usage,
    error: null,
  }
  const items = output.map((item, at) => itemEvents(item, at))
  const data: JsonObject[] = [
    { type: 'response.created', response: { ...body, status: 'in_progress', output: [], usage: null } },
    ...items.flat(),
    { type: 'response.completed', response: body },
  ]
  return {
    id,
    usage,
    // Nothing is said of a usage before the end.
    toldAtCut: undefined,
    body,
    events: data.map((one, at) => ({
      name: asString(one['type']) ?? '',
      data: { ...one, sequence_number: at },
    })),
    beforeCut: 1 + (items[0]?.length ?? 0),
  }
}

function itemEvents(item: JsonObject, at: number): JsonObject[] {
  const added = { type: 'response.output_item.added', output_index: at, item: { ...item, ...emptied(item) } }
  const done = { type: 'response.output_item.done', output_index: at, item }
  const text = asString(asObject(asArray(item['content'])?.[0])?.['text'])
  if (text === undefined) return [added, done]
  const where = { item_id: item['id'] ?? '', output_index: at, content_index: 0 }
  return [added, { type: 'response.output_text.delta', ...where, delta: text }, done]
}

function emptied(item: JsonObject): JsonObject {
  if (item['type'] === 'message') return { status: 'in_progress', content: [] }
  return item['type'] === 'function_call' ? { status: 'in_progress', arguments: '' } : { summary: [] }
}
