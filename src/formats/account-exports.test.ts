/** Exports of accounts, and calls that others captured. */
import { describe, expect, it } from 'vitest'
import { memoryFileSource, readAll } from '../../test/memory-files.ts'
import { createCallFold } from '../transcript/totals.ts'
import type { Transcript } from '../transcript/transcript.ts'
import { chatgptExport } from './chatgpt-export.ts'
import { claudeExport } from './claude-export.ts'
import { har } from './har.ts'

const totals = ({ entries }: Transcript) => {
  const fold = createCallFold()
  for (const entry of entries) fold.add(entry)
  return fold.totals()
}

describe("ChatGPT's export", () => {
  const node = (id: string, parent: string | null, children: readonly string[], role?: string) => ({
    id,
    parent,
    children,
    message:
      role === undefined
        ? null
        : {
            id: `m-${id}`,
            author: { role, name: role === 'tool' ? 'python' : null },
            create_time: 1_767_225_600,
            content: { content_type: 'text', parts: [id] },
          },
  })
  const conversation = {
    id: 'c',
    title: 't',
    create_time: 1_767_225_600,
    current_node: 'd',
    mapping: {
      d: node('d', 'a', [], 'tool'),
      a: node('a', 'r', ['b', 'd'], 'user'),
      b: node('b', 'a', [], 'assistant'),
      r: node('r', null, ['a']),
    },
  }

  it('may have more answers to one message than a function takes arguments', async () => {
    const many = Array.from({ length: 250_000 }, () => 'b')
    const mapping = { ...conversation.mapping, a: node('a', 'r', [...many, 'd'], 'user') }
    const [told] = await readAll(
      chatgptExport,
      memoryFileSource('x', JSON.stringify([{ ...conversation, mapping }])),
    )
    expect(told?.entries).toHaveLength(4)
  })

  it('has a session for each conversation, each message after what it answers, and marks what was taken back', async () => {
    const told = await readAll(
      chatgptExport,
      memoryFileSource('x', JSON.stringify([conversation, { ...conversation, id: 'd' }])),
    )
    expect(told.map(({ session }) => session.native?.sessionId)).toEqual(['c', 'd'])
    expect(
      told[0]?.entries.slice(1).map(({ id, role, metadata }) => [id, role, metadata?.['reverted']]),
    ).toEqual([
      ['m-a', 'user', undefined],
      ['m-b', 'assistant', true],
      ['m-d', 'tool', undefined],
    ])
  })

  it('has what was spoken as text, and keeps pictures by their names', async () => {
    const content = {
      content_type: 'multimodal_text',
      parts: [
        { content_type: 'audio_transcription', text: 'hello', direction: 'in' },
        { content_type: 'image_asset_pointer', asset_pointer: 'sediment://file_1', width: 4 },
      ],
    }
    const mapping = { a: { id: 'a', children: [], message: { id: 'a', author: { role: 'user' }, content } } }
    const [told] = await readAll(
      chatgptExport,
      memoryFileSource('x', JSON.stringify([{ conversation_id: 'c', current_node: 'a', mapping }])),
    )
    expect(told?.entries[1]?.blocks).toMatchObject([
      { type: 'text', text: 'hello' },
      { type: 'unknown', raw: { asset_pointer: 'sediment://file_1' } },
    ])
    expect(JSON.stringify(told?.entries[1]?.metadata)).toContain('direction')
  })

  it('ends where a tree goes round', async () => {
    const circle = {
      ...conversation,
      mapping: { a: node('a', 'b', ['b'], 'user'), b: node('b', 'a', ['a'], 'user') },
    }
    const [told] = await readAll(chatgptExport, memoryFileSource('x', JSON.stringify([circle])))
    expect(told?.entries).toHaveLength(3)
  })
})

describe("Claude's export", () => {
  const message = (uuid: string, sender: string, more: object = {}) => ({
    uuid,
    sender,
    text: uuid,
    created_at: '2026-01-01T00:00:00Z',
    ...more,
  })

  it('has a session for each conversation, and text that is said twice once', async () => {
    const conversations = [
      {
        uuid: 'c',
        name: 't',
        chat_messages: [
          message('a', 'human'),
          message('b', 'assistant', { content: [{ type: 'text', text: 'b' }] }),
        ],
      },
      { uuid: 'd', chat_messages: [] },
    ]
    const told = await readAll(claudeExport, memoryFileSource('x', JSON.stringify(conversations)))
    expect(told.map(({ session }) => session.native?.sessionId)).toEqual(['c', 'd'])
    expect(told[0]?.entries.slice(1).map(({ role, blocks }) => [role, blocks])).toEqual([
      ['user', [{ type: 'text', text: 'a' }]],
      ['assistant', [{ type: 'text', text: 'b' }]],
    ])
  })
})

