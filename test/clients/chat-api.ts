/** OpenAI's Chat Completions, as far as SDKs need them: text and tool calls, with usage in a last chunk of its own. */
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

export const chat: Api = { name: 'openai-chat', ends: '/chat/completions', conversation, answer }

function conversation(body: JsonObject): Conversation {
  const messages = (asArray(body['messages']) ?? []).filter((one) => isObject(one))
  const at = messages.findLastIndex((one) => one['role'] === 'user' && PLAY.test(textOf(one['content'])))
  const since = messages.slice(at + 1)
  return {
    prompt: at < 0 ? '' : textOf(messages[at]?.['content']),
    answers: since.filter((one) => one['role'] === 'assistant').length,
    lastResult: textOf(messages.at(-1)?.['content']),
    model: asString(body['model']) ?? '',
    tools: (asArray(body['tools']) ?? []).flatMap(
      (tool) => asString(asObject(asObject(tool)?.['function'])?.['name']) ?? [],
    ),
  }
}

function textOf(content: Json | undefined): string {
  if (typeof content === 'string') return content
  return (asArray(content) ?? []).flatMap((part) => asString(asObject(part)?.['text']) ?? []).join('\n')
}

function answer({ serial, model, step, uses }: Asked): Answer {
  const id = `chatcmpl-clients-${serial}`
  const [prompt, completion] = [2000 + 11 * serial, 90 + 17 * serial]
  const usage = {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: 500 + 13 * serial },
    completion_tokens_details: { reasoning_tokens: 10 + serial },
  }
  const calls = uses.map(({ use, input }, index) => ({
    index,
    id: `call_clients_${serial}_${index}`,
    type: 'function',
    function: { name: use.tool, arguments: JSON.stringify(input) },
  }))
  const finish = uses.length > 0 ? 'tool_calls' : 'stop'
  const envelope = { id, created: 1_763_164_800 + serial, model }
  const chunk = (delta: JsonObject, finishReason: string | null = null): JsonObject => ({
    ...envelope,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  })
  const said = step.say ?? ''
  const half = Math.ceil(said.length / 2)
  const events: JsonObject[] = [
    chunk({ role: 'assistant', content: said.slice(0, half) }),
    chunk({ content: said.slice(half) }),
    ...calls.flatMap(({ index, function: made, ...call }) => [
      chunk({ tool_calls: [{ index, ...call, function: { name: made.name, arguments: '' } }] }),
      chunk({ tool_calls: [{ index, function: { arguments: made.arguments.slice(0, 3) } }] }),
      chunk({ tool_calls: [{ index, function: { arguments: made.arguments.slice(3) } }] }),
    ]),
    chunk({}, finish),
    { ...envelope, object: 'chat.completion.chunk', choices: [], usage },
  ]
  const message = {
    role: 'assistant',
    content: said === '' ? null : said,
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ id: callId, type, function: made }) => ({ id: callId, type, function: made })),
    }),
  }
  return {
    id,
    usage,
    toldAtCut: undefined,
    body: {
      ...envelope,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: finish }],
      usage,
    },
    // Events of this API have no names.
    events: events.map((data) => ({ name: '', data })),
    beforeCut: 1,
  }
}
