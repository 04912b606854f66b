import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { transcript } from '../../test/arbitrary.ts'
import { entireCanHold } from '../../test/entire-can-hold.ts'
import { files, memoryFileSource, memorySource, readAll, writeTranscript } from '../../test/memory-files.ts'
import type { Entry } from '../transcript/entry.ts'
import { isUuid } from '../transcript/ids.ts'
import type { Json, JsonObject } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import type { Transcript } from '../transcript/transcript.ts'
import { entire } from './entire.ts'

const USER =
  '{"type":"user","sessionId":"2026-02-10-uuid","uuid":"turn-uuid","parentUuid":"prev-uuid","timestamp":"2026-02-10T23:31:00Z","cwd":"/path/to/project","version":"0.0.44","message":{"role":"user","content":"explain main.rs"}}'
const ASSISTANT =
  '{"type":"assistant","sessionId":"2026-02-10-uuid","uuid":"turn-uuid","parentUuid":"prev-uuid","timestamp":"2026-02-10T23:31:05Z","cwd":"/path/to/project","version":"0.0.44","message":{"role":"assistant","content":[{"type":"text","text":"Let me read that file."},{"type":"tool_use","id":"toolu_01X","name":"read_file","input":{"path":"src/main.rs"}}],"usage":{"input_tokens":1200,"output_tokens":350,"cache_creation_input_tokens":0,"cache_read_input_tokens":800}}}'
const RESULT =
  '{"type":"user","sessionId":"2026-02-10-uuid","uuid":"turn-uuid","parentUuid":"prev-uuid","timestamp":"2026-02-10T23:31:06Z","cwd":"/path/to/project","version":"0.0.44","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_01X","content":"1: use std::io;\\n2: ..."}]}}'

const session: Session = {
  id: '0190a0b0-0000-7000-8000-000000000001',
  names: { entire: '2026-02-10-a1b2c3d4-e5f6-4890-abcd-ef1234567890' },
  model: 'claude-opus-4-5',
  cwd: '/path/to/project',
  version: '0.0.44',
  startedAt: '2026-02-10T23:30:59.000Z',
  status: 'completed',
}
const FOLDER = 'metadata/2026-02-10-a1b2c3d4-e5f6-4890-abcd-ef1234567890'

function message(number: number, facts: Partial<Entry>): Entry {
  return {
    id: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
    source: 'primary',
    sequence: number,
    kind: 'message',
    role: 'user',
    at: `2026-02-10T23:31:0${number}.000Z`,
    blocks: [],
    ...facts,
  }
}

const prompt = message(0, { blocks: [{ type: 'text', text: 'explain main.rs' }] })
const call = message(1, {
  role: 'assistant',
  blocks: [
    { type: 'text', text: 'Let me read that file.' },
    { type: 'tool-call', callId: 'toolu_01X', name: 'read_file', input: { path: 'src/main.rs' } },
  ],
  usage: { input: 1200, output: 350, cacheRead: 800, quality: 'reported' },
})
const result = message(2, {
  role: 'tool',
  blocks: [{ type: 'tool-result', callId: 'toolu_01X', output: '1: use std::io;' }],
})

async function readOne(written: ReadonlyMap<string, Buffer>): Promise<Transcript> {
  const [first] = await readAll(entire, memorySource(written))
  return first as Transcript
}

function withoutOrigin(entry: Entry): Omit<Entry, 'origin'> {
  const { origin: _, ...others } = entry
  return others
}

const linesOf = (written: ReadonlyMap<string, Buffer>, folder = FOLDER): JsonObject[] =>
  (written.get(`${folder}/full.jsonl`) ?? Buffer.alloc(0))
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as JsonObject)

