import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { transcript } from '../../test/arbitrary.ts'
import { entry } from '../../test/entries.ts'
import { heldUnits, leslieCanHold } from '../../test/leslie-can-hold.ts'
import {
  assistant,
  EXAMPLE,
  facts,
  FOLDER,
  only,
  texts,
  user,
  write,
  ZONE,
} from '../../test/leslie-thread.ts'
import { files, memoryFileSource, memorySource, readAll, writeTranscript } from '../../test/memory-files.ts'
import type { Block } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import { toSlug } from './leslie-name.ts'
import { KEPT_FILES } from './leslie-write.ts'
import { leslie } from './leslie.ts'

describe("the seed's first example", () => {
  it('is read: header, queries, answers under `A:`, calls and results', async () => {
    const [found] = await readAll(leslie, memoryFileSource('20260208-1430-implement-user-login.txt', EXAMPLE))
    expect(found?.damage).toEqual([])
    expect(found?.session).toMatchObject({
      thread: 'thread-abc123',
      chat: 'chat-xyz789',
      mode: 'agent',
      startedAt: '2026-02-08T06:30:00.000Z',
      endedAt: '2026-02-08T06:35:00.000Z',
      stopReason: 'end_turn',
      status: 'completed',
    })
    expect(found?.entries.map(({ role, blocks }) => [role, ...blocks])).toEqual([
      ['user', { type: 'text', text: 'Implement user login functionality' }],
      [
        'assistant',
        {
          type: 'text',
          text: "I'll help you implement user login. Let me check the project structure first.",
        },
      ],
      ['assistant', { type: 'tool-call', name: 'list_files', input: { path: 'src' } }],
      [
        'tool',
        {
          type: 'tool-result',
          name: 'list_files',
          output: 'src/\n├── components/\n├── pages/\n└── utils/',
        },
      ],
      ['assistant', { type: 'text', text: 'I see the structure. Let me create the login component.' }],
      [
        'assistant',
        {
          type: 'tool-call',
          name: 'write_to_file',
          input: { path: 'src/components/Login.tsx', content: '...' },
        },
      ],
      ['tool', { type: 'tool-result', name: 'write_to_file', output: 'File created successfully' }],
      ['assistant', { type: 'text', text: 'Login component created successfully.' }],
    ])
    expect(found?.entries[0]?.metadata?.['leslie']).toMatchObject({ toolCalls: 5 })
  })

  it('is written back byte for byte, but for the mark that the rules spell `assistant:`', async () => {
    const [found] = await readAll(leslie, memoryFileSource('x.txt', EXAMPLE))
    const { files } = writeTranscript(leslie, found as NonNullable<typeof found>, ZONE)
    expect(only(files)).toBe(EXAMPLE.replaceAll('\nA:\n', '\nassistant:\n'))
  })

  it('has a printed name that its own rule does not give: case and every word are kept', () => {
    expect(toSlug('Implement user login functionality')).toBe('Implement-user-login-functionality')
  })

  it('reads the same with Windows line ends, a byte order mark, and no empty line below the header', async () => {
    const [plain] = await readAll(leslie, memoryFileSource('x.txt', EXAMPLE))
    const blocks = (entries: readonly Entry[] | undefined) => entries?.map((entry) => entry.blocks)
    for (const text of [
      EXAMPLE.replaceAll('\n', '\r\n'),
      `\uFEFF${EXAMPLE}`,
      EXAMPLE.replace('---\n\n', '---\n'),
    ]) {
      const [found] = await readAll(leslie, memoryFileSource('x.txt', text))
      expect(blocks(found?.entries)).toEqual(blocks(plain?.entries))
    }
  })
})

