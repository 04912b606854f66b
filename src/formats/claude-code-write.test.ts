import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { json, transcript } from '../../test/arbitrary.ts'
import { bySource, claudeCanHold } from '../../test/claude-can-hold.ts'
import { SESSION, assistant, bare, line, readOne, result, text } from '../../test/claude-lines.ts'
import { files, memoryFileSource, memorySource, readAll, writeTranscript } from '../../test/memory-files.ts'
import { notWrittenBack } from '../../test/written-back.ts'
import type { Entry } from '../transcript/entry.ts'
import { isObject, parseJson, type Json, type JsonObject } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import { claudeCode } from './claude-code.ts'

const session: Session = { id: '01939a6e-0000-7000-8000-000000000001', status: 'completed' }
const entry = (facts: Partial<Entry>, sequence = 0): Entry => ({
  id: `primary/${sequence}`,
  source: 'primary',
  sequence,
  kind: 'message',
  role: 'user',
  blocks: [{ type: 'text', text: 'a' }],
  ...facts,
})

const usage = { input_tokens: 1, output_tokens: 2, service_tier: 'standard' }
const iterations = [{ output_tokens: 1, model: 'm' }, { output_tokens: 2 }]
const inner = assistant('i1', { type: 'text', text: 'i' })
const LINES: readonly JsonObject[] = [
  line('u1'),
  line('u2', { isCompactSummary: true }),
  result('r1', 't1', { toolUseResult: { agentId: 'a1', totalDurationMs: 5 }, durationMs: 5 }),
  assistant('a1', { type: 'text', text: 'a', citations: [] }, { stop_reason: 'end_turn', usage }),
  assistant('a2', { type: 'tool_use', id: 't1', name: 'Task', input: { prompt: 'u1' } }),
  assistant('a3', { type: 'fallback' }, { usage: { ...usage, iterations } }),
  {
    ...assistant('a4', { type: 'text', text: 'E' }, { model: '<synthetic>' }),
    parentUuid: 'a1',
    isApiErrorMessage: true,
    error: 'x',
  },
  line('s1', { isSidechain: true, agentId: 'a1' }),
  bare('c1', { type: 'system', subtype: 'compact_boundary', content: 'c', logicalParentUuid: 'u1' }),
  bare('q1', {
    type: 'attachment',
    attachment: { type: 'queued_command', prompt: 'q', commandMode: 'prompt' },
  }),
  bare('q2', {
    type: 'attachment',
    attachment: { type: 'queued_command', prompt: [{ type: 'text', text: 'p' }] },
  }),
  bare('h1', { type: 'attachment', attachment: { type: 'hook_success', content: '', stdout: 'o' } }),
  bare('p1', { type: 'progress', data: { type: 'agent_progress', agentId: 'a1', message: inner } }),
  { type: 'summary', summary: 's', leafUuid: 'u1' },
]
const FIELDS = [
  'type',
  'uuid',
  'parentUuid',
  'timestamp',
  'sessionId',
  'cwd',
  'version',
  'gitBranch',
  'isSidechain',
  'agentId',
  'requestId',
  'durationMs',
  'toolUseResult',
  'content',
  'attachment',
  'message',
  'record',
  'absent',
  'derived',
  'lifted',
  'spawnedBy',
  'parentSource',
  '__proto__',
  'isCompactSummary',
  'isApiErrorMessage',
  'error',
]
const INNER = ['role', 'content', 'id', 'model', 'usage', 'stop_reason', 'type', 'prompt', 'stdout', 'x']

/** A good line with some of its fields, or of its message's or attachment's, gone or something else. */
const anyLine: fc.Arbitrary<Json> = fc
  .record({
    good: fc.constantFrom(...LINES),
    changes: fc.array(
      fc.record({
        path: fc.oneof(
          fc.constantFrom(...FIELDS).map((key) => [key]),
          fc.tuple(fc.constantFrom('message', 'attachment'), fc.constantFrom(...INNER)),
        ),
        value: fc.oneof(
          fc.constant(undefined),
          fc.constantFrom<Json>(null, '', 'u1', 'primary/0', 'user', 'system', true, 5, '/q', 'REDACTED', []),
          json,
        ),
      }),
      { maxLength: 3 },
    ),
  })
  .map(({ good, changes }) =>
    changes.reduce<JsonObject>((one, { path, value }) => changed(one, path, value), good),
  )

function changed(
  object: JsonObject,
  [key = '', ...deeper]: readonly string[],
  value: Json | undefined,
): JsonObject {
  const { [key]: before, ...others } = object
  const now = deeper.length === 0 ? value : isObject(before) ? changed(before, deeper, value) : before
  return now === undefined
    ? others
    : (parseJson(
        `{${JSON.stringify(key)}:${JSON.stringify(now)}${JSON.stringify(others)
          .replace(/^\{(?!\})/, ',')
          .replace(/^\{\}$/, '}')}`,
      ) as JsonObject)
}

