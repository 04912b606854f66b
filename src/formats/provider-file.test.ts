import { describe, expect, it } from 'vitest'
import { expectToSurviveCuts } from '../../test/cuts.ts'
import { memoryFileSource, readAll } from '../../test/memory-files.ts'
import { toJson, type Json } from '../transcript/json.ts'
import { anthropicMessages } from './anthropic-messages.ts'
import type { Format } from './format.ts'
import { geminiContents } from './gemini-contents.ts'
import { openAiChat } from './openai-chat.ts'
import { openAiResponses } from './openai-responses.ts'

const ALL = [openAiChat, anthropicMessages, openAiResponses, geminiContents]
const lines = (...values: readonly Json[]): string => values.map((value) => `${toJson(value)}\n`).join('')
const read = (format: Format, text: string) => readAll(format, memoryFileSource('x.jsonl', text))

/** The surest of the four. */
async function told(text: string): Promise<string | undefined> {
  const answers = await Promise.all(
    ALL.map(async (format) => ({ id: format.id, found: await format.detect(memoryFileSource('x', text)) })),
  )
  return answers
    .filter(({ found }) => found !== undefined)
    .sort((a, b) => (b.found?.confidence ?? 0) - (a.found?.confidence ?? 0))[0]?.id
}

const TOOL = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } }
const CHAT: readonly Json[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Look.' },
  { role: 'assistant', content: null, tool_calls: [TOOL] },
  { role: 'tool', tool_call_id: 'c1', content: 'a tree' },
  { role: 'assistant', content: 'A tree.', weight: 1 },
]
const ANTHROPIC: readonly Json[] = [
  { role: 'user', content: 'Look.' },
  { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'look', input: { at: 1 } }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'a tree' }] },
]
const ANSWER = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-x',
  content: [{ type: 'text', text: 'A tree.' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 5, cache_read_input_tokens: 7, output_tokens: 3 },
}
const CONTENTS: readonly Json[] = [
  { role: 'user', parts: [{ text: 'Look.' }] },
  { role: 'model', parts: [{ functionCall: { name: 'look', args: { at: 1 } } }] },
  { role: 'user', parts: [{ functionResponse: { name: 'look', response: { output: 'a tree' } } }] },
]
const ITEMS: readonly Json[] = [
  { role: 'user', content: 'Look.' },
  { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{"at":1}' },
  { type: 'function_call_output', call_id: 'c1', output: 'a tree' },
]

describe('whose messages a file holds', () => {
  it.each([
    ['openai-chat', toJson(CHAT)],
    ['openai-chat', lines(...CHAT)],
    ['openai-chat', toJson({ model: 'm', messages: CHAT, temperature: 0 }, 2)],
    ['openai-chat', lines({ messages: CHAT }, { messages: CHAT.slice(0, 2) })],
    ['anthropic-messages', toJson(ANTHROPIC, 2)],
    ['anthropic-messages', toJson({ model: 'm', max_tokens: 9, system: 'Be brief.', messages: ANTHROPIC })],
    ['anthropic-messages', toJson(ANSWER)],
    ['openai-responses', toJson(ITEMS)],
    ['openai-responses', toJson({ object: 'response', id: 'r', model: 'm', output: [] }, 2)],
    ['gemini-contents', toJson(CONTENTS)],
    ['gemini-contents', toJson({ contents: CONTENTS, generationConfig: {} })],
  ])('is told by their content: %s', async (id, text) => {
    expect(await told(text)).toBe(id)
  })

  it('is not told of what belongs to programs', async () => {
    for (const value of [
      { info: { id: 'ses_1' }, messages: [{ info: {}, parts: [] }] },
      { sessionId: 's', projectHash: 'p', messages: [{ id: '1', type: 'user', content: 'a' }] },
      [{ ts: 1, type: 'say', say: 'text', text: 'a' }],
      { error: 'nothing' },
    ])
      expect(await told(toJson(value))).toBeUndefined()
  })

  it('is only a guess where nothing but text was said, or where it stands among other things', async () => {
    const plain = memoryFileSource(
      'x',
      toJson([
        { role: 'user', content: 'a' },
        { role: 'assistant', content: 'b' },
      ]),
    )
    expect((await openAiChat.detect(plain))?.confidence).toBe(0.5)
    const among = memoryFileSource('x', toJson({ project: 1, notes: [], messages: CHAT }))
    expect((await openAiChat.detect(among))?.confidence).toBe(0.55)
  })
})

describe('messages of a provider', () => {
  it('are one session, in whatever layout they lie', async () => {
    for (const text of [toJson(CHAT), lines(...CHAT), toJson({ messages: CHAT })]) {
      const [one, ...others] = await read(openAiChat, text)
      expect(others).toEqual([])
      expect(one?.entries.map(({ role }) => role)).toEqual([
        'system',
        'user',
        'assistant',
        'tool',
        'assistant',
      ])
      expect(one?.entries[2]?.blocks).toEqual([
        { type: 'tool-call', callId: 'c1', name: 'look', input: { at: 1 } },
      ])
      expect(one?.entries[4]?.metadata).toEqual({ fields: { weight: 1 } })
      expect(one?.entries.map(({ origin }) => origin?.record)).toEqual([1, 2, 3, 4, 5])
    }
  })

  it('say the same in all four APIs', async () => {
    const blocks = async (format: Format, values: readonly Json[]) =>
      (await read(format, toJson(values)))[0]?.entries.map(({ role, blocks }) => [role, blocks[0]?.type])
    const expected = [
      ['user', 'text'],
      ['assistant', 'tool-call'],
      ['tool', 'tool-result'],
    ]
    expect(await blocks(anthropicMessages, ANTHROPIC)).toEqual(expected)
    expect(await blocks(openAiResponses, ITEMS)).toEqual(expected)
    expect(await blocks(geminiContents, CONTENTS)).toEqual(expected)
  })
})

describe('lines that stand alone', () => {
  it('are a session each: of a training set', async () => {
    const sessions = await read(
      openAiChat,
      lines({ messages: CHAT }, { messages: CHAT.slice(0, 2), tools: [1] }),
    )
    expect(sessions.map(({ entries }) => entries.length)).toEqual([5, 3])
    expect(new Set(sessions.map(({ session }) => session.id)).size).toBe(2)
    expect(sessions[1]?.entries[0]).toMatchObject({ kind: 'event', metadata: { record: 'request' } })
  })

  it('keep what a preference prefers not to be said', async () => {
    const [one] = await read(
      openAiChat,
      lines({
        input: { messages: CHAT.slice(0, 2) },
        preferred_output: [{ role: 'assistant', content: 'good' }],
        non_preferred_output: [{ role: 'assistant', content: 'bad' }],
      }),
    )
    expect(one?.entries.at(-1)?.blocks).toEqual([{ type: 'text', text: 'good' }])
    expect(toJson(one?.session.metadata)).toContain('bad')
  })

  it('of a batch are named by it, asked or answered', async () => {
    const request = {
      custom_id: 'a',
      method: 'POST',
      url: '/v1/chat/completions',
      body: { model: 'm', messages: CHAT },
    }
    const completion = {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'm-1',
      choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 10, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 4 } },
    }
    const answered = {
      id: 'b',
      custom_id: 'a',
      response: { status_code: 200, request_id: 'r', body: completion },
      error: null,
    }
    expect(await told(lines(request))).toBe('openai-chat')
    expect(await told(lines(answered))).toBe('openai-chat')
    const [asked] = await read(openAiChat, lines(request))
    expect(asked?.session).toMatchObject({ model: 'm', metadata: { 'openai-chat': { name: 'a' } } })
    const [got] = await read(openAiChat, lines(answered))
    expect(got?.entries).toMatchObject([
      {
        role: 'assistant',
        at: '2023-11-14T22:13:20.000Z',
        model: 'm-1',
        stopReason: 'stop',
        usage: { input: 6, cacheRead: 4, output: 2, quality: 'reported' },
        call: { provider: 'openai', messageId: 'chatcmpl-1' },
      },
    ])
  })

  it("of Anthropic's batches and Bedrock's are told as Anthropic's", async () => {
    const texts = [
      lines({ custom_id: 'a', params: { model: 'm', max_tokens: 1, system: 's', messages: ANTHROPIC } }),
      lines({ custom_id: 'a', result: { type: 'succeeded', message: ANSWER } }),
      lines({
        recordId: 'a',
        modelInput: { anthropic_version: 'b', messages: ANTHROPIC },
        modelOutput: ANSWER,
      }),
    ]
    for (const text of texts) expect(await told(text)).toBe('anthropic-messages')
    const [last] = await read(anthropicMessages, texts[2] as string)
    expect(last?.entries.at(-1)?.usage).toMatchObject({ input: 5, cacheRead: 7, output: 3 })
  })

  it('that failed say so', async () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'later' } }
    const [one] = await read(anthropicMessages, lines({ custom_id: 'a', result: { type: 'errored', error } }))
    expect(one?.session).toMatchObject({ status: 'failed', error: 'later' })
  })
})