describe('the header', () => {
  it('holds Thread ID, Chat ID, Time Range, Agent Mode, Stop Reason and Tool Calls, in this order', () => {
    const call: Block = { type: 'tool-call', name: 'ls', input: {} }
    const { files: written, filled } = write([user('q'), assistant('a', call, call)], {
      stopReason: 'end_turn',
    })
    expect(only(written).split('\n').slice(0, 9)).toEqual([
      'Thread ID: thread-abc123',
      'Chat ID: chat-xyz789',
      'Time Range: 2026-02-08T14:30:00+08:00 ~ 2026-02-08T14:31:00+08:00',
      'Agent Mode: agent',
      'Stop Reason: end_turn',
      'Tool Calls: 2',
      '---',
      '',
      'user:',
    ])
    expect(filled).toEqual([])
  })

  it.each(['agent', 'plan', 'duet', 'review', 'anything else'])(
    'takes the mode %s as it is',
    async (mode) => {
      const { files: written } = write([user('q')], { mode })
      expect((await readAll(leslie, memorySource(written)))[0]?.session.mode).toBe(mode)
    },
  )

  it.each([
    ['completed', undefined, undefined, 'completed'],
    ['completed', 'max_tokens', 'max_tokens', 'completed'],
    ['canceled', undefined, 'cancelled', 'canceled'],
    ['canceled', 'canceled', 'cancelled', 'canceled'],
    ['interrupted', undefined, 'interrupted', 'interrupted'],
    ['failed', 'end_turn', 'error', 'failed'],
  ] as const)('says a %s session with reason %s as %s', async (status, stopReason, line, back) => {
    const { files: written } = write([user('q')], { status, ...(stopReason && { stopReason }) })
    expect(/^Stop Reason: (.*)$/m.exec(only(written))?.[1]).toBe(line)
    expect((await readAll(leslie, memorySource(written)))[0]?.session.status).toBe(back)
  })

  it("gives each unit its own reason: its last answer's", () => {
    const answer = { ...assistant('a'), stopReason: 'max_tokens' }
    const { files: written } = write([user('one'), answer, user('two')], { status: 'canceled' })
    const reasons = texts(written).map((text) => /^Stop Reason: (.*)$/m.exec(text)?.[1])
    expect(reasons).toEqual(['max_tokens', 'cancelled'])
  })

  it('fills what is required and absent, and says so; the same session gets the same ids', () => {
    const { thread: _1, chat: _2, mode: _3, startedAt: _4, ...bare } = facts
    const once = writeTranscript(leslie, { session: bare, entries: [entry('user', undefined, 'q')] }, ZONE)
    const again = writeTranscript(leslie, { session: bare, entries: [entry('user', undefined, 'q')] }, ZONE)
    expect(once.filled.map(({ what }) => what)).toEqual(['Thread ID', 'Chat ID', 'Agent Mode', 'Time Range'])
    expect(only(once.files)).toMatch(/^Thread ID: thread-[0-9a-f]{8}\nChat ID: chat-[0-9a-f]{8}\n/)
    expect(only(once.files)).toContain('Time Range: 1970-01-01T08:00:00+08:00 ~ 1970-01-01T08:00:00+08:00')
    expect([...again.files]).toEqual([...once.files])
  })

  it('stays one line a field, whatever a value holds', async () => {
    const { files: written } = write([user('q')], { chat: 'a\n---\nb', mode: 'x\r\ny' })
    const [found] = await readAll(leslie, memorySource(written))
    expect(found?.session).toMatchObject({ chat: 'a --- b', mode: 'x y' })
  })

  it('keeps lines that others added', async () => {
    const text = EXAMPLE.replace('---\n', 'Branch: main\n---\n').replaceAll('\nA:\n', '\nassistant:\n')
    const [found] = await readAll(leslie, memoryFileSource('x.txt', text))
    expect(only(writeTranscript(leslie, found as NonNullable<typeof found>, ZONE).files)).toBe(text)
  })
})