describe('captured calls', () => {
  const sse = [
    '{"type":"message_start","message":{"id":"msg_1","model":"claude","content":[],"usage":{"input_tokens":5,"output_tokens":1}}}',
    '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
    '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}',
    '{"type":"content_block_stop","index":0}',
    '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":4}}',
    '{"type":"message_stop"}',
  ]
    .map((data) => `event: ${(JSON.parse(data) as { type: string }).type}\ndata: ${data}\n\n`)
    .join('')
  const call = (messages: readonly object[]) => ({
    request: {
      method: 'POST',
      url: 'https://api.anthropic.com/v1/messages?beta=true',
      headers: { authorization: 'Bearer key', accept: '*/*' },
      timestamp: 1_767_225_600,
      body: { model: 'claude', messages },
    },
    response: { status_code: 200, headers: {}, timestamp: 1_767_225_602, body_raw: sse },
  })
  const user = { role: 'user', content: 'yo' }

  it('of claude-trace are told once and billed once, streams put together', async () => {
    const lines = [
      call([user]),
      call([
        user,
        { role: 'assistant', content: [{ type: 'text', text: 'hi' }] },
        { role: 'user', content: 'more' },
      ]),
    ]
    const [told] = await readAll(
      har,
      memoryFileSource('x.jsonl', lines.map((line) => `${JSON.stringify(line)}\n`).join('')),
    )
    const said = (told?.entries ?? []).filter(({ kind }) => kind === 'message')
    expect(said.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
    expect(said[1]).toMatchObject({
      at: '2026-01-01T00:00:02.000Z',
      usage: { input: 5, output: 4 },
      stopReason: 'end_turn',
    })
    expect(totals(told as Transcript)).toMatchObject({ calls: 1 })
    expect(JSON.stringify(told)).toContain('accept')
    expect(JSON.stringify(told)).not.toContain('Bearer key')
  })

  it('of claude-trace are told from events that it took apart, and where nothing came back', async () => {
    const events = sse
      .trim()
      .split('\n\n')
      .map((one) => ({
        event: one.slice(7, one.indexOf('\n')),
        data: JSON.parse(one.slice(one.indexOf('data: ') + 6)) as object,
      }))
    const { request } = call([user])
    const lines = [
      { request, response: { timestamp: 1_767_225_602, status_code: 200, headers: {}, events } },
      { request, response: null, note: 'orphaned', logged_at: '2026-01-01T00:00:00Z' },
    ]
    const [told] = await readAll(
      har,
      memoryFileSource('x.jsonl', lines.map((line) => `${JSON.stringify(line)}\n`).join('')),
    )
    const answers = (told?.entries ?? []).filter(({ role }) => role === 'assistant')
    expect(answers).toMatchObject([{ blocks: [{ text: 'hi' }], usage: { input: 5, output: 4 } }])
    expect(JSON.stringify(told?.entries.at(-1))).toContain('orphaned')
  })

  it('hold no key, wherever a capture has it', async () => {
    const request = {
      method: 'POST',
      url: 'https://generativelanguage.googleapis.com/v1/models/g:generateContent?alt=sse&key=sk-1',
      headers: [{ name: 'Authorization', value: 'sk-2' }],
      cookies: [{ name: 'session', value: 'sk-3' }],
      queryString: [
        { name: 'key', value: 'sk-4' },
        { name: 'alt', value: 'sse' },
      ],
      postData: { text: '{"contents":[{"role":"user","parts":[{"text":"yo"}]}]}' },
    }
    const response = {
      status: 200,
      headers: [{ name: 'Set-Cookie', value: 'sk-5' }],
      content: { text: '{}' },
    }
    const entries = [request, { ...request, url: 'https://example.com/x?token=sk-6&page=2' }].map((one) => ({
      request: one,
      response,
    }))
    const told = await readAll(
      har,
      memoryFileSource('x.har', JSON.stringify({ log: { version: '1.2', entries } })),
    )
    expect(JSON.stringify(told)).not.toContain('sk-')
    expect(JSON.stringify(told)).toContain('alt=sse')
    expect(JSON.stringify(told)).toContain('page=2')
  })

  it('of HAR files too, whatever else was captured with them', async () => {
    const { request } = call([user])
    const entries = [
      {
        startedDateTime: '2026-01-01T00:00:00.000Z',
        time: 1500,
        request: {
          method: 'POST',
          url: request.url,
          headers: [{ name: 'X-Api-Key', value: 'key-1' }],
          postData: { text: JSON.stringify(request.body) },
        },
        response: {
          status: 200,
          headers: [],
          content: { encoding: 'base64', text: Buffer.from(sse).toString('base64') },
        },
      },
      { request: { method: 'GET', url: 'https://example.com/x.png' }, response: {} },
    ]
    const [told] = await readAll(
      har,
      memoryFileSource('x.har', JSON.stringify({ log: { version: '1.2', entries } })),
    )
    expect(told?.entries.map(({ role, metadata }) => role ?? metadata?.['record'])).toEqual([
      'log',
      'user',
      'request',
      'assistant',
      'exchange',
    ])
    expect(told?.entries[3]?.at).toBe('2026-01-01T00:00:01.500Z')
    // Of any size: a large one is read call by call, with the same entries.
    const comment = 'x'.repeat(5_000_000)
    const document = { log: { version: '1.2', comment: '', entries, pages: [] } }
    const asText = (value: unknown): string =>
      JSON.stringify(value, (key, one: unknown) => (key === 'origin' || key === 'comment' ? undefined : one))
    const small = await readAll(har, memoryFileSource('x.har', JSON.stringify(document)))
    const large = { log: { ...document.log, comment, entries } }
    expect(asText(await readAll(har, memoryFileSource('x.har', JSON.stringify(large))))).toBe(asText(small))
    const cut = memoryFileSource('x.har', JSON.stringify(large).slice(0, -10))
    const [broken] = await readAll(har, cut)
    expect(broken?.damage.map(({ kind }) => kind)).toEqual(['not-json'])
    expect(JSON.stringify(told)).not.toContain('key-1')
  })
})
