import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { transcript } from '../../test/arbitrary.ts'
import { files, memoryFileSource, memorySource, readAll, writeTranscript } from '../../test/memory-files.ts'
import { weakincentivesCanHold } from '../../test/weakincentives-can-hold.ts'
import type { Entry } from '../transcript/entry.ts'
import type { JsonObject } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import type { Transcript } from '../transcript/transcript.ts'
import { FIELDS, FILE_NAME } from './weakincentives-entry.ts'
import { weakincentives } from './weakincentives.ts'

const UUID = '00000000-0000-4000-8000-00000000000'
const VERSION_4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const session: Session = { id: `${UUID}f`, status: 'completed' }

const slice = (number: number, facts: JsonObject = {}): JsonObject => ({
  role: 'user',
  content: 'Please review the code in src/main.py',
  created_at: '2026-01-05T09:15:32+00:00',
  tool_name: null,
  tool_call_id: null,
  tool_input: null,
  metadata: null,
  entry_id: `${UUID}${number}`,
  source: 'primary',
  sequence: number,
  ...facts,
})

const text = (...lines: readonly JsonObject[]): string =>
  lines.map((line) => `${JSON.stringify(line)}\n`).join('')

async function read(content: string | Buffer): Promise<Transcript> {
  const all = await readAll(weakincentives, memoryFileSource(FILE_NAME, content))
  expect(all).toHaveLength(1)
  return all[0] as Transcript
}