describe('Claude Code’s own lines', () => {
  it('come back with the same values, whatever is in them', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof({ weight: 9, arbitrary: anyLine }, json), { maxLength: 6 }),
        async (lines) => {
          const source = memoryFileSource(`${SESSION}.jsonl`, text(...lines))
          expect(await notWrittenBack(claudeCode, source)).toEqual([])
        },
      ),
      { numRuns: 1000 },
    )
  })

  it('come back in the files they were in, in all three layouts, with what stands beside them', async () => {
    const agent = (id: string, uuid: string): JsonObject => line(uuid, { isSidechain: true, agentId: id })
    const given = files({
      [`p/${SESSION}.jsonl`]: text(
        line('u1'),
        line('s1', { isSidechain: true }),
        assistant('a1', { type: 'tool_use', id: 't1', name: 'Task', input: { prompt: 'b1' } }),
        result('r1', 't1', { toolUseResult: { agentId: 'b2', totalDurationMs: 5 } }),
        bare('q1', { type: 'attachment', attachment: { type: 'queued_command', prompt: 'and' } }),
      ),
      [`p/${SESSION}/subagents/agent-b2.jsonl`]: text(agent('b2', 'b1')),
      [`p/${SESSION}/subagents/agent-b2.meta.json`]: '{"agentType":"Explore"}',
      [`p/${SESSION}/tool-results/toolu_1.txt`]: 'long',
      'p/agent-c3.jsonl': text(agent('c3', 'c1')),
    })
    const { files: written, lost, filled } = writeTranscript(claudeCode, await readOne(memorySource(given)))
    expect([...written.keys()].sort()).toEqual(
      [...given.keys()].map((path) => path.replace(/^p/, 'projects/-p')).sort(),
    )
    for (const [path, bytes] of given) {
      const back = written.get(path.replace(/^p/, 'projects/-p'))?.toString() ?? ''
      expect(back.split('\n').map(parseJson)).toEqual(bytes.toString().split('\n').map(parseJson))
    }
    expect([lost, filled]).toEqual([[], []])
  })
})

describe('a session of another format', () => {
  it('reads back as what these lines can hold of it', async () => {
    await fc.assert(
      fc.asyncProperty(transcript, async (given) => {
        const { files: written } = writeTranscript(claudeCode, given)
        const all = await readAll(claudeCode, memorySource(written))
        const held = claudeCanHold(given)
        if (held.entries.length === 0) return
        expect(all).toHaveLength(1)
        expect(all[0]?.damage).toEqual([])
        expect(all[0]?.session).toMatchObject(held.session)
        const own = all[0]?.entries.filter(({ metadata }) => metadata?.['record'] !== 'custom-title') ?? []
        expect(bySource(own).map(toHeld)).toEqual(held.entries)
      }),
      { numRuns: 200 },
    )
  })

  it('is a chain of messages that events do not break', () => {
    const { files: written } = writeTranscript(claudeCode, {
      session: { ...session, cwd: '/home/me/x.y' },
      entries: [
        entry({}),
        entry(
          {
            kind: 'event',
            role: undefined as never,
            blocks: [{ type: 'unknown', raw: 1 }],
            parent: 'primary/0',
          },
          1,
        ),
        entry({ role: 'assistant', parent: 'primary/1' }, 2),
        entry({ role: 'system' }, 3),
      ].map(({ role, ...one }) => ({ ...one, ...(role !== undefined && { role }) })),
    })
    const path = `projects/-home-me-x-y/${session.id}.jsonl`
    expect([...written.keys()]).toEqual([path])
    const lines = (written.get(path)?.toString() ?? '')
      .trim()
      .split('\n')
      .map((one) => parseJson(one) as JsonObject)
    const messages = lines.filter(({ type }) => type !== 'event')
    expect(messages.map(({ parentUuid }) => parentUuid)).toEqual([
      null,
      ...messages.slice(0, -1).map(({ uuid }) => uuid),
    ])
    for (const one of lines)
      expect(one).toMatchObject({ sessionId: session.id, userType: 'external', isSidechain: false })
    expect(messages[1]?.['message']).toMatchObject({
      id: expect.stringMatching(/^msg_/),
      type: 'message',
      role: 'assistant',
    })
  })

  it('says what is lost and what is filled in', () => {
    const { lost, filled } = writeTranscript(claudeCode, {
      session: { ...session, tags: { a: 'b' }, title: 't' },
      entries: [entry({ role: 'assistant', blocks: [{ type: 'error', message: 'no', code: 'x' }] })],
    })
    expect(lost.map(({ what }) => what)).toEqual(['error kept as text, error code', 'session id', 'tags'])
    expect(filled.map(({ what }) => what)).toEqual(['cwd', 'version', 'timestamp', 'message.id'])
  })

  it('says that a session is lost of which there is no line to write', () => {
    const { files: written, lost } = writeTranscript(claudeCode, { session, entries: [] })
    expect(written.size).toBe(0)
    expect(lost.map(({ what }) => what)).toEqual(['the whole session: Claude Code has no log without a line'])
    const named = writeTranscript(claudeCode, { session: { ...session, title: 't' }, entries: [] })
    expect(named.lost.map(({ what }) => what)).toEqual(['session id'])
  })

  it('has a log for each subagent, whatever it is called', async () => {
    const { files: written } = writeTranscript(claudeCode, {
      session,
      entries: [entry({}), entry({ source: 'subagent:../x', id: 'subagent:../x/0' })],
    })
    for (const path of written.keys()) expect(path).not.toContain('..')
    const [only] = await readAll(claudeCode, memorySource(written))
    expect(only?.entries.map(({ source }) => source)).toEqual(['primary', 'subagent:../x'])
  })

  it('never goes over a log that is there', () => {
    const { files: written } = writeTranscript(claudeCode, { session, entries: [entry({})] })
    expect(() => writeTranscript(claudeCode, { session, entries: [entry({})] }, { files: written })).toThrow(
      /already there/,
    )
  })
})

function toHeld(entry: Entry): Partial<Entry> {
  const { origin: _, metadata: _1, call: _2, ...held } = entry
  return held
}
