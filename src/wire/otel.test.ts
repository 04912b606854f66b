import { describe, expect, it } from 'vitest'
import { chat, said, tracesOf, type SpanSample } from '../../test/otlp-samples.ts'
import type { JsonObject } from '../transcript/json.ts'
import { readOtelSpan, type OtelTold } from './otel.ts'
import { readSpans } from './otlp.ts'

function read(attributes: JsonObject, more: Partial<SpanSample> = {}): OtelTold | undefined {
  const [span] = readSpans(tracesOf([{ id: 'a', attributes, ...more }]))?.items ?? []
  return span && readOtelSpan(span)
}

function readCall(attributes: JsonObject, more: Partial<SpanSample> = {}) {
  const told = read(attributes, more)
  if (told?.kind !== 'call') throw new Error(`no call: ${told?.kind}`)
  return told
}

/** What every dialect below tells: a prompt, a call, its result, an answer. */
const MESSAGES = [
  { role: 'system', blocks: [{ type: 'text', text: 'Be brief.' }] },
  { role: 'user', blocks: [{ type: 'text', text: 'Weather?' }] },
  {
    role: 'assistant',
    blocks: [{ type: 'tool-call', callId: 'call_1', name: 'weather', input: { city: 'Paris' } }],
  },
  { role: 'tool', blocks: [{ type: 'tool-result', callId: 'call_1', output: 'rainy' }] },
]
const ANSWER = [{ type: 'text', text: 'It rains.' }]
const counts = { 'gen_ai.usage.input_tokens': 100, 'gen_ai.usage.output_tokens': 10 }

const genAi = [
  said('system', 'Be brief.'),
  said('user', 'Weather?'),
  {
    role: 'assistant',
    parts: [{ type: 'tool_call', id: 'call_1', name: 'weather', arguments: { city: 'Paris' } }],
  },
  { role: 'tool', parts: [{ type: 'tool_call_response', id: ' call_1', result: 'rainy' }] },
]
const chatCall = {
  id: 'call_1',
  type: 'function',
  function: { name: 'weather', arguments: '{"city":"Paris"}' },
}