describe('a log of calls', () => {
  const call = (messages: readonly Json[], answer: string, id: string): Json => ({
    request: { model: 'm', max_tokens: 9, messages },
    response: { ...ANSWER, id, content: [{ type: 'text', text: answer }] },
  })
  const hello = { role: 'user', content: 'hello' }
  const hi = { role: 'assistant', content: [{ type: 'text', text: 'hi' }] }
  const again = { role: 'user', content: 'again' }

  it('says what each request repeats once', async () => {
    const text = lines(call([hello], 'hi', 'm1'), call([hello, hi, again], 'hi again', 'm2'))
    const [one, ...others] = await read(anthropicMessages, text)
    expect(others).toEqual([])
    const said = one?.entries.filter(({ kind }) => kind === 'message')
    expect(said?.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
    expect(said?.map(({ call: of }) => of?.messageId)).toEqual([undefined, 'm1', undefined, 'm2'])
  })

  it('begins a session where a request goes on with nothing', async () => {
    const text = lines(call([hello], 'hi', 'm1'), call([again], 'what?', 'm2'))
    expect(await read(anthropicMessages, text)).toHaveLength(2)
  })
})

describe('a damaged file', () => {
  it('is read up to any byte', async () => {
    await expectToSurviveCuts(openAiChat, toJson(CHAT))
    await expectToSurviveCuts(openAiChat, toJson({ model: 'm', messages: CHAT.slice(0, 2) }, 1))
    await expectToSurviveCuts(anthropicMessages, lines(...ANTHROPIC))
    await expectToSurviveCuts(geminiContents, toJson(CONTENTS))
  })

  it('may hold anything', async () => {
    for (const text of [
      '[]',
      '{}',
      '[1,"a",null]',
      '{"messages":7}',
      '{"messages":[[],1]}',
      'nothing',
      '{"__proto__":{"role":"x"}}',
    ])
      for (const format of ALL) await expect(read(format, text)).resolves.toBeDefined()
  })
})

describe('a document of one line', () => {
  it('that goes on past any head is read message by message', async () => {
    const messages = Array.from({ length: 600 }, (_, index) => ({
      role: index % 2 ? 'assistant' : 'user',
      content: 'x'.repeat(2000),
    }))
    for (const text of [toJson({ model: 'm', messages }), toJson(messages), toJson({ messages }, 1)]) {
      const [one, ...others] = await read(openAiChat, text)
      expect(others).toEqual([])
      expect(one?.entries.filter(({ kind }) => kind === 'message')).toHaveLength(600)
    }
  })
})
