import { describe, expect, it } from 'vitest'
import { expectToSurviveCuts } from '../../test/cuts.ts'
import { memoryFileSource, readAll } from '../../test/memory-files.ts'
import { toJson, type Json } from '../transcript/json.ts'
import { geminiContents } from './gemini-contents.ts'
import { vercelUiMessages } from './vercel-ui-messages.ts'

const MESSAGES: readonly Json[] = [
  {
    id: 'u1',
    role: 'user',
    parts: [
      { type: 'text', text: 'Look.' },
      { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,QUJD' },
    ],
  },
  {
    id: 'a1',
    role: 'assistant',
    metadata: {
      model: 'm',
      createdAt: '2026-01-01T00:00:00.000Z',
      usage: { inputTokens: 10, cachedInputTokens: 4, outputTokens: 3, reasoningTokens: 1 },
    },
    parts: [
      { type: 'step-start' },
      { type: 'reasoning', text: 'hm', state: 'done' },
      {
        type: 'tool-look',
        toolCallId: 'c1',
        state: 'output-available',
        input: { at: 1 },
        output: { seen: 'tree' },
      },
      {
        type: 'dynamic-tool',
        toolName: 'ask',
        toolCallId: 'c2',
        state: 'output-error',
        input: {},
        errorText: 'no',
      },
      { type: 'step-start' },
      { type: 'text', text: 'A tree.', state: 'done' },
      { type: 'source-url', sourceId: 's', url: 'https://x' },
    ],
  },
]
const OLD: Json = {
  id: 'a',
  role: 'assistant',
  content: 'A tree.',
  toolInvocations: [{ state: 'result', toolCallId: 'c', toolName: 'look', args: { a: 1 }, result: 'tree' }],
}
const read = async (text: string) => (await readAll(vercelUiMessages, memoryFileSource('x', text)))[0]

describe('UI messages', () => {
  it('are told in a list, in a document and in lines', async () => {
    const texts = [
      toJson(MESSAGES),
      toJson(MESSAGES, 2),
      toJson({ id: 'chat', messages: MESSAGES }),
      MESSAGES.map((one) => `${toJson(one)}\n`).join(''),
      toJson([OLD]),
    ]
    for (const text of texts) {
      expect((await vercelUiMessages.detect(memoryFileSource('x', text)))?.confidence).toBe(0.93)
      expect(await geminiContents.detect(memoryFileSource('x', text))).toBeUndefined()
    }
  })

  it("are not told of Gemini's contents and OpenCode's messages", async () => {
    for (const value of [
      [{ role: 'user', parts: [{ text: 'a' }] }],
      { info: { id: 'ses_1' }, messages: [{ info: { role: 'user' }, parts: [{ type: 'text', text: 'a' }] }] },
    ])
      expect(await vercelUiMessages.detect(memoryFileSource('x', toJson(value)))).toBeUndefined()
  })

  it('are an entry for each step, and one for what each tool returned', async () => {
    const one = await read(toJson({ id: 'chat', title: 'T', messages: MESSAGES }))
    expect(one?.entries.slice(1).map(({ role, blocks }) => [role, blocks.map(({ type }) => type)])).toEqual([
      ['user', ['text', 'image']],
      ['assistant', ['thinking', 'tool-call', 'tool-call']],
      ['tool', ['tool-result']],
      ['tool', ['tool-result']],
      ['assistant', ['text', 'unknown']],
    ])
    const [, , answer, first, second, last] = one?.entries ?? []
    expect(answer).toMatchObject({ id: 'a1', model: 'm', at: '2026-01-01T00:00:00.000Z' })
    expect(answer?.usage).toBeUndefined()
    expect([first?.blocks[0], second?.blocks[0]]).toMatchObject([
      { callId: 'c1', name: 'look', output: [{ type: 'unknown', raw: { seen: 'tree' } }] },
      { callId: 'c2', name: 'ask', error: 'no', isError: true },
    ])
    expect(last?.usage).toMatchObject({ input: 6, cacheRead: 4, output: 3, reasoning: 1 })
    expect(one?.session).toMatchObject({
      native: { agent: 'vercel-ui-messages', sessionId: 'chat' },
      title: 'T',
    })
  })

  it('of version 4 have their calls beside the text', async () => {
    const one = await read(toJson([OLD]))
    expect(one?.entries.map(({ role, blocks }) => [role, blocks.map(({ type }) => type)])).toEqual([
      ['assistant', ['text', 'tool-call']],
      ['tool', ['tool-result']],
    ])
  })

  it('are read up to any byte', () => expectToSurviveCuts(vercelUiMessages, toJson(MESSAGES)))
})