const DIALECTS: readonly (readonly [string, JsonObject, Partial<SpanSample>?])[] = [
  ['GenAI, as values', chat(genAi, said('assistant', 'It rains.'), [100, 10])],
  [
    'GenAI, as JSON in texts',
    {
      ...chat([], {}, [100, 10]),
      'gen_ai.input.messages': JSON.stringify(genAi),
      'gen_ai.output.messages': JSON.stringify([said('assistant', 'It rains.')]),
    },
  ],
  [
    'GenAI, in an event',
    { 'gen_ai.operation.name': 'chat', ...counts },
    {
      events: [
        {
          name: 'gen_ai.client.inference.operation.details',
          attributes: {
            'gen_ai.input.messages': genAi,
            'gen_ai.output.messages': [said('assistant', 'It rains.')],
          },
        },
      ],
    },
  ],
  [
    'GenAI before 1.37, an event a message',
    { 'gen_ai.operation.name': 'chat', 'gen_ai.system': 'openai', ...counts },
    {
      events: [
        { name: 'gen_ai.system.message', attributes: { content: 'Be brief.' } },
        {
          name: 'gen_ai.user.message',
          attributes: { 'gen_ai.event.content': '{"role":"user","content":"Weather?"}' },
        },
        { name: 'gen_ai.assistant.message', attributes: { tool_calls: JSON.stringify([chatCall]) } },
        { name: 'gen_ai.tool.message', attributes: { content: 'rainy', id: 'call_1' } },
        {
          name: 'gen_ai.choice',
          attributes: {
            index: 0,
            finish_reason: 'stop',
            message: '{"role":"assistant","content":"It rains."}',
          },
        },
      ],
    },
  ],
  [
    'OpenInference',
    {
      'openinference.span.kind': 'LLM',
      'llm.model_name': 'gpt-5-mini',
      'llm.token_count.prompt': 100,
      'llm.token_count.completion': 10,
      'llm.input_messages.0.message.role': 'system',
      'llm.input_messages.0.message.content': 'Be brief.',
      'llm.input_messages.1.message.role': 'user',
      'llm.input_messages.1.message.contents.0.message_content.type': 'text',
      'llm.input_messages.1.message.contents.0.message_content.text': 'Weather?',
      'llm.input_messages.2.message.role': 'assistant',
      'llm.input_messages.2.message.tool_calls.0.tool_call.id': 'call_1',
      'llm.input_messages.2.message.tool_calls.0.tool_call.function.name': 'weather',
      'llm.input_messages.2.message.tool_calls.0.tool_call.function.arguments': '{"city":"Paris"}',
      'llm.input_messages.3.message.role': 'tool',
      'llm.input_messages.3.message.tool_call_id': 'call_1',
      'llm.input_messages.3.message.content': 'rainy',
      'llm.output_messages.0.message.role': 'assistant',
      'llm.output_messages.0.message.content': 'It rains.',
    },
  ],
  [
    'Traceloop',
    {
      'llm.request.type': 'chat',
      'gen_ai.system': 'OpenAI',
      ...counts,
      'gen_ai.prompt.0.role': 'system',
      'gen_ai.prompt.0.content': 'Be brief.',
      'gen_ai.prompt.1.role': 'user',
      'gen_ai.prompt.1.content': '[{"type":"text","text":"Weather?"}]',
      'gen_ai.prompt.2.role': 'assistant',
      'gen_ai.prompt.2.tool_calls.0.id': 'call_1',
      'gen_ai.prompt.2.tool_calls.0.name': 'weather',
      'gen_ai.prompt.2.tool_calls.0.arguments': '{"city":"Paris"}',
      'gen_ai.prompt.3.role': 'tool',
      'gen_ai.prompt.3.tool_call_id': 'call_1',
      'gen_ai.prompt.3.content': 'rainy',
      'gen_ai.completion.0.role': 'assistant',
      'gen_ai.completion.0.content': 'It rains.',
      'gen_ai.completion.0.finish_reason': 'stop',
    },
  ],
  [
    'the AI SDK',
    {
      'ai.operationId': 'ai.generateText.doGenerate',
      'ai.model.provider': 'openai.responses',
      ...counts,
      'ai.prompt.messages': JSON.stringify([
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'text', text: 'Weather?' }] },
        {
          role: 'assistant',
          content: [
            { type: 'tool-call', toolCallId: 'call_1', toolName: 'weather', input: { city: 'Paris' } },
          ],
        },
        {
          role: 'tool',
          content: [{ type: 'tool-result', toolCallId: 'call_1', output: { type: 'text', value: 'rainy' } }],
        },
      ]),
      'ai.response.text': 'It rains.',
    },
  ],
]

describe('a call', () => {
  it.each(DIALECTS.map(([name, attributes, more = {}]) => ({ name, attributes, more })))(
    'is told by $name',
    ({ attributes, more }) => {
      const { request, message } = readCall(attributes, more)
      expect(request.messages.map(({ role, blocks }) => ({ role, blocks }))).toEqual(MESSAGES)
      expect(message.blocks).toEqual(ANSWER)
      expect(message.usage).toMatchObject({ input: 100, output: 10, quality: 'reported' })
      expect(message.complete).toBe(true)
    },
  )

  it('has its system instructions, parameters and tools beside the messages', () => {
    const { request } = readCall(
      chat([said('user', 'hi')], said('assistant', 'ho'), [1, 1], {
        'gen_ai.system_instructions': JSON.stringify([{ type: 'text', content: 'Be brief.' }]),
        'gen_ai.request.temperature': 0.5,
        'gen_ai.tool.definitions': JSON.stringify([{ name: 'weather' }]),
      }),
    )
    expect(request.system?.blocks).toEqual([{ type: 'text', text: 'Be brief.' }])
    expect(request.parameters).toEqual({ temperature: 0.5, tools: [{ name: 'weather' }] })
  })

  it('is not taken for JSON where somebody has said some', () => {
    const pasted = '{"parts": [1]}'
    const { request } = readCall(chat([{ role: 'user', content: pasted }], {}, [1, 1]))
    expect(request.messages).toEqual([{ role: 'user', blocks: [{ type: 'text', text: pasted }] }])
  })

  it('keeps what nobody knows', () => {
    const strange = { type: 'hologram', content: { x: 1 } }
    const { message } = readCall(chat([], { role: 'assistant', parts: [strange] }, [1, 1]))
    expect(message.blocks).toEqual([{ type: 'unknown', raw: strange }])
  })

  it('that failed says why', () => {
    const { message } = readCall(
      { 'gen_ai.operation.name': 'chat', 'error.type': '429' },
      { error: 'slow down' },
    )
    expect(message).toMatchObject({ error: { message: 'slow down', code: '429' }, complete: false })
  })
})

