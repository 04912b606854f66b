import { describe, expect, it } from 'vitest'
import { OTHER, SESSION, assistant, line, read, readOne, text, wrapper } from '../../test/claude-lines.ts'
import { files, memoryFileSource, memorySource, readAll } from '../../test/memory-files.ts'
import { uuidFrom } from '../transcript/ids.ts'
import type { JsonObject } from '../transcript/json.ts'
import { RECORD_LIMIT } from '../transcript/lines.ts'
import { createCallFold } from '../transcript/totals.ts'
import { claudeCode } from './claude-code.ts'

describe('lines', () => {
  it('of one message are entries that share its call, billed once by the last report', async () => {
    const { entries } = await read(
      assistant('a1', { type: 'thinking', thinking: 'hm', signature: 's' }),
      assistant(
        'a2',
        { type: 'tool_use', id: 't1', name: 'Bash', input: {} },
        {
          stop_reason: 'tool_use',
          usage: { input_tokens: 3, output_tokens: 40 },
        },
      ),
    )
    const call = { provider: 'anthropic', requestId: 'req_1', messageId: 'msg_1' }
    expect(entries.map((entry) => entry.call)).toEqual([call, call])
    expect(entries.map(({ usage }) => usage?.quality)).toEqual(['partial', 'reported'])
    const fold = createCallFold()
    for (const entry of entries) fold.add(entry)
    expect(fold.totals()).toMatchObject({ calls: 1, usage: { input: 3, output: 40, quality: 'reported' } })
  })

  it('of only tool results have role tool, of anything more role user', async () => {
    const result = { type: 'tool_result', tool_use_id: 't1', content: 'ok' }
    const { entries } = await read(
      line('u1', { message: { role: 'user', content: [result] }, toolUseResult: { stdout: 'ok' } }),
      line('u2', { message: { role: 'user', content: [result, { type: 'text', text: 'and' }] } }),
      line('u3', { message: { role: 'user', content: [] } }),
    )
    expect(entries.map(({ role }) => role)).toEqual(['tool', 'user', 'user'])
    expect(entries[0]?.metadata).toMatchObject({ toolUseResult: { stdout: 'ok' } })
  })

  it('that are no messages are events with the record whole', async () => {
    const records: JsonObject[] = [
      { type: 'file-history-snapshot', messageId: 'm', snapshot: {} },
      {
        ...wrapper,
        type: 'system',
        subtype: 'turn_duration',
        durationMs: 5,
        uuid: 's1',
        timestamp: '2026-02-10T10:00:02.000Z',
      },
      { type: 'novelty', sessionId: SESSION, x: [1] },
      { silly: 'this' },
    ]
    const { entries } = await read(...records, 'massive error', 42)
    expect(entries.map(({ kind }) => kind)).toEqual(Array(6).fill('event'))
    expect(entries.map(({ blocks }) => blocks[0])).toEqual(
      [...records, 'massive error', 42].map((raw) => ({ type: 'unknown', raw })),
    )
    expect(entries.map(({ metadata }) => metadata?.['record'])).toEqual([
      'file-history-snapshot',
      'system',
      'novelty',
      undefined,
      undefined,
      undefined,
    ])
    expect(entries[1]).toMatchObject({ id: 's1', parent: null, at: '2026-02-10T10:00:02.000Z' })
  })

  it('that no provider sent name no model and no usage', async () => {
    const { entries } = await read(
      assistant(
        'a1',
        { type: 'text', text: 'API Error' },
        { model: '<synthetic>', usage: { input_tokens: 0 } },
      ),
    )
    expect(entries[0]?.model).toBeUndefined()
    expect(entries[0]?.usage).toBeUndefined()
    expect(entries[0]?.metadata).toMatchObject({
      message: { model: '<synthetic>', usage: { input_tokens: 0 } },
    })
  })

  it('that were copied keep their place under an id of their own', async () => {
    const { entries } = await read(line('u1', {}), line('u1', {}), line('primary/1', {}), line('', {}))
    expect(entries.map(({ id }) => id)).toEqual(['u1', 'primary/1', 'primary/2', 'primary/3'])
    expect(entries.map(({ sequence }) => sequence)).toEqual([0, 1, 2, 3])
    expect(entries[1]?.metadata).toMatchObject({ uuid: 'u1' })
  })

  it('keep their time to the digit, and one that is none', async () => {
    const times = [
      '2026-02-10T10:00:01.123456Z',
      '2026-02-31T10:00:01.123Z',
      '2026-13-01T10:00:01.123Z',
      'noon',
      null,
    ]
    const { entries } = await read(...times.map((timestamp, index) => line(`u${index}`, { timestamp })))
    expect(entries.map(({ at }) => at)).toEqual([
      '2026-02-10T10:00:01.123456Z',
      '2026-03-03T10:00:01.123Z',
      undefined,
      undefined,
      undefined,
    ])
    expect(entries.map(({ metadata }) => metadata?.['timestamp'])).toEqual([undefined, ...times.slice(1)])
  })
})