describe('messages', () => {
  it('are written as the table of formatting rules says', () => {
    const { files: written } = write([
      user('question'),
      assistant('answer', { type: 'tool-call', callId: 'c1', name: 'read_file', input: { path: 'a' } }),
      entry('tool', undefined, { type: 'tool-result', callId: 'c1', output: 'text' }),
      entry(undefined, undefined, { type: 'error', message: 'it broke' }),
    ])
    expect(only(written).split('---\n\n')[1]).toBe(
      'user:\n<user_query>\nquestion\n</user_query>\n\nassistant:\nanswer\n\n' +
        '[Tool call] read_file\n{"path": "a"}\n\n[Tool result] read_file\ntext\n\n[Error]\nit broke\n',
    )
  })

  it("end with the session's error, once", () => {
    const failed = { status: 'failed', error: 'it broke' } as const
    const said = entry(undefined, undefined, { type: 'error', message: 'it broke' })
    for (const entries of [[user('q')], [user('q'), said]]) {
      expect(only(write(entries, failed).files).match(/\[Error\]\nit broke/g)).toHaveLength(1)
    }
  })

  it('report what the text cannot hold, entry by entry', () => {
    const noted = [
      entry('system', undefined, 'be good'),
      user('q'),
      assistant({ type: 'thinking', text: 'hm' }, { type: 'image', url: 'x' }),
      entry('tool', undefined, { type: 'tool-result', name: 'x', output: 'no', isError: true }),
      { ...assistant('a'), source: 'subagent:a1' },
      { ...assistant('a'), model: 'm', durationMs: 5 },
    ]
    const { lost } = write(noted)
    const by = (at: number): string[] =>
      lost.filter(({ entry }) => entry === noted[at]?.id).map(({ what }) => what)
    expect(by(0)).toEqual(['the whole entry: it comes before the first user message'])
    expect(by(1)).toEqual(['entry id'])
    expect(by(2)).toEqual(['the whole entry: thinking, an image'])
    expect(by(3)).toEqual(['entry id, that the tool failed'])
    expect(by(4)).toEqual(['the whole entry: leslie holds the primary source'])
    expect(by(5)).toEqual(['entry id, time, model, duration'])
  })

  it('take a query whole that holds the closing tag, or a mark', async () => {
    for (const query of [
      '</user_query>',
      'a\n</user_query>\nb',
      'a\n</user_query>\nb\n\nassistant:\nnot me',
      'a\n\nassistant:\nnot me',
      '[Tool call] x\n{}',
      '\n\n',
    ]) {
      const { files: written, lost } = write([user(query), assistant('yes')])
      const [found] = await readAll(leslie, memorySource(written))
      expect(found?.entries.map(({ blocks }) => blocks)).toEqual([
        [{ type: 'text', text: query }],
        [{ type: 'text', text: 'yes' }],
      ])
      expect(lost.filter(({ what }) => what.includes('mark'))).toEqual([])
    }
  })

  it('say so when a text will not read back as itself', () => {
    const { lost } = write([user('</user_query>\n\nassistant:\nx'), assistant('a\n\n[Error]\nb')])
    expect(lost.filter(({ what }) => what.includes('reads as a mark'))).toHaveLength(2)
  })
})

describe('conversation units', () => {
  it('are written when the next user message arrives, and the last at the end', () => {
    const writing = leslie.write?.begin(facts, {
      taken: () => false,
      lost() {},
      filled() {},
      version: 'x',
      timeZone: 'UTC',
    })
    expect(writing?.start()).toEqual([])
    expect(writing?.entry(user('one'))).toEqual([])
    expect(writing?.entry(assistant('a'))).toEqual([])
    expect(writing?.entry(user('two')).map(({ op }) => op)).toEqual(['write', 'prune'])
    expect(writing?.end({ ...facts, status: 'interrupted' }).map(({ op }) => op)).toEqual(['write', 'prune'])
  })

  it('do not begin at a tool result that is written as the user, and keep what stands beside it', async () => {
    const result: Block = { type: 'tool-result', callId: 'c', name: 'ls', output: 'x' }
    const { files: written } = write([user('one'), entry('user', undefined, result, 'and hurry')])
    const [found] = await readAll(leslie, memorySource(written))
    expect(written.size).toBe(1)
    expect(found?.entries.map(({ role }) => role)).toEqual(['user', 'user', 'tool'])
  })

  it('come back as one session in order of their time, whatever their names', async () => {
    const { files: written } = write([
      user('zebra', '2026-02-08T06:30:01.000Z'),
      assistant('1'),
      user('apple', '2026-02-08T06:30:02.500Z'),
      assistant('2'),
    ])
    const found = await readAll(leslie, memorySource(written))
    expect(found).toHaveLength(1)
    expect(found[0]?.entries.map(({ blocks }) => blocks[0])).toEqual(
      ['zebra', '1', 'apple', '2'].map((text) => ({ type: 'text', text })),
    )
    expect(found[0]?.entries.map(({ sequence }) => sequence)).toEqual([0, 1, 2, 3])
    expect(found[0]?.entries[2]?.at).toBe('2026-02-08T06:30:02.500Z')
  })

  it('of other chats and threads are other sessions', async () => {
    const other = EXAMPLE.replace('chat-xyz789', 'chat-other')
    const found = await readAll(
      leslie,
      memorySource(files({ 'a.txt': EXAMPLE, 'b.txt': other, 'c.txt': EXAMPLE })),
    )
    expect(found.map(({ entries }) => entries.length)).toEqual([16, 8])
  })

  it('beyond the newest 50 of a thread are deleted, oldest first, and reported', () => {
    const minute = (n: number): string => new Date(Date.UTC(2026, 1, 8, 6, n)).toISOString()
    const target = files({ [`${FOLDER}/20250101-0000-old.txt`]: 'x', [`${FOLDER}/notes.md`]: 'kept' })
    const units = Array.from({ length: KEPT_FILES + 2 }, (_, n) => user('q', minute(n)))
    const { lost } = write(units, {}, target)
    const names = [...target.keys()]
      .filter((path) => path.endsWith('.txt'))
      .map((path) => path.split('/').at(-1))
    expect(names).toHaveLength(KEPT_FILES)
    expect(names[0]).toBe('20260208-1402-q.txt')
    expect(target.has(`${FOLDER}/notes.md`)).toBe(true)
    expect(
      lost.filter(({ what }) => what.includes('newest 50')).map(({ what }) => what.slice(0, 19)),
    ).toEqual(['20260208-1400-q.txt', '20260208-1401-q.txt'])
  })
})

