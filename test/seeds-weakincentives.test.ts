/** Transcript capture of weakincentives: each field and role by name, its code examples in our words, and its example text. */
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { record, type Recorder, type RecordOptions } from '../src/capture/record.ts'
import { TranscriptEntrySlice } from '../src/capture/slices/events.ts'
import { jsonlSliceFactory } from '../src/capture/slices/jsonl.ts'
import { memorySliceFactory } from '../src/capture/slices/memory.ts'
import { appendAll } from '../src/capture/slices/reducers.ts'
import { createSliceSession } from '../src/capture/slices/slice-session.ts'
import { convertClaudeTranscriptEntry } from '../src/formats/weakincentives-claude.ts'
import type { TranscriptEntry } from '../src/formats/weakincentives-entry.ts'
import { weakincentives } from '../src/formats/weakincentives.ts'
import { nodeFiles, type Files } from '../src/journal/files.ts'
import { formatTranscript } from '../src/sources/transcript-text.ts'
import { isUuid } from '../src/transcript/ids.ts'
import type { Json, JsonObject } from '../src/transcript/json.ts'
import { memoryFileSource, readAll, writeTranscript } from './memory-files.ts'

const FILE = 'weakincentives.transcript:TranscriptEntry.jsonl'
const START = Date.parse('2026-01-05T09:15:32Z')

const ENTRY: TranscriptEntry = {
  role: 'user',
  content: 'hi',
  created_at: '2026-01-05T09:15:32+00:00',
  tool_name: null,
  tool_call_id: null,
  tool_input: null,
  metadata: null,
  entry_id: '00000000-0000-4000-8000-000000000000',
  source: 'primary',
  sequence: 0,
}

let folder: string
beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'hansard-wink-'))
})

const begin = (options: RecordOptions = {}): Promise<Recorder> =>
  record({
    home: join(folder, 'home'),
    cwd: folder,
    formats: ['weakincentives'],
    now: () => START,
    ...options,
  })

const linesOf = (path: string): JsonObject[] =>
  fs
    .readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as JsonObject)
const captured = (): JsonObject[] => linesOf(join(folder, 'agent_transcripts', FILE))

/** The conversation of the seed's sequence diagram. */
function converse(session: Recorder): void {
  session.system('You are a helpful coding assistant...')
  session.user('Please review the code in src/main.py')
  const callId = session.toolCall({
    name: 'Read',
    input: { path: 'src/main.py' },
    callId: 't1',
    model: 'gpt-4o',
    usage: { input: 10, output: 5 },
  })
  session.toolResult({ callId, output: 'print(1)' })
  session.subagent('abc123').assistant('Looking at the implementation...')
  session.assistant('It prints 1.')
}

describe('TranscriptEntry', () => {
  const expected: readonly (readonly [string, readonly Json[]])[] = [
    ['TranscriptEntry.role', ['system', 'user', 'assistant', 'tool', 'assistant', 'assistant']],
    [
      'TranscriptEntry.content',
      [
        'You are a helpful coding assistant...',
        'Please review the code in src/main.py',
        '{\n  "path": "src/main.py"\n}',
        'print(1)',
        'Looking at the implementation...',
        'It prints 1.',
      ],
    ],
    ['TranscriptEntry.created_at', Array<string>(6).fill('2026-01-05T09:15:32+00:00')],
    ['TranscriptEntry.tool_name', [null, null, 'Read', 'Read', null, null]],
    ['TranscriptEntry.tool_call_id', [null, null, 't1', 't1', null, null]],
    ['TranscriptEntry.tool_input', [null, null, { path: 'src/main.py' }, null, null, null]],
    [
      'TranscriptEntry.metadata',
      [null, null, { model: 'gpt-4o', usage: { input_tokens: 10, output_tokens: 5 } }, null, null, null],
    ],
    ['TranscriptEntry.source', ['primary', 'primary', 'primary', 'primary', 'subagent:abc123', 'primary']],
    ['TranscriptEntry.sequence', [0, 1, 2, 3, 0, 4]],
  ]

  it.each(expected)('%s is what the seed says, for each entry', async (name, values) => {
    const field = name.slice('TranscriptEntry.'.length)
    const session = await begin()
    converse(session)
    await session.end()
    expect(captured().map((line) => line[field])).toEqual(values)
  })

  it('TranscriptEntry.entry_id is a UUID, another for each entry', async () => {
    const session = await begin()
    converse(session)
    await session.end()
    const ids = captured().map((line) => line['entry_id'] as string)
    expect(ids.every(isUuid)).toBe(true)
    expect(new Set(ids).size).toBe(6)
  })

  it.each([
    ['system', 'system prompt'],
    ['user', 'a follow-up'],
    ['assistant', 'model-generated text'],
    ['tool', 'what the tool gave'],
  ] as const)('role %s is read and written', async (role, content) => {
    const of = role === 'tool' ? { tool_name: 'Read', tool_call_id: 't1' } : {}
    const line = { ...ENTRY, role, content, ...of }
    const [found] = await readAll(weakincentives, memoryFileSource(FILE, `${JSON.stringify(line)}\n`))
    expect(found?.entries).toMatchObject([{ role, kind: 'message' }])
    if (found === undefined) return
    const { files } = writeTranscript(weakincentives, found)
    expect(JSON.parse(files.get(FILE)?.toString('utf8') ?? '')).toEqual(line)
  })
})