describe('a session', () => {
  it('is what its lines say, whichever comes first', async () => {
    const { session } = await read(
      { type: 'summary', summary: 'of another', leafUuid: 'elsewhere' },
      { type: 'mode', mode: 'normal', sessionId: SESSION },
      line('u1', { timestamp: '2026-02-10T10:00:05.000Z' }),
      assistant('a1', { type: 'text', text: 'hi' }),
      line('u2', { timestamp: '2026-02-10T10:00:03.000Z', cwd: '/elsewhere' }),
    )
    expect(session).toMatchObject({
      native: { agent: 'claude-code', sessionId: SESSION },
      agent: 'claude-code',
      cwd: '/p',
      git: { branch: 'main' },
      version: '2.1.42',
      model: 'claude-opus-4-5',
      startedAt: '2026-02-10T10:00:01.123Z',
      endedAt: '2026-02-10T10:00:05.000Z',
    })
    expect(session.title).toBeUndefined()
  })

  it.each([
    [
      'the last name that a person gave',
      [
        { type: 'custom-title', customTitle: 'b' },
        { type: 'ai-title', aiTitle: 'a' },
      ],
      'b',
    ],
    [
      'the title that the agent made',
      [
        { type: 'ai-title', aiTitle: 'a' },
        { type: 'ai-title', aiTitle: 'a2' },
      ],
      'a2',
    ],
    ['a summary of one of its own lines', [{ type: 'summary', summary: 's', leafUuid: 'u1' }], 's'],
  ])('is titled by %s', async (_, records, title) => {
    expect((await read(...records, line('u1', {}))).session.title).toBe(title)
  })

  it('that was forked is the one its file is named after, and its copied lines say whose they were', async () => {
    const { session, entries } = await read(line('u1', { sessionId: OTHER }), line('u2', {}))
    expect(session.native?.sessionId).toBe(SESSION)
    expect(entries.map(({ metadata }) => metadata?.['sessionId'])).toEqual([OTHER, undefined])
    expect(session.parent).toEqual({ session: uuidFrom('claude-code', OTHER), relation: 'resume' })
  })

  it('that was branched says of each copied line where it is from, and comes from there', async () => {
    const forkedFrom = { sessionId: OTHER, messageUuid: 'u1' }
    const { session } = await read(line('u1', { forkedFrom }), line('u2', {}))
    expect(session.native?.sessionId).toBe(SESSION)
    expect(session.parent).toEqual({ session: uuidFrom('claude-code', OTHER), relation: 'fork' })
    expect((await read(line('u1', {}), line('u2', { sessionId: OTHER }))).session.parent).toBeUndefined()
  })

  it('of state records alone is still one', async () => {
    const { session, entries } = await read({ type: 'file-history-snapshot', messageId: 'm', snapshot: {} })
    expect(session.native).toBeUndefined()
    expect(entries).toHaveLength(1)
  })
})

