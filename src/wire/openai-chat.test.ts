import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bestOf, expectSameHoweverCut, reassemble, toSse } from '../../test/wire-streams.ts'
import type { Json, JsonObject } from '../transcript/json.ts'
import { parseJson } from '../transcript/json.ts'
import type { WireMessage } from './message.ts'
import { createOpenAiChatReassembly, parseOpenAiChatCompletion } from './openai-chat.ts'

const chunk = (choices: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1763164800,
  model: 'gpt-5-2025-08-07',
  choices,
  ...more,
})
const says = (delta: JsonObject, index = 0, finish: string | null = null): JsonObject =>
  chunk([{ index, delta, finish_reason: finish, logprobs: null }], { usage: null, obfuscation: 'aX9' })
const calls = (...fragments: JsonObject[]): JsonObject => says({ tool_calls: fragments })
const USAGE: JsonObject = {
  prompt_tokens: 100,
  completion_tokens: 30,
  total_tokens: 130,
  prompt_tokens_details: { cached_tokens: 60 },
  completion_tokens_details: { reasoning_tokens: 10 },
}
const reports = (usage: JsonObject): JsonObject => chunk([], { usage, service_tier: 'priority' })

const read = (...events: Json[]): WireMessage => reassemble(createOpenAiChatReassembly, toSse(events))

const TURN: Json[] = [
  says({ role: 'assistant', content: '' }),
  says({ content: 'Let me ' }),
  says({ content: 'lóok.' }),
  calls({ index: 0, id: 'call_a', type: 'function', function: { name: 'shell', arguments: '' } }),
  calls({ index: 1, id: 'call_b', type: 'function', function: { name: 'read', arguments: '{"pa' } }),
  calls(
    { index: 0, function: { arguments: '{"cmd":"l' } },
    { index: 1, function: { arguments: 'th":"x"}' } },
  ),
  calls({ index: 0, function: { arguments: 's"}' } }),
  says({}, 0, 'tool_calls'),
  reports(USAGE),
  '[DONE]',
]

const WHOLE: Json = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1763164800,
  model: 'gpt-5-2025-08-07',
  service_tier: 'priority',
  choices: [
    {
      index: 0,
      finish_reason: 'tool_calls',
      message: {
        role: 'assistant',
        content: 'Let me lóok.',
        refusal: null,
        tool_calls: [
          { id: 'call_a', type: 'function', function: { name: 'shell', arguments: '{"cmd":"ls"}' } },
          { id: 'call_b', type: 'function', function: { name: 'read', arguments: '{"path":"x"}' } },
        ],
      },
    },
  ],
  usage: USAGE,
}

describe('a completion', () => {
  it('is the same streamed and whole', () => {
    expect(read(...TURN)).toEqual(parseOpenAiChatCompletion(WHOLE))
  })

  it('has text, calls, usage, the tier that was billed and the stop reason', () => {
    expect(parseOpenAiChatCompletion(WHOLE)).toEqual({
      provider: 'openai',
      messageId: 'chatcmpl-1',
      model: 'gpt-5-2025-08-07',
      role: 'assistant',
      blocks: [
        { type: 'text', text: 'Let me lóok.' },
        { type: 'tool-call', callId: 'call_a', name: 'shell', input: { cmd: 'ls' } },
        { type: 'tool-call', callId: 'call_b', name: 'read', input: { path: 'x' } },
      ],
      usage: { input: 40, cacheRead: 60, output: 30, reasoning: 10, quality: 'reported', raw: USAGE },
      stopReason: 'tool_calls',
      serviceTier: 'priority',
      complete: true,
      fields: { created: 1763164800 },
      unknown: [],
    })
  })

  it('is the same however its stream is cut', () => {
    expectSameHoweverCut(createOpenAiChatReassembly, toSse(TURN))
  })

  it('is the same whatever the obfuscation', () => {
    const padded = TURN.map((event) =>
      typeof event === 'string' ? event : { ...(event as JsonObject), obfuscation: 'Q' },
    )
    expect(read(...padded)).toEqual(read(...TURN))
  })
})

describe('usage', () => {
  it('comes in a last chunk without choices', () => {
    expect(read(says({ content: 'x' }, 0, 'stop'), reports(USAGE), '[DONE]').usage?.output).toBe(30)
  })

  it('is unavailable, without counts, when the request did not ask for it', () => {
    const message = read(says({ content: 'x' }, 0, 'stop'), '[DONE]')
    expect(message).toMatchObject({ usage: { quality: 'unavailable' }, complete: true })
    expect(message.usage).toEqual({ quality: 'unavailable' })
  })

  it('running on every chunk is overwritten, and partial when the stream is cut', () => {
    const running = (output: number): JsonObject =>
      chunk([{ index: 0, delta: { content: 'x' } }], {
        usage: { prompt_tokens: 5, completion_tokens: output },
      })
    expect(read(running(1), running(2)).usage).toMatchObject({ input: 5, output: 2, quality: 'partial' })
  })

  it('is absent when there was only an error', () => {
    const message = parseOpenAiChatCompletion({ error: { message: 'no', type: 'invalid', code: null } })
    expect(message).toMatchObject({ error: { message: 'no', code: 'invalid' }, complete: false })
    expect(message.usage).toBeUndefined()
  })
})