describe('capture points', () => {
  it('each entry is in the file when it is captured: before the call, after each answer, after each tool', async () => {
    const session = await begin()
    const roles = (): unknown[] => captured().map(({ role }) => role)
    session.system('s')
    session.user('u')
    expect(roles()).toEqual(['system', 'user'])
    const callId = session.toolCall({ name: 'Read', input: {} })
    expect(roles()).toEqual(['system', 'user', 'assistant'])
    session.toolResult({ callId, output: 'x' })
    expect(roles()).toEqual(['system', 'user', 'assistant', 'tool'])
    session.assistant('final')
    expect(roles()).toEqual(['system', 'user', 'assistant', 'tool', 'assistant'])
    await session.end()
  })
})

describe('slices as the seed’s code sets them up', () => {
  it('a log factory with a base directory persists what is dispatched, and state stays in memory', () => {
    const base = join(folder, 'agent_transcripts')
    const session = createSliceSession({
      sliceConfig: {
        stateFactory: memorySliceFactory(),
        logFactory: jsonlSliceFactory({ baseDir: base }),
      },
    })
    session.setPolicy(TranscriptEntrySlice, 'LOG')
    session.slice(TranscriptEntrySlice).register(TranscriptEntrySlice, appendAll())
    expect(session.dispatch(ENTRY)).toMatchObject({ ok: true, handlersInvoked: 1 })
    expect(linesOf(join(base, FILE))).toEqual([ENTRY])
    expect(fs.readdirSync(base)).toEqual([FILE])
  })

  it('the transcript of a subagent is its lines under subagent:<id>, numbered from 0', () => {
    const flat = { timestamp: '2026-01-05T09:15:38Z', session_id: 's1' }
    const raws = [
      { ...flat, type: 'user', content: 'look' },
      { ...flat, type: 'tool_use', tool_name: 'Read', tool_use_id: 't2', input: { path: 'a' } },
      { ...flat, type: 'tool_result', tool_name: 'Read', tool_use_id: 't2', content: 'x' },
    ]
    const session = createSliceSession()
    const slice = session.slice(TranscriptEntrySlice)
    for (const [sequence, raw] of raws.entries())
      session.dispatch(convertClaudeTranscriptEntry(raw, { source: 'subagent:abc123', sequence }))
    expect(slice.all().map(({ role, source, sequence }) => [role, source, sequence])).toEqual([
      ['user', 'subagent:abc123', 0],
      ['assistant', 'subagent:abc123', 1],
      ['tool', 'subagent:abc123', 2],
    ])
    expect(slice.all()[1]?.metadata).toEqual({ raw_type: 'tool_use', claude_session_id: 's1' })
  })
})

describe('format_transcript', () => {
  it('gives the seed’s example output, byte for byte', async () => {
    const said: readonly (readonly [string, string, string, string | null, string])[] = [
      ['system', 'You are a helpful coding assistant...', '09:15:32', null, 'primary'],
      ['user', 'Please review the code in src/main.py', '09:15:32', null, 'primary'],
      [
        'assistant',
        "I'll review the code in src/main.py. Let me read the file first.",
        '09:15:35',
        null,
        'primary',
      ],
      ['tool', '{"path": "src/main.py"}', '09:15:36', 'Read', 'primary'],
      ['assistant', 'Looking at the implementation...', '09:15:38', null, 'subagent:abc123'],
    ]
    const lines = said.map(([role, content, time, tool_name, source], number) => ({
      role,
      content,
      created_at: `2026-01-05T${time}+00:00`,
      tool_name,
      source,
      sequence: source === 'primary' ? number : 0,
    }))
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
    const [found] = await readAll(weakincentives, memoryFileSource(FILE, text))
    expect(formatTranscript(found?.entries ?? [], { timeZone: 'UTC' })).toBe(`[09:15:32] ⚙️ SYSTEM
You are a helpful coding assistant...

[09:15:32] 👤 USER
Please review the code in src/main.py

[09:15:35] 🤖 ASSISTANT
I'll review the code in src/main.py. Let me read the file first.

[09:15:36] 🔧 Read
{"path": "src/main.py"}

[subagent:abc123] [09:15:38] 🤖 ASSISTANT
Looking at the implementation...
`)
  })
})

describe('limitations', () => {
  it('a transcript in a file is read as far as it is asked for, so a long one need not be in memory', () => {
    let bytesRead = 0
    const files: Files = {
      ...nodeFiles,
      read(fd, buffer, position) {
        const read = nodeFiles.read(fd, buffer, position)
        bytesRead += read
        return read
      },
    }
    const store = jsonlSliceFactory({ baseDir: folder, files }).create(TranscriptEntrySlice)
    const long = { ...ENTRY, content: 'x'.repeat(1000) }
    store.extend(Array.from({ length: 5000 }, (_, sequence) => ({ ...long, sequence })))
    bytesRead = 0
    for (const { sequence } of store.iterate()) if (sequence === 10) break
    expect(bytesRead).toBeLessThan(200_000)
    expect(store.latest()?.sequence).toBe(4999)
    expect(bytesRead).toBeGreaterThan(5_000_000)
  })
})