describe('any transcript', () => {
  it('reads back as what leslie can hold', async () => {
    await fc.assert(
      fc.asyncProperty(transcript, async (any) => {
        const { files: written, lost } = writeTranscript(leslie, any, { timeZone: 'Europe/Berlin' })
        fc.pre(!lost.some(({ what }) => what.includes('reads as a mark')))
        const found = await readAll(leslie, memorySource(written))
        const expected = leslieCanHold(any)
        expect(found.length).toBe(expected.units.length === 0 ? 0 : 1)
        const [first] = found
        if (first === undefined) return
        expect(heldUnits(first.entries)).toEqual(expected.units)
        expect(first.damage).toEqual([])
        expect(first.session.mode).toBe(expected.mode)
        if (expected.thread !== undefined) expect(first.session.thread).toBe(expected.thread)
        if (expected.chat !== undefined) expect(first.session.chat).toBe(expected.chat)
      }),
      { numRuns: 300 },
    )
  })

  it('keeps status and error where its units follow the clock', async () => {
    await fc.assert(
      fc.asyncProperty(transcript, async (any) => {
        const entries = any.entries.map((entry, index) => ({
          ...entry,
          at: new Date(Date.UTC(2026, 0, 1, 0, index)).toISOString(),
        }))
        const { files: written, lost } = writeTranscript(leslie, { ...any, entries }, { timeZone: 'UTC' })
        fc.pre(written.size > 0 && !lost.some(({ what }) => what.includes('reads as a mark')))
        const [found] = await readAll(leslie, memorySource(written))
        const { status, error } = leslieCanHold({ ...any, entries })
        expect(found?.session.status).toBe(status)
        expect(found?.session.error).toBe(error)
      }),
      { numRuns: 200 },
    )
  })

  it('is written the same live and afterwards', () => {
    fc.assert(
      fc.property(transcript, (any) => {
        const after = writeTranscript(leslie, any, ZONE)
        const live = writeTranscript(leslie, any, { ...ZONE, live: true })
        expect([...live.files]).toEqual([...after.files])
      }),
      { numRuns: 100 },
    )
  })
})