describe('subagents', () => {
  it('are sources of their session, in whatever way the version laid them down', async () => {
    const agent = (uuid: string, facts: JsonObject): JsonObject => line(uuid, { isSidechain: true, ...facts })
    const source = memorySource(
      files({
        [`p/${SESSION}.jsonl`]: text(
          line('u1', {}),
          agent('s1', {}),
          agent('s2', { parentUuid: 's1' }),
          agent('s3', {}),
        ),
        [`p/${SESSION}/subagents/agent-b2.jsonl`]: text(agent('b1', { agentId: 'b2' })),
        [`p/${SESSION}/subagents/agent-b2.meta.json`]: '{"agentType":"Explore"}',
        'p/agent-c3.jsonl': text(agent('c1', { agentId: 'c3' })),
        'p/agent-d4.jsonl': text(agent('d1', { agentId: 'd4', sessionId: OTHER })),
      }),
    )
    const all = await readAll(claudeCode, source)
    expect(
      all.map(({ session, entries }) => [session.native?.sessionId, entries.map(({ source }) => source)]),
    ).toEqual([
      [
        SESSION,
        [
          'primary',
          'subagent:sidechain-s1',
          'subagent:sidechain-s1',
          'subagent:sidechain-s3',
          'subagent:b2',
          'subagent:b2',
          'subagent:c3',
        ],
      ].map((value, index) => (index === 1 ? expect.arrayContaining(value as string[]) : value)),
      [OTHER, ['subagent:d4']],
    ])
    expect(all[0]?.entries.find(({ metadata }) => metadata?.['record'] === 'agent-meta')?.blocks[0]).toEqual({
      type: 'unknown',
      raw: { agentType: 'Explore' },
    })
  })
})

describe('detection', () => {
  it.each([
    ['lines of a session', text(line('u1', {})), 0.95],
    ['state records only', text({ type: 'mode', mode: 'x', sessionId: 's' }), 0.7],
    ['Qwen’s wrapper', text(line('u1', { message: { role: 'user', parts: [] } })), undefined],
    ['iFlow’s wrapper', text(line('u1', { sessionId: 'session-1' })), undefined],
    [
      'forgeflare’s dialect',
      text({
        type: 'user',
        sessionId: '2026-02-10-x',
        uuid: 'u',
        parentUuid: null,
        version: '1',
        message: { content: '' },
      }),
      undefined,
    ],
    ['names and links only', text({ type: 'agent-name', agentName: 'x', sessionId: 's' }), 0.7],
    ['another program’s mode', text({ type: 'mode', value: 'dark' }), undefined],
    ['another program’s summary', text({ type: 'summary', total: 3 }), undefined],
    ['nothing', '', undefined],
    ['binary', Buffer.from([0, 255, 10, 7]), undefined],
  ])('of %s', async (_, content, confidence) => {
    expect((await claudeCode.detect(memoryFileSource('x.jsonl', content)))?.confidence).toBe(confidence)
  })
})

describe('a log by itself', () => {
  it('is opened at once where facts are asked for, and else only for what is read of it', async () => {
    const [file] = await memoryFileSource('x.jsonl', text(line('u1', {}))).list()
    if (file === undefined) throw new Error('no file')
    let opened = 0
    const counted = {
      ...file,
      atOnce: () => {
        opened += 1
        return undefined
      },
    }
    const source = { ...memoryFileSource('x.jsonl', ''), list: async () => [counted] }
    for await (const items of claudeCode.read(source)) expect(items.length).toBeGreaterThan(0)
    expect(opened).toBe(0)
    for await (const items of claudeCode.read(source, { isForFacts: true }))
      expect(items.length).toBeGreaterThan(0)
    expect(opened).toBe(1)
  })
})

describe('bad files', () => {
  it('cost the line that is bad, in its place', async () => {
    const content = `${text(line('u1', {}))}{"type":"us\n${text(line('u2', {}))}\0\0\0\n${text(line('u3', {})).slice(0, 40)}`
    const { entries, damage } = await readOne(memoryFileSource('x.jsonl', content))
    expect(entries.map(({ id }) => id)).toEqual(['u1', 'u2'])
    expect(damage.map(({ kind, line }) => [kind, line])).toEqual([
      ['not-json', 2],
      ['nul', 4],
      ['torn', 5],
    ])
  })

  it('a record over the limit is damage and one unknown, and the rest is read', async () => {
    const huge = Buffer.alloc(RECORD_LIMIT + 1, 'x')
    const content = Buffer.concat([
      Buffer.from(text(line('u1', {}))),
      huge,
      Buffer.from(`\n${text(line('u2', {}))}`),
    ])
    const { entries, damage } = await readOne(memoryFileSource('x.jsonl', content, { chunkBytes: 1 << 20 }))
    expect(damage.map(({ kind }) => kind)).toEqual(['too-large'])
    expect(entries.map(({ id }) => id)).toEqual(['u1', 'primary/1', 'u2'])
    expect(entries[1]?.blocks[0]).toMatchObject({
      type: 'unknown',
      raw: null,
      reason: expect.stringContaining('over'),
    })
  })
})
