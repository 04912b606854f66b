import { describe, expect, it } from 'vitest'
import { memoryFileSource, memorySource, readAll, writeTranscript } from '../../test/memory-files.ts'
import type { Block } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import { parseJson, toJson, type Json } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import { anthropicMessages } from './anthropic-messages.ts'
import type { Format } from './format.ts'
import { openAiChat } from './openai-chat.ts'
import { vercelUiMessages } from './vercel-ui-messages.ts'

const SESSION: Session = { id: 's1', status: 'completed', title: 'A look' }
let sequence = 0
const entry = (role: Entry['role'], blocks: readonly Block[], more: Partial<Entry> = {}): Entry => {
  sequence += 1
  return {
    id: `e${sequence}`,
    source: 'primary',
    sequence,
    kind: 'message',
    ...(role && { role }),
    blocks,
    ...more,
  }
}
const text = (said: string): Block => ({ type: 'text', text: said })
const call = (id: string): Block => ({ type: 'tool-call', callId: id, name: 'look', input: { at: id } })
const result = (id: string): Block => ({ type: 'tool-result', callId: id, name: 'look', output: `saw ${id}` })
const one = { call: { provider: 'anthropic', messageId: 'm1' } }
const ENTRIES: readonly Entry[] = [
  entry('system', [text('Be brief.')]),
  entry('user', [text('Look.')]),
  // Two calls made at once, an entry each, as Claude Code's log has them.
  entry('assistant', [{ type: 'thinking', text: 'hm' }, text('Looking.')], {
    ...one,
    model: 'claude-x',
    at: '2026-01-01T00:00:00.000Z',
  }),
  entry('assistant', [call('c1')], one),
  entry('assistant', [call('c2')], one),
  entry('tool', [result('c1')]),
  entry('tool', [result('c2')]),
  entry('assistant', [text('Two trees.')], { call: { messageId: 'm2' } }),
]
const write = (format: Format, entries: readonly Entry[], session = SESSION) => {
  const written = writeTranscript(format, { session, entries })
  return {
    ...written,
    values: [...written.files].map(([path, bytes]) => [path, parseJson(bytes.toString('utf8'))] as const),
  }
}
const said = async (format: Format, entries: readonly Entry[]) => {
  const sessions = await readAll(format, memorySource(write(format, entries).files))
  return sessions.flatMap((found) =>
    found.entries.filter(({ kind }) => kind === 'message').map(({ role, blocks }) => ({ role, blocks })),
  )
}

describe('a session as messages of OpenAI', () => {
  it('is a line of a training set, with calls that were made at once before their results', () => {
    const { files, values } = write(openAiChat, ENTRIES)
    expect(files.get('s1.jsonl')?.toString('utf8').match(/\n/g)).toHaveLength(1)
    const tool = (id: string): Json => ({
      id,
      type: 'function',
      function: { name: 'look', arguments: `{"at":"${id}"}` },
    })
    expect(values[0]?.[1]).toEqual({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Look.' },
        {
          role: 'assistant',
          reasoning_content: 'hm',
          content: 'Looking.',
          tool_calls: [tool('c1'), tool('c2')],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'saw c1' },
        { role: 'tool', tool_call_id: 'c2', content: 'saw c2' },
        { role: 'assistant', content: 'Two trees.' },
      ],
    })
  })

  it('tells which entries became one message, and of what has no place', () => {
    const { lost } = write(openAiChat, ENTRIES)
    const of = (index: number): string =>
      lost
        .filter((note) => note.entry === ENTRIES[index]?.id)
        .map(({ what }) => what)
        .join('; ')
    for (const index of [2, 3, 4]) expect(of(index)).toContain('that it is an entry of its own')
    expect(of(2)).toContain('model')
    expect(lost.find((note) => note.entry === undefined && note.what === 'title')).toBeDefined()
  })

  it('has arguments that were no JSON as the model wrote them, and images in place', async () => {
    const entries = [
      entry('assistant', [{ type: 'tool-call', callId: 'c', name: 'x', input: '{"half' }]),
      entry('user', [{ type: 'image', mediaType: 'image/png', data: 'QUJD' }, text('this')]),
    ]
    expect(await said(openAiChat, entries)).toEqual(entries.map(({ role, blocks }) => ({ role, blocks })))
  })
})