describe('choices and calls', () => {
  it('gives the first choice as the message and the others as alternatives', () => {
    const message = read(
      says({ content: 'b' }, 1),
      says({ content: 'a' }, 0),
      says({}, 0, 'stop'),
      says({}, 1, 'length'),
    )
    expect(message).toMatchObject({
      blocks: [{ type: 'text', text: 'a' }],
      stopReason: 'stop',
      alternatives: [{ blocks: [{ type: 'text', text: 'b' }], stopReason: 'length' }],
      complete: true,
    })
  })

  it('reads a refusal as what the model said, and tells it apart', () => {
    const message = read(says({ refusal: 'I can’t ' }), says({ refusal: 'do that.' }), says({}, 0, 'stop'))
    expect(message).toMatchObject({
      blocks: [{ type: 'text', text: 'I can’t do that.' }],
      extras: [{ type: 'refusal' }],
    })
  })

  it('reads what other servers say of the model’s thoughts', () => {
    const message = read(
      says({ reasoning_content: 'h' }),
      says({ reasoning_content: 'm' }),
      says({ content: 'x' }),
    )
    expect(message.blocks).toEqual([
      { type: 'thinking', text: 'hm' },
      { type: 'text', text: 'x' },
    ])
  })

  it('reads calls of servers that leave the index out', () => {
    const message = read(
      calls({ id: 'a', function: { name: 'f', arguments: '{' } }),
      calls({ function: { arguments: '}' } }),
      calls({ id: 'b', function: { name: 'g', arguments: '' } }),
    )
    expect(message.blocks).toEqual([
      { type: 'tool-call', callId: 'a', name: 'f', input: {} },
      { type: 'tool-call', callId: 'b', name: 'g', input: {} },
    ])
  })

  it('reads custom tools, whose input is text, and the older function_call', () => {
    const custom = read(
      calls({ index: 0, id: 'c', type: 'custom', custom: { name: 'sql', input: 'SEL' } }),
      calls({ index: 0, custom: { input: 'ECT 1' } }),
    )
    expect(custom.blocks).toEqual([{ type: 'tool-call', callId: 'c', name: 'sql', input: 'SELECT 1' }])
    const older = read(
      says({ function_call: { name: 'f', arguments: '{"a"' } }),
      says({ function_call: { arguments: ':1}' } }),
    )
    expect(older.blocks).toEqual([{ type: 'tool-call', name: 'f', input: { a: 1 } }])
  })

  it('keeps arguments that are no JSON as the model’s own text', () => {
    const message = read(calls({ index: 0, id: 'a', function: { name: 'f', arguments: '{"a":' } }))
    expect(message.blocks).toEqual([{ type: 'tool-call', callId: 'a', name: 'f', input: '{"a":' }])
  })
})

describe('streams that misbehave', () => {
  it('an error inside the stream is the message’s error', () => {
    const message = read(says({ content: 'x' }), { error: { message: 'gone', code: 'server_error' } })
    expect(message).toMatchObject({
      blocks: [{ text: 'x' }],
      error: { message: 'gone', code: 'server_error' },
      complete: false,
    })
  })

  it('what is not understood is kept: once, when it stands on every chunk', () => {
    const filter = { hate: { filtered: false } }
    const filtered = (content: string): JsonObject =>
      chunk([{ index: 0, delta: { content }, content_filter_results: filter }])
    const audio = says({ audio: { id: 'a' } })
    expect(read(filtered('a'), filtered('b'), audio, { object: 'other' }, 'text').unknown).toEqual([
      { index: 0, content_filter_results: filter },
      { index: 0, delta: { audio: { id: 'a' } } },
      { object: 'other' },
      'text',
    ])
  })

  it('Azure’s opening chunk does not erase the model', () => {
    const opening = {
      choices: [],
      id: '',
      model: '',
      object: '',
      prompt_filter_results: [{ prompt_index: 0 }],
    }
    const message = read(opening, says({ content: 'x' }, 0, 'stop'), reports(USAGE))
    expect(message).toMatchObject({
      messageId: 'chatcmpl-1',
      model: 'gpt-5-2025-08-07',
      fields: { prompt_filter_results: [{}] },
    })
  })

  it('indices beyond the limits are kept as unknown, not followed', () => {
    const message = read(
      says({ content: 'x' }, 128),
      says({ content: 'y' }, -1),
      calls({ index: 1024, id: 'a', function: { name: 'f' } }),
      calls({ index: 'x', function: {} }),
    )
    expect(message.blocks.filter(({ type }) => type === 'tool-call')).toEqual([])
    expect(message.unknown).toHaveLength(4)
  })

  it('may be anything at all, and nothing throws', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { maxLength: 6 }), (values) => {
        const clean = values.map((value) => parseJson(JSON.stringify(value)) ?? null)
        const choices = clean.map((value): Json => ({ choices: [{ index: 0, delta: value }, value] }))
        expect(read(...clean, ...choices).role).toBe('assistant')
        for (const value of clean)
          expect(parseOpenAiChatCompletion({ choices: [{ message: value }, value] }).role).toBe('assistant')
      }),
    )
  })

  it('arguments in forty thousand pieces take linear time', () => {
    const time = (count: number): number => {
      const bytes = toSse(
        Array.from({ length: count }, () => calls({ index: 0, function: { arguments: '1' } })),
      )
      return bestOf(3, () => void reassemble(createOpenAiChatReassembly, bytes))
    }
    time(2000)
    expect(time(40_000)).toBeLessThan(time(10_000) * 10 + 10)
  })
})