const linesOf = (written: ReadonlyMap<string, Buffer>, path = FILE_NAME): JsonObject[] =>
  (written.get(path)?.toString('utf8') ?? '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as JsonObject)

const message = (number: number, facts: Partial<Entry>): Entry => ({
  id: `${UUID}${number}`,
  source: 'primary',
  sequence: number,
  kind: 'message',
  role: 'assistant',
  at: '2026-01-05T09:15:35.120Z',
  blocks: [],
  ...facts,
})

const calling = message(1, {
  blocks: [
    { type: 'text', text: 'Let me read the file first.' },
    { type: 'tool-call', callId: 't1', name: 'Read', input: { path: 'src/main.py' } },
    { type: 'tool-call', callId: 't2', name: 'Bash', input: { command: 'ls' } },
  ],
  model: 'gpt-4o',
  stopReason: 'tool_use',
  usage: { input: 10, output: 5, quality: 'reported' },
})
const answer = message(2, {
  role: 'tool',
  blocks: [{ type: 'tool-result', callId: 't1', output: 'x'.repeat(5000) }],
})

describe('each field of a TranscriptEntry', () => {
  it.each<[string, JsonObject]>([
    ['role: system', { role: 'system', content: 'You are a helpful coding assistant...' }],
    [
      'role: assistant with a tool call',
      {
        role: 'assistant',
        content: '{\n  "path": "a"\n}',
        tool_name: 'Read',
        tool_call_id: 't1',
        tool_input: { path: 'a' },
      },
    ],
    ['role: tool', { role: 'tool', content: 'output', tool_name: 'Read', tool_call_id: 't1' }],
    [
      'content of the branch that implemented the seed',
      {
        role: 'assistant',
        content: 'Calling tool: Read\n{"path":"a"}',
        tool_name: 'Read',
        tool_call_id: 't1',
        tool_input: { path: 'a' },
      },
    ],
    ['created_at with microseconds', { created_at: '2026-01-05T09:15:32.123456+00:00' }],
    ['created_at in another zone', { created_at: '2026-01-05T10:15:32+01:00' }],
    ['created_at that is no time', { created_at: 'noon' }],
    ['tool_name without a call id', { role: 'tool', tool_name: 'Read', content: '' }],
    ['tool_input without a name', { role: 'assistant', tool_input: { a: 1 } }],
    [
      'metadata of a provider',
      {
        metadata: {
          model: 'gpt-4o',
          usage: { input_tokens: 5, output_tokens: 2, cached_tokens: 3 },
          adapter: 'openai',
        },
      },
    ],
    ['metadata of another shape', { metadata: { model: 5, blocks: 'x', weakincentives: 1, success: 'yes' } }],
    ['entry_id that is no UUID', { entry_id: 'first' }],
    ['source of a subagent', { source: 'subagent:abc123' }],
    ['source as later versions write it', { source: 'main', sequence: 1 }],
    ['sequence', { sequence: 0 }],
    ['a type name and fields of the future', { novelty: [1] }],
  ])('%s is read, and written back to the same line', async (_, facts) => {
    const line = slice(0, facts)
    const { files } = writeTranscript(weakincentives, await read(text(line)))
    expect(linesOf(files)).toEqual([line])
  })

  it('__type__ stays the first key', async () => {
    const before = text({ __type__: 'weakincentives.runtime.transcript:TranscriptEntry', ...slice(0) })
    const { files } = writeTranscript(weakincentives, await read(before))
    expect(files.get(FILE_NAME)?.toString('utf8')).toBe(before)
  })

  it('are all written, in the order of the declaration, with null for none', () => {
    const { files } = writeTranscript(weakincentives, { session, entries: [calling, answer] })
    for (const line of linesOf(files)) expect(Object.keys(line)).toEqual(FIELDS)
    expect(linesOf(files)[3]).toEqual({
      role: 'tool',
      content: 'x'.repeat(5000),
      created_at: '2026-01-05T09:15:35.120000+00:00',
      tool_name: 'Read',
      tool_call_id: 't1',
      tool_input: null,
      metadata: null,
      entry_id: `${UUID}2`,
      source: 'primary',
      sequence: 3,
    })
  })

  it('may be left out where it is null or the default: the file is known, and written in full', async () => {
    const lines = [
      { role: 'system', content: 'be brief', created_at: '2026-01-05T09:15:32+00:00' },
      { role: 'user', content: 'hi', created_at: '2026-01-05T09:15:33+00:00', sequence: 1 },
      { role: 'assistant', content: 'x', created_at: '2026-01-05T09:15:34Z', source: 'subagent:abc123' },
    ]
    const source = memoryFileSource('example.jsonl', text(...lines))
    expect((await weakincentives.detect(source))?.confidence).toBe(0.95)
    const before = await read(text(...lines))
    expect(before.damage).toEqual([])
    expect(before.entries.map((entry) => entry.source)).toEqual(['primary', 'primary', 'subagent:abc123'])
    const written = linesOf(writeTranscript(weakincentives, before).files)
    for (const [at, line] of written.entries()) {
      expect(line).toMatchObject({ source: 'primary', sequence: 0, ...lines[at] })
      expect(Object.keys(line)).toEqual(FIELDS)
      expect(line['entry_id']).toMatch(VERSION_4)
    }
  })

  it('that are missing read as their defaults', async () => {
    const { entries } = await read(text({ role: 'user', content: 'hi', created_at: '2026-01-05T09:15:32Z' }))
    expect(entries[0]).toMatchObject({
      id: 'primary/0',
      source: 'primary',
      sequence: 0,
      blocks: [{ type: 'text', text: 'hi' }],
    })
  })
})

describe('writing', () => {
  it('gives text its own entry first, then one for each call, with usage once', () => {
    const { files } = writeTranscript(weakincentives, { session, entries: [calling] })
    expect(
      linesOf(files).map(({ role, content, tool_name, sequence }) => [role, content, tool_name, sequence]),
    ).toEqual([
      ['assistant', 'Let me read the file first.', null, 0],
      ['assistant', '{\n  "path": "src/main.py"\n}', 'Read', 1],
      ['assistant', '{\n  "command": "ls"\n}', 'Bash', 2],
    ])
    expect(linesOf(files).map(({ metadata }) => metadata)).toEqual([
      { model: 'gpt-4o' },
      { model: 'gpt-4o' },
      { model: 'gpt-4o', usage: { input_tokens: 10, output_tokens: 5 }, stop_reason: 'tool_use' },
    ])
    expect(linesOf(files)[1]).toMatchObject({ tool_call_id: 't1', tool_input: { path: 'src/main.py' } })
  })

  it('gives lines to messages alone: no event or error passes for the system’s word', () => {
    const { role: _, ...roleless } = message(0, { blocks: [{ type: 'error', message: 'overloaded' }] })
    const event = { ...roleless, kind: 'event', metadata: { record: 'call-started' } } as const
    const entries = [
      { ...event, id: `${UUID}3`, parent: null, sequence: 0 },
      message(4, { role: 'user', parent: `${UUID}3`, sequence: 1, blocks: [{ type: 'text', text: 'hi' }] }),
      { ...roleless, id: `${UUID}5`, parent: `${UUID}4`, sequence: 2 },
      message(6, { parent: `${UUID}5`, sequence: 3, blocks: [{ type: 'text', text: 'yes' }] }),
    ]
    const { files, lost } = writeTranscript(weakincentives, { session, entries })
    expect(
      linesOf(files).map(({ role, content, metadata, sequence }) => [role, content, metadata, sequence]),
    ).toEqual([
      ['user', 'hi', null, 0],
      ['assistant', 'yes', null, 1],
    ])
    const why = 'the whole entry: it is no message of a system, user, assistant or tool'
    expect(lost.map(({ what }) => what)).toEqual([why, why, 'session id'])
  })

  it('makes no file for a session without messages', () => {
    const { files, lost } = writeTranscript(weakincentives, { session, entries: [] })
    expect([...files.keys()]).toEqual([])
    expect(lost.map(({ what }) => what)).toEqual(['the whole session: it has no messages'])
  })

  it('gives every line an id of version 4, the same each time', () => {
    const foreign = { ...calling, id: 'msg_1' }
    const ids = () =>
      linesOf(writeTranscript(weakincentives, { session, entries: [foreign] }).files).map(
        (line) => line['entry_id'],
      )
    for (const id of ids()) expect(id).toMatch(VERSION_4)
    expect(ids()).toEqual(ids())
    expect(new Set(ids()).size).toBe(3)
  })

  it('numbers each source by itself', () => {
    const sub = message(3, {
      source: 'subagent:abc123',
      sequence: 0,
      blocks: [{ type: 'text', text: 'Looking…' }],
    })
    const { files } = writeTranscript(weakincentives, { session, entries: [calling, sub, answer] })
    expect(linesOf(files).map(({ source, sequence }) => [source, sequence])).toEqual([
      ['primary', 0],
      ['primary', 1],
      ['primary', 2],
      ['subagent:abc123', 0],
      ['primary', 3],
    ])
  })

  it('puts a second session into a folder of its own', async () => {
    const target = files({})
    writeTranscript(weakincentives, { session, entries: [calling] }, { files: target })
    const second = { ...session, id: `${UUID}e` }
    writeTranscript(weakincentives, { session: second, entries: [answer] }, { files: target })
    expect([...target.keys()]).toEqual([FILE_NAME, `${UUID}e/${FILE_NAME}`])
    expect(await readAll(weakincentives, memorySource(target))).toHaveLength(2)
  })

  it('says what a slice cannot hold', () => {
    const { lost, filled } = writeTranscript(weakincentives, {
      session: { ...session, status: 'failed', title: 'x' },
      entries: [message(0, { role: 'user', at: '2026-01-05T09:15:35.123456789Z', blocks: calling.blocks })],
    })
    expect(lost.map(({ what }) => what)).toEqual([
      'role, nanoseconds, block boundaries',
      'session id',
      'title',
      'status failed',
    ])
    expect(filled).toEqual([])
  })
})

describe('reading', () => {
  it('gives what the format can hold of any transcript', async () => {
    await fc.assert(
      fc.asyncProperty(transcript, async (before) => {
        if (weakincentivesCanHold(before).entries.length === 0) return
        const { files } = writeTranscript(weakincentives, before, { live: true })
        const after = await read(files.get(FILE_NAME) as Buffer)
        const held = weakincentivesCanHold(before)
        expect(after.damage).toEqual([])
        expect(after.entries.map(withoutOrigin)).toEqual(held.entries)
        expect(after.session).toMatchObject(held.session)
      }),
      { numRuns: 150 },
    )
  })

  it('orders entries by number within their source, and keeps the sources’ places', async () => {
    const sub = (number: number, sequence: number) => slice(number, { source: 'subagent:a', sequence })
    const content = text(slice(2), sub(8, 1), slice(0), slice(1), sub(9, 0))
    const { entries, damage } = await read(content)
    expect(entries.map(({ id }) => id.at(-1))).toEqual(['0', '9', '1', '2', '8'])
    expect(damage).toEqual([])
  })

  it('orders any number of lines in one chunk of a file', async () => {
    const content = text(slice(1), slice(0)) + '1\n'.repeat(150_000)
    const source = memoryFileSource(FILE_NAME, content, { chunkBytes: 512 * 1024 })
    const [one] = await readAll(weakincentives, source)
    expect(one?.entries).toHaveLength(150_002)
    expect(one?.entries.slice(0, 2).map(({ id }) => id)).toEqual([`${UUID}0`, `${UUID}1`])
  })

  it('reports numbers that are missing and numbers that are there twice', async () => {
    const { damage, entries } = await read(text(slice(2), slice(3), slice(4, { sequence: 3 }), slice(9)))
    expect(damage.map(({ kind, reason }) => [kind, reason])).toEqual([
      ['missing', 'primary: entries before 2'],
      ['chain', 'primary: entry 3 is there more than once'],
      ['missing', 'primary: entries 4 to 8'],
    ])
    expect(entries.map(({ sequence }) => sequence)).toEqual([0, 1, 2, 3])
  })

  it('takes entries that were never numbered as they lie, and numbers shared by all sources', async () => {
    const zeros = [0, 1, 2].map((number) => slice(number, { sequence: 0 }))
    expect((await read(text(...zeros))).damage).toEqual([])
    const shared = [slice(0), slice(1, { source: 'subagent:a' }), slice(2)]
    expect((await read(text(...shared))).damage).toEqual([])
  })

  it('loses nothing but the line it died in, and keeps lines it does not know', async () => {
    const whole = text(slice(0), slice(1), { event: 'transcript.entry', entry_type: 'thinking' })
    const { entries, damage } = await read(`${whole}{"role":"user","con\n${text(slice(2)).slice(0, 30)}`)
    expect(entries.map(({ kind }) => kind)).toEqual(['message', 'message', 'event'])
    expect(damage.map(({ kind }) => kind)).toEqual(['not-json', 'torn'])
    const { files } = writeTranscript(weakincentives, await read(whole))
    expect(files.get(FILE_NAME)?.toString('utf8')).toBe(whole)
  })

  it.each([
    ['the factory’s', 'weakincentives.runtime.transcript.TranscriptEntry.jsonl'],
    ['the seed’s', 'weakincentives.transcript:TranscriptEntry.jsonl'],
  ])('finds the slice under %s name among others', async (_, name) => {
    const source = memorySource(
      files({ [name]: text(slice(0)), 'weakincentives.runtime.events.ToolInvoked.jsonl': '{"name":"x"}\n' }),
    )
    expect((await weakincentives.detect(source))?.confidence).toBe(0.95)
    expect((await readAll(weakincentives, source)).map(({ entries }) => entries.length)).toEqual([1])
  })

  it.each([
    ['swarm’s lines', '{"timestamp":"2025-12-09T14:30:22Z","role":"user","content":"x"}\n'],
    ['nothing', ''],
    ['binary', Buffer.from([0, 255, 10])],
  ])('does not take %s for its own', async (_, content) => {
    expect(await weakincentives.detect(memoryFileSource('x.jsonl', content))).toBeUndefined()
    for (const read of await readAll(weakincentives, memoryFileSource('x.jsonl', content))) {
      writeTranscript(weakincentives, read)
    }
  })
})

function withoutOrigin(entry: Entry): Omit<Entry, 'origin'> {
  const { origin: _, ...others } = entry
  return others
}