describe('reading', () => {
  it('knows its files by their header, never by their name', async () => {
    expect(await leslie.detect(memoryFileSource('notes.md', EXAMPLE))).toMatchObject({ confidence: 0.95 })
    expect(await leslie.detect(memoryFileSource('20260208-1430-x.txt', 'hello'))).toBeUndefined()
    expect(await leslie.detect(memorySource(files({ 'a/b.txt': EXAMPLE })))).toBeDefined()
    expect(await leslie.detect(memorySource(files({ 'a/b.txt': 'x', 'c.json': '{}' })))).toBeUndefined()
  })

  it('covers every line of a file with an origin, the header with the first', async () => {
    const bytes = Buffer.from(EXAMPLE)
    const [found] = await readAll(leslie, memoryFileSource('x.txt', bytes))
    let covered = 0
    for (const { origin } of found?.entries ?? []) {
      const between = bytes.subarray(covered, origin?.byteOffset).toString()
      expect(between.trim()).toBe('')
      covered = (origin?.byteOffset ?? 0) + (origin?.byteLength ?? 0)
    }
    expect(bytes.subarray(covered).toString().trim()).toBe('')
    const call = found?.entries[2]?.origin
    expect(
      bytes.subarray(call?.byteOffset, (call?.byteOffset ?? 0) + (call?.byteLength ?? 0)).toString(),
    ).toBe('[Tool call] list_files\n{"path": "src"}')
  })

  it('goes on wherever a file was cut off, and covers what is left', async () => {
    const bytes = Buffer.from(EXAMPLE)
    for (let size = 1; size <= bytes.length; size += 1) {
      const [found] = await readAll(leslie, memoryFileSource('x.txt', bytes.subarray(0, size)))
      const last = found?.entries.at(-1)?.origin
      const end = (last?.byteOffset ?? 0) + (last?.byteLength ?? 0)
      const isCovered = bytes.subarray(end, size).toString().trim() === ''
      expect(isCovered || (found?.damage.length ?? 0) > 0 || found?.entries.length === 1).toBe(true)
    }
  })

  it('keeps text that no mark introduces, as unknown', async () => {
    const [found] = await readAll(
      leslie,
      memoryFileSource('x.txt', EXAMPLE.replace('---\n\n', '---\n\nstray\ntext\n\n')),
    )
    expect(found?.entries[0]?.blocks).toEqual([{ type: 'unknown', raw: 'stray\ntext' }])
    expect(found?.entries).toHaveLength(9)
  })

  it('reports a file without a header where a transcript should be, and passes over those elsewhere', async () => {
    const found = await readAll(
      leslie,
      memorySource(files({ 't/transcripts/a.txt': 'hello', 'readme.txt': 'hello' })),
    )
    expect(found).toHaveLength(1)
    expect(found[0]?.damage.map(({ kind }) => kind)).toEqual(['not-an-entry'])
    expect(found[0]?.entries[0]?.blocks).toEqual([{ type: 'unknown', raw: 'hello' }])
  })

  it('does not let an unclosed query swallow the next', async () => {
    const body = 'user:\n<user_query>\none\n\nassistant:\nyes\n\nuser:\n<user_query>\ntwo\n</user_query>\n'
    const [found] = await readAll(
      leslie,
      memoryFileSource('x.txt', `${EXAMPLE.split('---\n')[0]}---\n\n${body}`),
    )
    expect(found?.entries.map(({ blocks }) => blocks[0])).toEqual(
      ['one', 'yes', 'two'].map((text) => ({ type: 'text', text })),
    )
  })

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['NULs', Buffer.alloc(5000)],
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x00, 0xc3, 0x28, 0x0a, 0x80])],
    ['only newlines', Buffer.alloc(500_000, '\n')],
    ['many marks', Buffer.from('\n\nuser:\n<user_query>'.repeat(50_000))],
    ['many closings', Buffer.from(`user:\n<user_query>${'\n</user_query>'.repeat(50_000)}`)],
    ['5 MB in one line', Buffer.alloc(5_000_000, 'x')],
    ['a header with a foreign name', Buffer.from('Thread ID: x\n__proto__: y\nconstructor: z\n---\n')],
  ])('takes %s without an exception', async (_, bytes) => {
    for (const head of ['', EXAMPLE.split('\nuser:')[0] as string]) {
      const found = await readAll(
        leslie,
        memoryFileSource('x.txt', Buffer.concat([Buffer.from(head), bytes])),
      )
      for (const { entries, damage } of found) expect(entries.length + damage.length).toBeGreaterThan(0)
    }
  })

  it('reads any bytes at all without an exception', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), fc.boolean(), async (bytes, headed) => {
        const head = headed ? (EXAMPLE.split('\nA:')[0] as string) : ''
        await readAll(leslie, memoryFileSource('x.txt', Buffer.concat([Buffer.from(head), bytes])))
      }),
    )
  })
})
