/** OpenAI's chat completions, whole and as the chunks of a stream. */
import { contentText } from '../transcript/block.ts'
import { toJson, type JsonObject } from '../transcript/json.ts'
import type { NamedAnswer, StreamEvent } from './regenerate.ts'

export function chatMessage(answer: NamedAnswer): JsonObject {
  const calls = callsOf(answer)
  return {
    ...headOf(answer),
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: textOf(answer),
          ...(calls.length > 0 && { tool_calls: calls }),
        },
        finish_reason: finishOf(answer),
      },
    ],
    usage: openAiUsage(answer, 'prompt_tokens', 'completion_tokens'),
  }
}

export function chatEvents(answer: NamedAnswer): readonly StreamEvent[] {
  const head = { ...headOf(answer), object: 'chat.completion.chunk' }
  const chunk = (delta: JsonObject, finish: string | null = null): StreamEvent => [
    undefined,
    { ...head, choices: [{ index: 0, delta, finish_reason: finish }] },
  ]
  const text = textOf(answer)
  return [
    chunk({ role: 'assistant', content: '' }),
    ...(text === null ? [] : [chunk({ content: text })]),
    ...callsOf(answer).map((call, index) => chunk({ tool_calls: [{ index, ...call }] })),
    chunk({}, finishOf(answer)),
    [undefined, { ...head, choices: [], usage: openAiUsage(answer, 'prompt_tokens', 'completion_tokens') }],
    [undefined, '[DONE]'],
  ]
}

function headOf({ messageId, model }: NamedAnswer): JsonObject {
  return { id: messageId ?? 'chatcmpl-regenerated', created: 0, model }
}

function textOf({ blocks }: NamedAnswer): string | null {
  const texts = blocks.flatMap((block) => (block.type === 'text' ? [contentText(block.text)] : []))
  return texts.length === 0 ? null : texts.join('')
}

function callsOf({ blocks }: NamedAnswer): readonly JsonObject[] {
  return blocks.flatMap((block, at) => {
    if (block.type !== 'tool-call') return []
    const args = typeof block.input === 'string' ? block.input : toJson(block.input ?? {})
    return [
      { id: block.callId ?? `call_${at}`, type: 'function', function: { name: block.name, arguments: args } },
    ]
  })
}

function finishOf({ blocks }: NamedAnswer): string {
  return blocks.some(({ type }) => type === 'tool-call') ? 'tool_calls' : 'stop'
}

/** Their input is with what was cached, and their output with what was thought. */
export function openAiUsage({ usage }: NamedAnswer, input: string, output: string): JsonObject {
  const { cacheRead = 0, cacheWrite5m = 0 } = usage ?? {}
  const [asked, said] = [(usage?.input ?? 0) + cacheRead + cacheWrite5m, usage?.output ?? 0]
  const details = input === 'prompt_tokens' ? 'prompt_tokens_details' : 'input_tokens_details'
  const more = output === 'completion_tokens' ? 'completion_tokens_details' : 'output_tokens_details'
  return {
    [input]: asked,
    [details]: { cached_tokens: cacheRead },
    [output]: said,
    [more]: { reasoning_tokens: usage?.reasoning ?? 0 },
    total_tokens: asked + said,
  }
}