describe("a session as Anthropic's messages", () => {
  it('has its system prompt outside, and results as the user’s', () => {
    expect(write(anthropicMessages, ENTRIES).values[0]?.[1]).toMatchObject({
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Look.' }] },
        { role: 'assistant', content: [{ type: 'thinking', thinking: 'hm' }, { type: 'text' }] },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'look', input: { at: 'c1' } }] },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c2' }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'saw c1' }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c2' }] },
        { role: 'assistant' },
      ],
    })
  })

  it('reads back entry by entry', async () => {
    const back = await said(anthropicMessages, ENTRIES)
    expect(back.map(({ role, blocks }) => [role, blocks.map(({ type }) => type)])).toEqual(
      ENTRIES.map(({ role, blocks }) => [role, blocks.map(({ type }) => type)]),
    )
  })

  it('puts back what it read: blocks that nobody understood, and what they say beyond the model', async () => {
    const request: Json = {
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a', cache_control: { type: 'ephemeral' } },
            { type: 'document', source: { type: 'file' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'server_tool_use', id: 's', name: 'web', input: {} },
            { type: 'tool_use', id: 'c', name: 'x', input: {} },
          ],
        },
      ],
    }
    const [read] = await readAll(anthropicMessages, memoryFileSource('x', toJson(request)))
    const { values, lost } = write(anthropicMessages, read?.entries ?? [], read?.session)
    expect(values[0]?.[1]).toEqual(request)
    expect(lost.filter(({ entry: of }) => of !== undefined)).toEqual([])
  })
})

describe('a session as UI messages', () => {
  it('has what a tool returned in its call’s part', () => {
    const parts = (index: number): Json | undefined => {
      const list = write(vercelUiMessages, ENTRIES).values[0]?.[1] as readonly { readonly parts: Json }[]
      return list[index]?.parts
    }
    expect(parts(2)).toEqual([
      { type: 'step-start' },
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'Looking.' },
    ])
    expect(parts(3)).toEqual([
      { type: 'step-start' },
      {
        type: 'dynamic-tool',
        toolName: 'look',
        toolCallId: 'c1',
        state: 'output-available',
        input: { at: 'c1' },
        output: 'saw c1',
      },
    ])
  })

  it('keeps times, models and counts where the SDK’s examples put them', async () => {
    const answer = entry('assistant', [text('a')], {
      at: '2026-01-01T00:00:00.000Z',
      model: 'm',
      usage: { input: 6, cacheRead: 4, output: 3, reasoning: 1, quality: 'reported' },
    })
    const [back] = await readAll(vercelUiMessages, memorySource(write(vercelUiMessages, [answer]).files))
    expect(back?.entries[0]).toMatchObject({
      id: answer.id,
      at: answer.at,
      model: 'm',
      usage: { input: 6, cacheRead: 4, output: 3, reasoning: 1 },
    })
  })

  it('tells of a result that came out of its order, and of one that no call waits for', () => {
    const { lost } = write(vercelUiMessages, [entry('tool', [result('cx')]), ...ENTRIES])
    expect(lost.map(({ what }) => what).join('\n')).toContain('no call that waits for its result')
    expect(lost.find(({ entry: of }) => of === ENTRIES[5]?.id)?.what).toContain('its place in the order')
  })
})

describe('every list of messages', () => {
  it.each([openAiChat, anthropicMessages, vercelUiMessages])('of $id has a file for each agent', (format) => {
    const entries = [...ENTRIES, entry('user', [text('task')], { source: 'subagent:a' })]
    expect(write(format, entries).files.size).toBe(2)
    expect(write(format, []).files.size).toBe(0)
    expect(write(format, []).lost.map(({ what }) => what)).toEqual([
      'the whole session: nothing in it is a message',
    ])
  })

  it.each([openAiChat, anthropicMessages, vercelUiMessages])(
    'of $id gives calls ids where there were none',
    async (format) => {
      const entries = [
        entry('assistant', [{ type: 'tool-call', name: 'x', input: {} }]),
        entry('tool', [{ type: 'tool-result', output: 'y' }]),
      ]
      const { filled } = write(format, entries)
      expect(filled.map(({ what }) => what)).toEqual(['tool call id'])
      const ids = (await said(format, entries)).flatMap(({ blocks }) =>
        blocks.flatMap((block) => ('callId' in block ? [block.callId] : [])),
      )
      expect(ids).toEqual(['call_1', 'call_1'])
    },
  )

  it.each([openAiChat, anthropicMessages, vercelUiMessages])('of $id reports events', (format) => {
    const event: Entry = {
      id: 'x',
      source: 'primary',
      sequence: 0,
      kind: 'event',
      blocks: [{ type: 'unknown', raw: 1 }],
    }
    expect(write(format, [event, ...ENTRIES]).lost.find(({ entry: of }) => of === 'x')?.what).toMatch(
      /^the whole entry/,
    )
  })
})
