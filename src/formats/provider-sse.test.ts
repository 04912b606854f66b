import { describe, expect, it } from 'vitest'
import { expectToSurviveCuts } from '../../test/cuts.ts'
import { memoryFileSource, readAll } from '../../test/memory-files.ts'
import { toJson, type Json } from '../transcript/json.ts'
import { geminiContents } from './gemini-contents.ts'
import { providerSse } from './provider-sse.ts'

const sse = (...events: readonly (Json | string)[]): string =>
  events.map((event) => `data: ${typeof event === 'string' ? event : toJson(event)}\n\n`).join('')
const lines = (...values: readonly Json[]): string => values.map((value) => `${toJson(value)}\n`).join('')
const read = async (text: string) => {
  const [one] = await readAll(providerSse, memoryFileSource('x', text))
  return { entries: one?.entries ?? [], damage: one?.damage ?? [] }
}
const messages = async (text: string) => (await read(text)).entries.filter(({ kind }) => kind === 'message')

const anthropic = (id: string, text: string): readonly Json[] => [
  {
    type: 'message_start',
    message: {
      id,
      type: 'message',
      role: 'assistant',
      model: 'claude-x',
      content: [],
      usage: { input_tokens: 3, output_tokens: 1 },
    },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } },
  { type: 'message_stop' },
]
const chat = (id: string, text: string): readonly (Json | string)[] => [
  {
    id,
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'm',
    choices: [{ index: 0, delta: { role: 'assistant', content: text }, finish_reason: null }],
  },
  {
    id,
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'm',
    choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
  },
  {
    id,
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'm',
    choices: [],
    usage: { prompt_tokens: 5, completion_tokens: 2 },
  },
  '[DONE]',
]
const response = {
  id: 'resp_1',
  object: 'response',
  created_at: 1_700_000_000,
  model: 'm',
  status: 'in_progress',
  output: [] as Json[],
}
const responses: readonly Json[] = [
  { type: 'response.created', response },
  { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'hi' },
  {
    type: 'response.completed',
    response: {
      ...response,
      status: 'completed',
      output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'hi' }] }],
      usage: { input_tokens: 4, output_tokens: 1 },
    },
  },
]
const gemini: readonly Json[] = [
  {
    candidates: [{ content: { role: 'model', parts: [{ text: 'a' }] } }],
    responseId: 'g1',
    modelVersion: 'gem',
    usageMetadata: { promptTokenCount: 4, totalTokenCount: 4 },
  },
  {
    candidates: [{ content: { role: 'model', parts: [{ text: 'b' }] }, finishReason: 'STOP' }],
    responseId: 'g1',
    modelVersion: 'gem',
    usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 2, totalTokenCount: 6 },
  },
]

describe('a captured stream', () => {
  it('is one message with its last counts, whatever the API', async () => {
    expect(await messages(sse(...anthropic('m1', 'hi')))).toMatchObject([
      {
        role: 'assistant',
        blocks: [{ type: 'text', text: 'hi' }],
        usage: { input: 3, output: 9, quality: 'reported' },
        call: { messageId: 'm1' },
      },
    ])
    expect(await messages(sse(...chat('c1', 'hi')))).toMatchObject([
      {
        at: '2023-11-14T22:13:20.000Z',
        blocks: [{ text: 'hi' }],
        usage: { input: 5, output: 2 },
        call: { provider: 'openai', messageId: 'c1' },
      },
    ])
    expect(await messages(sse(...responses))).toMatchObject([
      { blocks: [{ text: 'hi' }], usage: { input: 4, output: 1 } },
    ])
    expect(await messages(sse(...gemini))).toMatchObject([
      { blocks: [{ text: 'ab' }], usage: { input: 4, output: 2 }, call: { provider: 'google' } },
    ])
  })

  it('is told by its events, as they came or as JSON', async () => {
    const texts = [
      sse(...anthropic('m', 'x')),
      sse(...chat('c', 'x')),
      sse(...responses),
      sse(...gemini),
      lines(...anthropic('m', 'x')),
      lines(...responses),
      toJson(gemini),
      `event: message_start\n${sse(...anthropic('m', 'x'))}`,
    ]
    for (const text of texts)
      expect((await providerSse.detect(memoryFileSource('x', text)))?.confidence).toBeGreaterThan(0.9)
  })

  it('is not seen in answers that came whole, and in what others wrote', async () => {
    const whole = toJson([gemini[1], gemini[1]] as Json)
    expect(await providerSse.detect(memoryFileSource('x', whole))).toBeUndefined()
    expect(await geminiContents.detect(memoryFileSource('x', whole))).toBeDefined()
    for (const text of [
      'data: 1\n\ndata: 2\n\n',
      'event: a story\n',
      lines({ type: 'user' }, { type: 'assistant' }),
    ])
      expect(await providerSse.detect(memoryFileSource('x', text))).toBeUndefined()
  })

  it('may be followed by others in the same file', async () => {
    const found = await messages(
      sse(
        ...anthropic('m1', 'one'),
        ...anthropic('m2', 'two'),
        ...chat('c1', 'three'),
        ...chat('c2', 'four'),
        ...gemini,
      ),
    )
    expect(found.map(({ call }) => call?.messageId)).toEqual(['m1', 'm2', 'c1', 'c2', 'g1'])
    expect(found.map(({ blocks: [first] }) => first?.type === 'text' && first.text)).toEqual([
      'one',
      'two',
      'three',
      'four',
      'ab',
    ])
  })

  it('has all its bytes as its origin', async () => {
    const first = sse(...anthropic('m1', 'one'))
    const second = sse(...anthropic('m2', 'two'))
    const [a, b] = await messages(first + second)
    const spanOf = (entry: typeof a) =>
      (first + second).slice(
        entry?.origin?.byteOffset,
        (entry?.origin?.byteOffset ?? 0) + (entry?.origin?.byteLength ?? 0),
      )
    expect(spanOf(a)).toContain('message_start')
    expect(spanOf(a)).toContain('message_stop')
    expect(spanOf(a)).not.toContain('m2')
    expect(spanOf(b)).toContain('m2')
  })

  it('that was cut is partial', async () => {
    const [one] = await messages(sse(...anthropic('m1', 'hi').slice(0, 3)))
    expect(one).toMatchObject({
      blocks: [{ text: 'hi' }],
      usage: { quality: 'partial' },
      metadata: { incomplete: true },
    })
  })

  it('keeps what stands between the events: headers, and events of nobody', async () => {
    const { entries } = await read(`HTTP/1.1 200 OK\n${sse({ hello: 1 }, ...anthropic('m1', 'hi'))}`)
    expect(
      entries.map(({ kind, blocks: [first] }) =>
        kind === 'event' && first?.type === 'unknown' ? first.raw : 'said',
      ),
    ).toEqual(['HTTP/1.1 200 OK', { hello: 1 }, 'said'])
  })

  it('is read though the blank lines between events are gone', async () => {
    const text = sse(...anthropic('m1', 'hi')).replaceAll('\n\n', '\n')
    expect(await messages(text)).toMatchObject([{ blocks: [{ text: 'hi' }], stopReason: 'end_turn' }])
  })

  it('is read up to any byte', async () => {
    await expectToSurviveCuts(providerSse, sse(...anthropic('m1', 'hi')))
    await expectToSurviveCuts(providerSse, lines(...anthropic('m1', 'hi')))
    await expectToSurviveCuts(providerSse, toJson(gemini))
  })
})