describe("the seed's examples", () => {
  it.each([
    ['a user turn', USER],
    ['an assistant turn with tool use', ASSISTANT],
    ['a tool result', RESULT],
    ['all three in one file, though their uuids repeat', [USER, ASSISTANT, RESULT].join('\n')],
  ])('%s is read, and written back byte for byte', async (_, text) => {
    const before = `${text}\n`
    const [read] = await readAll(entire, memoryFileSource('full.jsonl', before))
    const { files } = writeTranscript(entire, read as Transcript)
    expect(files.get('metadata/2026-02-10-uuid/full.jsonl')?.toString('utf8')).toBe(before)
  })

  it('become entries: a prompt, a call with its usage, and a result of role tool', async () => {
    const [read] = await readAll(entire, memoryFileSource('full.jsonl', [USER, ASSISTANT, RESULT].join('\n')))
    expect(read?.entries.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
    expect(read?.entries[1]?.usage).toMatchObject({
      input: 1200,
      output: 350,
      cacheRead: 800,
      cacheWrite5m: 0,
    })
    expect(read?.entries[1]?.blocks[1]).toEqual({
      type: 'tool-call',
      callId: 'toolu_01X',
      name: 'read_file',
      input: { path: 'src/main.rs' },
    })
    expect(new Set(read?.entries.map(({ id }) => id)).size).toBe(3)
    expect(read?.session).toMatchObject({
      names: { entire: '2026-02-10-uuid' },
      cwd: '/path/to/project',
      version: '0.0.44',
    })
  })
})

describe("the seed's requirements", () => {
  const { files: written } = writeTranscript(entire, { session, entries: [prompt, call, result] })
  const lines = linesOf(written)

  it('R1: one JSON object a line, keys in the order of the seed, chained from null', () => {
    const keys = ['type', 'sessionId', 'uuid', 'parentUuid', 'timestamp', 'cwd', 'version', 'message']
    for (const line of lines) expect(Object.keys(line)).toEqual(keys)
    expect(lines.map(({ parentUuid }) => parentUuid)).toEqual([null, lines[0]?.['uuid'], lines[1]?.['uuid']])
    expect(lines.map(({ type }) => type)).toEqual(['user', 'assistant', 'user'])
    expect(lines.map((line) => Object.keys(line['message'] as JsonObject))).toEqual([
      ['role', 'content'],
      ['role', 'content', 'usage'],
      ['role', 'content'],
    ])
    expect(lines[0]?.['message']).toMatchObject({ content: 'explain main.rs' })
  })

  it('R2: usage on assistant lines under the names of the API', () => {
    const usage = { input_tokens: 1200, cache_read_input_tokens: 800, output_tokens: 350 }
    expect(lines[1]?.['message']).toMatchObject({ usage })
  })

  it('R3: the session id is {date}-{uuid v4}, decides the folder, and is the same each time', () => {
    const unnamed: Session = { id: session.id, status: 'completed', startedAt: '2026-02-10T23:59:59.999Z' }
    const name = (): string => nameOf(writeTranscript(entire, { session: unnamed, entries: [prompt] }).files)
    expect(name()).toMatch(/^2026-02-10-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(name()).toBe(name())
    expect(isUuid(name().slice(11))).toBe(true)
  })

  it('R4: timestamps on every line, in UTC', () => {
    expect(lines.map(({ timestamp }) => timestamp)).toEqual([
      '2026-02-10T23:31:00Z',
      '2026-02-10T23:31:01Z',
      '2026-02-10T23:31:02Z',
    ])
    const precise = message(0, { at: '2026-02-10T23:31:00.123456Z', blocks: prompt.blocks })
    expect(linesOf(writeTranscript(entire, { session, entries: [precise] }).files)[0]?.['timestamp']).toBe(
      '2026-02-10T23:31:00.123456Z',
    )
  })

  it('R5: prompt.txt, context.md, and no summary.txt', () => {
    expect([...written.keys()].sort()).toEqual(
      ['context.md', 'full.jsonl', 'prompt.txt'].map((name) => `${FOLDER}/${name}`),
    )
    expect(written.get(`${FOLDER}/prompt.txt`)?.toString('utf8')).toBe('explain main.rs')
    expect(written.get(`${FOLDER}/context.md`)?.toString('utf8')).toBe(
      [
        '# Session Context',
        '',
        '- **Session ID**: 2026-02-10-a1b2c3d4-e5f6-4890-abcd-ef1234567890',
        '- **Model**: claude-opus-4-5',
        '- **Start**: 2026-02-10T23:30:59Z',
        '',
        '## Key Actions',
        '',
        '- **read_file**: src/main.rs',
        '',
      ].join('\n'),
    )
  })

  it('R6: a line is there after each entry, the prompt with the first input that is not empty, the context at the end', () => {
    const writing = entire.write?.begin(session, {
      taken: () => false,
      lost: () => {},
      filled: () => {},
      version: 'test',
    })
    const paths = (operations: readonly { op: string; path?: string }[] | undefined) =>
      operations?.map(({ op, path = '' }) => `${op} ${path.slice(FOLDER.length + 1)}`)
    expect(paths(writing?.start())).toEqual([])
    expect(paths(writing?.entry(message(0, { blocks: [{ type: 'text', text: ' \n' }] })))).toEqual([
      'append full.jsonl',
    ])
    expect(paths(writing?.entry({ ...prompt, id: 'x' }))).toEqual(['append full.jsonl', 'create prompt.txt'])
    expect(paths(writing?.entry(call))).toEqual(['append full.jsonl'])
    expect(paths(writing?.entry({ ...prompt, id: 'y' }))).toEqual(['append full.jsonl'])
    expect(paths(writing?.end(session))).toEqual(['write context.md'])
  })

  it('R7: existing state below .entire is not touched', () => {
    const before = files({
      'settings.json': '{"strategy":"manual-commit"}',
      'metadata/other/full.jsonl': 'x',
    })
    writeTranscript(entire, { session, entries: [prompt, call, result] }, { files: before })
    expect(before.get('settings.json')?.toString('utf8')).toBe('{"strategy":"manual-commit"}')
    expect(before.get('metadata/other/full.jsonl')?.toString('utf8')).toBe('x')
  })

  it('refuses to append to a transcript that it did not write', () => {
    const before = files({ [`${FOLDER}/full.jsonl`]: 'x' })
    expect(() => writeTranscript(entire, { session, entries: [prompt] }, { files: before })).toThrow(
      /already there/,
    )
  })

  it('refuses a session name that is no safe path', () => {
    const hostile = { ...session, names: { entire: '../../etc' } }
    expect(() => writeTranscript(entire, { session: hostile, entries: [] })).toThrow(
      /not a safe Entire session id/,
    )
  })
})

const nameOf = (written: ReadonlyMap<string, Buffer>): string =>
  ([...written.keys()].find((path) => path.endsWith('full.jsonl')) ?? '').split('/')[1] ?? ''

describe('key actions', () => {
  const action = (input: Json, name = 'tool'): string => {
    const entry = message(0, { role: 'assistant', blocks: [{ type: 'tool-call', name, input }] })
    const text = writeTranscript(entire, { session, entries: [entry] }).files.get(`${FOLDER}/context.md`)
    return text?.toString('utf8').split('\n').at(-2) ?? ''
  }

  it.each([
    [
      'the first argument in the order of the input',
      { b: 'second letter', a: 'first letter' },
      'second letter',
    ],
    ['other values as JSON', { n: [1, { a: 2 }] }, '[1,{"a":2}]'],
    ['an empty input', {}, '{}'],
    ['several lines on one', { command: 'a\nb\r\n  c' }, 'a b c'],
    ['80 characters, whole', { x: 'y'.repeat(80) }, 'y'.repeat(80)],
    ['81 characters, cut', { x: 'y'.repeat(81) }, `${'y'.repeat(80)}...`],
    ['wide characters, never cut inside one', { x: '🙂'.repeat(81) }, `${'🙂'.repeat(80)}...`],
    ['an argument that is null', { x: null }, 'null'],
  ])('show %s', (_, input, shown) => {
    expect(action(input)).toBe(`- **tool**: ${shown}`)
  })

  it('have no heading where no tool ran', () => {
    const text = writeTranscript(entire, { session, entries: [prompt] }).files.get(`${FOLDER}/context.md`)
    expect(text?.toString('utf8')).not.toContain('Key Actions')
  })
})

describe('reading back', () => {
  it('gives what the format can hold of any transcript', async () => {
    await fc.assert(
      fc.asyncProperty(transcript, async (before) => {
        const held = entireCanHold(before)
        const { files } = writeTranscript(entire, before, { live: true })
        if (held.entries.length === 0) {
          expect([...files.keys()]).toEqual([expect.stringMatching(/context\.md$/)])
          return
        }
        const after = await readOne(new Map([...files].map(([path, bytes]) => [`.entire/${path}`, bytes])))
        expect(after.damage).toEqual([])
        expect(after.entries.map(withoutOrigin)).toEqual(held.entries)
        expect(after.session).toMatchObject(held.session)
      }),
      { numRuns: 150 },
    )
  })

  it('says what it lost and what it filled in', () => {
    const { at: _, ...timeless } = message(0, {
      blocks: [{ type: 'error', message: 'overloaded', code: '529' }],
    })
    const { lost, filled } = writeTranscript(entire, {
      session: { id: session.id, status: 'failed', error: 'no', run: { flow: 'build' } },
      entries: [timeless],
    })
    expect(lost.map(({ what }) => what)).toEqual([
      'error kept as text, error code',
      'session id',
      'error',
      'flow',
      'status failed',
    ])
    expect(filled.map(({ what }) => what)).toEqual(['version', 'cwd', 'timestamp', 'model', 'start'])
  })

  it('writes turns of users, assistants, tools and subagents, and reports the rest: each follows the turn before it', () => {
    const text = { blocks: [{ type: 'text', text: 'x' }] } as const
    const { role: _, ...event } = message(1, { ...text, kind: 'event', metadata: { record: 'parameters' } })
    const { role: __, ...error } = message(4, { blocks: [{ type: 'error', message: 'overloaded' }] })
    const entries = [
      message(0, { ...text, role: 'system', parent: null }),
      { ...event, parent: message(0, {}).id },
      { ...prompt, id: message(2, {}).id, parent: event.id },
      message(3, { ...text, source: 'subagent:a1' }),
      { ...error, parent: message(2, {}).id },
      message(5, { ...text, role: 'assistant', parent: error.id }),
    ]
    const { files, lost } = writeTranscript(entire, { session, entries })
    const lines = linesOf(files)
    expect(lines.map(({ type, isSidechain }) => [type, isSidechain])).toEqual([
      ['user', undefined],
      ['user', true],
      ['assistant', undefined],
    ])
    expect(lines.map(({ parentUuid }) => parentUuid)).toEqual([null, null, lines[0]?.['uuid']])
    const whole = 'the whole entry: it is no turn of a user, assistant or tool'
    expect(lost.filter(({ what }) => what === whole)).toHaveLength(3)
  })

  it.each([
    '{"type":"system","uuid":"u1","message":{"role":"system","content":"You are…"}}',
    '{"type":"event","uuid":"u1","record":"compaction","message":{"content":[{"type":"text","text":"x"}]}}',
    '{"type":"progress","uuid":"u1","data":{}}',
  ])('keeps a line of another type where it was read: %s', async (line) => {
    const before = `${USER}\n${line}\n`
    const [read] = await readAll(entire, memoryFileSource('full.jsonl', before))
    const { files } = writeTranscript(entire, read as Transcript)
    expect(linesOf(files, 'metadata/2026-02-10-uuid')[1]).toMatchObject(JSON.parse(line) as JsonObject)
  })

  it('a session without its context did not come to its end', async () => {
    const { files } = writeTranscript(entire, { session, entries: [prompt] })
    expect((await readOne(files)).session.status).toBe('completed')
    files.delete(`${FOLDER}/context.md`)
    expect((await readOne(files)).session.status).toBe('interrupted')
  })

  it('a crash at any byte costs at most the line it hit', async () => {
    const { files } = writeTranscript(entire, { session, entries: [prompt, call, result] })
    const whole = files.get(`${FOLDER}/full.jsonl`) as Buffer
    for (let length = 0; length < whole.length; length += 1) {
      const cut = whole.subarray(0, length)
      const [read] = await readAll(entire, memoryFileSource('full.jsonl', cut))
      const complete = cut.toString('utf8').split('\n').length - 1
      // Cut just before its newline, a line is whole.
      const isWhole = whole[length] === 0x0a ? 1 : 0
      expect(read?.entries.length ?? 0, `cut at ${length}`).toBe(complete + isWhole)
      if (length > 0 && isWhole === 0 && cut.at(-1) !== 0x0a) expect(read?.damage[0]?.kind).toBe('torn')
    }
  })
})

describe('hostile files', () => {
  it.each([
    ['nothing', ''],
    ['NUL bytes', '\0'.repeat(500)],
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x00, 0x0a, 0x80])],
    ['values that are no objects', '"x"\n42\n[1]\nnull\n{}'],
    [
      'a message that is none',
      `${USER.replace('"explain main.rs"', 'null')}\n${USER.replace('{"role":"user","content":"explain main.rs"}', '"x"')}`,
    ],
    ['very deep nesting', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['prototype keys', USER.replace('"type":"user"', '"type":"user","__proto__":{"polluted":true}')],
  ])('%s', async (_, bytes) => {
    const all = await readAll(entire, memoryFileSource('full.jsonl', bytes))
    for (const read of all) writeTranscript(entire, read)
    expect('polluted' in {}).toBe(false)
  })

  it('a name that climbs is not taken for the session’s', async () => {
    const [read] = await readAll(
      entire,
      memoryFileSource('full.jsonl', USER.replace('2026-02-10-uuid', '../../../etc/passwd')),
    )
    expect(read?.session.names).toBeUndefined()
    const { files } = writeTranscript(entire, read as Transcript)
    expect(
      [...files.keys()].every((path) => /^metadata\/2026-02-10-[0-9a-f-]{36}\/[a-z.]+$/.test(path)),
    ).toBe(true)
  })

  it('a key named __proto__ comes back where it was', async () => {
    const line = USER.replace('"version"', '"__proto__":{"a":1},"version"')
    const [read] = await readAll(entire, memoryFileSource('full.jsonl', line))
    const { files } = writeTranscript(entire, read as Transcript)
    expect(files.get('metadata/2026-02-10-uuid/full.jsonl')?.toString('utf8')).toContain(
      '"__proto__":{"a":1}',
    )
  })
})