describe('counts', () => {
  const usage = (attributes: JsonObject) =>
    readCall({ 'gen_ai.operation.name': 'chat', ...attributes }).message.usage
  const cache = { 'gen_ai.usage.cache_read.input_tokens': 60, 'gen_ai.usage.cache_creation.input_tokens': 20 }

  it('of input have the cache in them, as the conventions say', () => {
    expect(usage({ ...counts, ...cache })).toMatchObject({ input: 20, cacheRead: 60, cacheWrite5m: 20 })
  })

  it.each([
    ['the total', { ...counts, ...cache, 'gen_ai.usage.total_tokens': 190 }, 100],
    ['a cache that is larger', { ...cache, 'gen_ai.usage.input_tokens': 30 }, 30],
  ])('of input are without it where %s says so', (_name, attributes, input) => {
    expect(usage(attributes)).toMatchObject({ input, cacheRead: 60, cacheWrite5m: 20 })
  })

  it('go by their older names', () => {
    expect(usage({ 'gen_ai.usage.prompt_tokens': 7, 'gen_ai.usage.completion_tokens': 3 })).toMatchObject({
      input: 7,
      output: 3,
    })
  })

  it('that are none are not known', () => {
    expect(usage({ 'gen_ai.usage.input_tokens': -1, 'gen_ai.usage.output_tokens': 'many' })).toEqual({
      quality: 'unavailable',
    })
  })
})

describe('other spans', () => {
  it.each([
    [
      'a tool',
      {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'weather',
        'gen_ai.tool.call.arguments': '{"a":1}',
        'gen_ai.tool.call.result': { sky: 'grey' },
      },
      { kind: 'tool', name: 'weather', input: { a: 1 }, output: '{"sky":"grey"}' },
    ],
    [
      'a tool of OpenInference',
      {
        'openinference.span.kind': 'TOOL',
        'tool.name': 'weather',
        'input.value': '{"a":1}',
        'output.value': 'grey',
      },
      { kind: 'tool', input: { a: 1 }, output: 'grey' },
    ],
    [
      'a tool of the AI SDK',
      {
        'ai.operationId': 'ai.toolCall',
        'ai.toolCall.name': 'weather',
        'ai.toolCall.id': 'c1',
        'ai.toolCall.args': '{"a":1}',
      },
      { kind: 'tool', callId: 'c1' },
    ],
    [
      'an agent',
      { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'guide' },
      { kind: 'agent', agentName: 'guide' },
    ],
    ['the outer span of the AI SDK', { 'ai.operationId': 'ai.streamText' }, { kind: 'agent' }],
    [
      'a retrieval',
      { 'openinference.span.kind': 'RETRIEVER', 'input.value': 'q' },
      { kind: 'step', isWrapper: false, about: { attributes: { 'input.value': 'q' } } },
    ],
    [
      'a chain',
      { 'openinference.span.kind': 'CHAIN', 'input.value': 'q' },
      { kind: 'step', isWrapper: true },
    ],
    [
      'a conversation',
      { 'gen_ai.operation.name': 'chat', 'gen_ai.conversation.id': 'c1' },
      { conversation: 'c1' },
    ],
  ])('are told apart: %s', (_name, attributes, told) => {
    expect(read(attributes as JsonObject)).toMatchObject(told)
  })

  it('that have nothing to do with models tell nothing', () => {
    expect(read({ 'http.request.method': 'POST' })).toBeUndefined()
  })
})

describe('an export', () => {
  it('takes ids as hex or base64, and counts what has none', () => {
    const spans = [
      { traceId: 'AQEBAQEBAQEBAQEBAQEBAQ==', spanId: 'AgICAgICAgI=' },
      { traceId: '0'.repeat(32), spanId: '1'.repeat(16) },
      { traceId: 'zz', spanId: '1'.repeat(16) },
      7,
    ]
    const read = readSpans({ resourceSpans: [{ scopeSpans: [{ spans }] }] })
    expect(read?.items.map(({ traceId, spanId }) => [traceId, spanId])).toEqual([
      ['01'.repeat(16), '02'.repeat(8)],
    ])
    expect(read?.malformed).toBe(3)
  })

  it.each([[], 'x', null, { resourceSpans: {} }])('is not %j', (body) => {
    expect(readSpans(body as never)).toBeUndefined()
  })
})
