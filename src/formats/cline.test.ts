import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stopwatch } from '../../test/stopwatch.ts'
import { files, memoryFileSource, memorySource, readAll } from '../../test/memory-files.ts'
import type { Entry } from '../transcript/entry.ts'
import type { Json, JsonObject } from '../transcript/json.ts'
import { createPairing } from '../transcript/tools.ts'
import { createCallFold } from '../transcript/totals.ts'
import type { Transcript } from '../transcript/transcript.ts'
import { cline } from './cline.ts'
import type { Drift } from './format.ts'

const TASK = '1761000000000'
const OLD = 1_761_000_000_000
const NEW = Date.UTC(2026, 1, 1)

const details = '<environment_details>\n# Current Working Directory (/p) Files\na.ts\n</environment_details>'
const user = (text: string, facts: JsonObject = {}): JsonObject => ({
  role: 'user',
  content: [
    { type: 'text', text },
    { type: 'text', text: details },
  ],
  ...facts,
})
const assistant = (text: string, facts: JsonObject = {}): JsonObject => ({
  role: 'assistant',
  content: [{ type: 'text', text }],
  ...facts,
})
let clock = 0
const say = (name: string, text: string, facts: JsonObject = {}): JsonObject => ({
  ts: OLD + (clock += 1),
  type: 'say',
  say: name,
  text,
  ...facts,
})
const request = (counts: JsonObject, facts: JsonObject = {}): JsonObject =>
  say('api_req_started', JSON.stringify({ request: 'the prompt', ...counts }), facts)
const counts = { tokensIn: 10, tokensOut: 5, cacheWrites: 100, cacheReads: 1000, cost: 0.0125 }

async function read(content: Readonly<Record<string, Json>>): Promise<Transcript> {
  const texts = Object.entries(content).map(([name, value]) => [`${TASK}/${name}`, JSON.stringify(value)])
  const source = memorySource(files(Object.fromEntries(texts) as Record<string, string>))
  const [only, ...others] = await readAll(cline, source)
  expect(others).toEqual([])
  return only as Transcript
}
const readUi = (...messages: readonly Json[]): Promise<Transcript> => read({ 'ui_messages.json': messages })

function totals(entries: readonly Entry[]): unknown {
  const fold = createCallFold()
  for (const entry of entries) fold.add(entry)
  const { calls, usage } = fold.totals()
  return { calls, ...usage }
}
const said = (entries: readonly Entry[]): readonly unknown[] =>
  entries.map(({ kind, role, metadata }) => (kind === 'message' ? role : metadata?.['record']))

describe('a task', () => {
  const history = [user('<task>\nSort the files\n</task>'), assistant('Sorted.')]

  it('is its history, with what was shown as events at their places, and nothing said twice', async () => {
    const { session, entries, damage } = await read({
      'api_conversation_history.json': history,
      'ui_messages.json': [
        say('task', 'Sort the files', { conversationHistoryIndex: -1 }),
        request(counts, {
          conversationHistoryIndex: -1,
          modelInfo: { providerId: 'anthropic', modelId: 'opus' },
        }),
        say('text', 'Sorted.', { conversationHistoryIndex: 0 }),
        say('completion_result', 'Done', { conversationHistoryIndex: 1 }),
      ],
      'task_metadata.json': {
        files_in_context: [],
        model_usage: [{ ts: OLD, model_id: 'opus', model_provider_id: 'anthropic', mode: 'act' }],
        environment_history: [{ ts: OLD, cline_version: '3.50.0' }],
      },
    })
    expect(damage).toEqual([])
    expect(said(entries)).toEqual([
      'task_metadata',
      'say:task',
      'say:api_req_started',
      'user',
      'say:text',
      'assistant',
      'say:completion_result',
    ])
    expect(
      entries
        .flatMap(({ blocks }) => blocks)
        .filter((block) => block.type === 'text' && block.text === 'Sorted.'),
    ).toHaveLength(1)
    // The request and its answer are one call.
    expect(entries[5]?.call).toEqual(entries[2]?.call)
    expect(entries[2]?.model).toBe('opus')
    expect(session).toMatchObject({
      native: { agent: 'cline', sessionId: TASK },
      title: 'Sort the files',
      cwd: '/p',
      model: 'opus',
      version: '3.50.0',
      status: 'completed',
      reportedCost: '0.0125',
    })
  })

  it('that has times for an index (Roo) is ordered by them, with the model that the editor told', async () => {
    const at = (ts: number): JsonObject => ({ ts })
    const told = details.replace('a.ts', '<model>sonnet-4</model>')
    const { entries, session } = await read({
      'api_conversation_history.json': [
        { role: 'user', content: [{ type: 'text', text: told }], ts: 20 },
        assistant('One.', at(40)),
        user('more', at(60)),
        assistant('Two.', at(80)),
      ],
      'ui_messages.json': [
        say('text', 'the task', at(5)),
        request({ ...counts, apiProtocol: 'anthropic' }, at(10)),
        say('text', 'One.', at(30)),
        request({ apiProtocol: 'anthropic' }, at(45)),
        request({ ...counts, apiProtocol: 'anthropic' }, at(50)),
      ],
      'history_item.json': {
        id: TASK,
        task: 'the task',
        tokensIn: 1,
        tokensOut: 1,
        totalCost: 9,
        workspace: '/w',
        parentTaskId: 'above',
      },
    })
    expect(said(entries).slice(1)).toEqual([
      'say:text',
      'say:api_req_started',
      'user',
      'say:text',
      'assistant',
      'say:api_req_started',
      'say:api_req_started',
      'user',
      'assistant',
    ])
    expect(entries[2]?.model).toBe('sonnet-4')
    expect(entries[5]).toMatchObject({ model: 'sonnet-4', call: entries[2]?.call })
    // One that was not answered shares its call with nobody.
    expect(entries[9]?.call).toEqual(entries[7]?.call)
    expect(totals(entries)).toMatchObject({ calls: 2, input: 20 })
    expect(session).toMatchObject({ cwd: '/w', title: 'the task', parent: {} })
    expect(session.reportedCost).toBe('0.025')
  })

  it('that has neither puts each request before what it sent and was answered', async () => {
    const { entries } = await read({
      'api_conversation_history.json': [...history, user('more'), assistant('More.')],
      'ui_messages.json': [say('text', 'Sort'), request(counts), say('text', 'Sorted.'), request(counts)],
    })
    expect(said(entries)).toEqual([
      'say:text',
      'say:api_req_started',
      'user',
      'assistant',
      'say:text',
      'say:api_req_started',
      'user',
      'assistant',
    ])
    expect(totals(entries)).toMatchObject({ calls: 2, output: 10 })
  })

  it('is read from its history alone, with the counts that newer answers keep', async () => {
    const metrics = { tokens: { prompt: 1000, completion: 5, cached: 900 }, cost: 0.5 }
    const modelInfo = { modelId: 'opus', providerId: 'anthropic', mode: 'act' }
    const { session, entries } = await read({
      'api_conversation_history.json': [
        history[0] as JsonObject,
        assistant('Sorted.', { ts: 9, modelInfo, metrics }),
      ],
    })
    expect(entries[1]).toMatchObject({ model: 'opus', metadata: { metrics } })
    expect(totals(entries)).toEqual({ calls: 1, input: 100, cacheRead: 900, output: 5, quality: 'reported' })
    expect(session.reportedCost).toBe('0.5')
  })

  it('is read from what was shown alone, as messages', async () => {
    const { entries } = await readUi(
      say('task', 'Sort the files'),
      request(counts),
      say('reasoning', 'hm'),
      say('text', 'I sort.'),
      {
        ...say('', JSON.stringify({ tool: 'editedExistingFile', path: 'a', diff: '-a\n+b' })),
        type: 'ask',
        ask: 'tool',
      },
      say('command', 'ls'),
      say('command_output', 'a\nb'),
      say('user_feedback', 'thanks'),
      say('checkpoint_created', '', { lastCheckpointHash: 'abc' }),
      say('error', 'it broke'),
    )
    expect(said(entries)).toEqual([
      'user',
      'say:api_req_started',
      'assistant',
      'assistant',
      'assistant',
      'assistant',
      'tool',
      'user',
      'say:checkpoint_created',
      'say:error',
    ])
    expect(entries[4]?.blocks).toEqual([
      { type: 'tool-call', name: 'editedExistingFile', input: { path: 'a', diff: '-a\n+b' } },
    ])
    expect(entries[6]?.blocks).toEqual([{ type: 'tool-result', name: 'execute_command', output: 'a\nb' }])
    expect(entries[8]?.metadata).toMatchObject({ lastCheckpointHash: 'abc' })
    expect(entries[9]?.blocks).toEqual([{ type: 'error', message: 'it broke', code: 'error' }])
  })

  it('tells of keys that are new', async () => {
    const told: Drift[] = []
    const source = memoryFileSource('ui_messages.json', JSON.stringify([say('text', 'hi', { mood: 'good' })]))
    for await (const _ of cline.read(source, { drift: (drift) => told.push(drift) })) void _
    expect(told).toEqual([{ kind: 'key', name: 'ui.mood' }])
  })
})

describe('tool calls', () => {
  const call = { type: 'tool_use', id: 't1', name: 'read_file', input: { path: 'a' } }
  const result = { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'A' }] }

  it('of newer versions are paired by their ids', async () => {
    const { entries } = await read({
      'api_conversation_history.json': [
        user('<task>\nx\n</task>'),
        { role: 'assistant', content: [call] },
        { role: 'user', content: [result, { type: 'text', text: details }] },
        { role: 'user', content: [result] },
      ],
    })
    expect(entries[1]?.blocks).toEqual([
      { type: 'tool-call', callId: 't1', name: 'read_file', input: { path: 'a' } },
    ])
    expect(entries[2]).toMatchObject({
      role: 'user',
      blocks: [{ type: 'tool-result', callId: 't1' }, { type: 'text' }],
    })
    expect(entries[3]?.role).toBe('tool')
  })

  it('that old versions wrote as XML are calls, and the words that answered them results', async () => {
    const xml =
      'I look.\n<read_file>\n<path>a.ts</path>\n</read_file>\nand write\n' +
      '<write_to_file>\n<path>b.html</path>\n<content>\n<path>not one</path>\n</content> x\n</content>\n</write_to_file>'
    const { entries } = await read({
      'api_conversation_history.json': [
        user('<task>\nx\n</task>'),
        assistant(xml),
        {
          role: 'user',
          content: [
            { type: 'text', text: "[read_file for 'a.ts'] Result:" },
            { type: 'text', text: 'const a = 1' },
            { type: 'text', text: "[write_to_file for 'b.html'] Result:\nsaved" },
            { type: 'text', text: details },
          ],
        },
      ],
    })
    expect(entries[1]?.blocks).toEqual([
      { type: 'text', text: 'I look.' },
      { type: 'tool-call', name: 'read_file', input: { path: 'a.ts' } },
      { type: 'text', text: 'and write' },
      {
        type: 'tool-call',
        name: 'write_to_file',
        input: { path: 'b.html', content: '<path>not one</path>\n</content> x' },
      },
    ])
    expect(entries[2]?.blocks.slice(0, 2)).toEqual([
      { type: 'tool-result', name: 'read_file', output: 'const a = 1' },
      { type: 'tool-result', name: 'write_to_file', output: 'saved' },
    ])
    const pairing = createPairing<number>()
    for (const { source, blocks, sequence } of entries) {
      for (const block of blocks) {
        if (block.type === 'tool-call') pairing.open(source, block, sequence)
        if (block.type === 'tool-result') expect(pairing.answer(source, block)?.call.name).toBe(block.name)
      }
    }
    expect(pairing.unanswered()).toEqual([])
  })

  it('that are none stay text: unknown tags, and tools that do not end', async () => {
    const text = 'see <b>this</b> and <read_file> without an end'
    const { entries } = await read({ 'api_conversation_history.json': [user('x'), assistant(text)] })
    expect(entries[1]?.blocks).toEqual([{ type: 'text', text }])
  })

  it('are found in linear time in what is hostile', async () => {
    const hostile = [
      '<'.repeat(300_000),
      '<read_file>'.repeat(30_000),
      `<read_file>${'<a>'.repeat(90_000)}</read_file>`,
    ]
    const spent = stopwatch()
    await read({ 'api_conversation_history.json': [user('x'), ...hostile.map((text) => assistant(text))] })
    expect(spent()).toBeLessThan(2000)
  })
})

describe('usage (trap 3: which side the cache is on)', () => {
  const usageOf = async (given: JsonObject, facts: JsonObject = {}): Promise<unknown> => {
    const { entries } = await readUi(say('task', 'x'), request(given, facts))
    const { raw: _, ...usage } = entries[1]?.usage ?? { quality: 'absent' }
    return usage
  }
  const apart = { input: 10, cacheRead: 1000, cacheWrite5m: 100, output: 5 }
  const whole = { ...counts, tokensIn: 1110 }

  it('of Cline leaves the cache out of the input', async () => {
    expect(await usageOf(counts)).toEqual({ ...apart, quality: 'reported' })
    expect(await usageOf(whole)).toEqual({ ...apart, input: 1110, quality: 'reported' })
  })

  it('of Roo and Kilo includes it: always for OpenAI, for Anthropic since November 2025, and never when it is less', async () => {
    const roo = (apiProtocol: string, ts: number, given = whole) => usageOf({ ...given, apiProtocol }, { ts })
    expect(await roo('openai', OLD)).toEqual({ ...apart, quality: 'reported' })
    expect(await roo('anthropic', NEW)).toEqual({ ...apart, quality: 'estimated' })
    expect(await roo('anthropic', OLD)).toEqual({ ...apart, input: 1110, quality: 'estimated' })
    expect(await roo('anthropic', NEW, counts)).toEqual({ ...apart, quality: 'reported' })
  })

  it('of providers that hand on what they get is told apart, as an estimate', async () => {
    const modelInfo = { providerId: 'litellm', modelId: 'm' }
    expect(await usageOf(whole, { modelInfo })).toEqual({ ...apart, quality: 'estimated' })
  })

  it('of requests that were cut off, failed or never answered is not zero', async () => {
    const zeros = { tokensIn: 0, tokensOut: 0, cacheWrites: 0, cacheReads: 0, cost: 0 }
    expect(await usageOf({})).toEqual({ quality: 'unavailable' })
    expect(await usageOf({ ...zeros, cancelReason: 'streaming_failed' })).toEqual({ quality: 'unavailable' })
    expect(await usageOf({ ...counts, cancelReason: 'user_cancelled' })).toEqual({
      ...apart,
      quality: 'partial',
    })
    const failed = { ...zeros, cancelReason: 'streaming_failed', streamingFailedMessage: 'overloaded' }
    const { session, entries } = await readUi(say('task', 'x'), request(failed))
    expect(totals(entries)).toEqual({ calls: 0 })
    expect(entries[1]).toMatchObject({
      stopReason: 'streaming_failed',
      blocks: [{ type: 'error', message: 'overloaded' }],
    })
    expect(session).toMatchObject({ status: 'canceled' })
    expect(session.reportedCost).toBeUndefined()
  })

  it('of requests that a restored checkpoint took away, and of subagents, still counts', async () => {
    const { session, entries } = await readUi(
      say('task', 'x'),
      say('deleted_api_reqs', JSON.stringify(counts)),
      say('subagent_usage', JSON.stringify(counts)),
      request(counts),
    )
    expect(totals(entries)).toMatchObject({ input: 30, output: 15 })
    expect(session.reportedCost).toBe('0.0375')
  })
})

describe("a session of Cline's CLI", () => {
  const answer = (id: string, inputTokens: number, cacheReadTokens: number): JsonObject => ({
    id,
    role: 'assistant',
    ts: NEW,
    modelInfo: { id: 'anthropic/opus', provider: 'cline', family: 'opus' },
    metrics: { inputTokens, outputTokens: 7, cacheReadTokens, cacheWriteTokens: 0, cost: 0.25 },
    content: [{ type: 'text', text: 'well' }],
  })
  const document = {
    version: 1,
    updated_at: '2026-02-01T00:00:00.000Z',
    agent: 'lead',
    sessionId: 's1',
    messages: [
      { id: 'm0', role: 'user', content: [{ type: 'text', text: 'hi' }], ts: NEW },
      answer('m1', 1000, 0),
      answer('m2', 1200, 1000),
    ],
    system_prompt: 'be terse',
  }
  const manifest = {
    session_id: 's1',
    messages_path: '/x/s1.messages.json',
    cwd: '/p',
    status: 'failed',
    started_at: '2026-02-01T00:00:00.000Z',
    parent_session_id: 's0',
    metadata: { title: 'Say hi', aggregateUsage: { inputTokens: 99_999, totalCost: 77 } },
  }

  it('is its messages and what is said about it; the input includes the cache', async () => {
    const source = memorySource(
      files({ 's1/s1.messages.json': JSON.stringify(document), 's1/s1.json': JSON.stringify(manifest) }),
    )
    const [only, ...others] = await readAll(cline, source)
    expect(others).toEqual([])
    const { session, entries } = only as Transcript
    expect(said(entries)).toEqual(['session', 'header', 'system', 'user', 'assistant', 'assistant'])
    expect(totals(entries)).toEqual({
      calls: 2,
      input: 1200,
      cacheRead: 1000,
      cacheWrite5m: 0,
      output: 14,
      quality: 'reported',
    })
    expect(session).toMatchObject({
      native: { agent: 'cline', sessionId: 's1' },
      title: 'Say hi',
      cwd: '/p',
      model: 'anthropic/opus',
      status: 'failed',
      parent: {},
    })
  })

  it('takes what lies beside its messages for what is said about it, whatever that holds', async () => {
    const source = memorySource(
      files({ 's1.messages.json': JSON.stringify(document), 's1.json': '{"session_id":"s1","title":"Hi"}' }),
    )
    const [only, ...others] = await readAll(cline, source)
    expect(others).toEqual([])
    expect(only?.session.title).toBe('Hi')
    const { messages_path: _, ...rest } = manifest
    const told = { ...rest, source: 'cli', provider: 'anthropic', model: 'opus' }
    expect((await cline.detect(memoryFileSource('x', JSON.stringify(told))))?.confidence).toBe(0.8)
  })

  it('does not count what its aggregate has of its subagents', async () => {
    const source = memorySource(
      files({ 's1.messages.json': JSON.stringify(document), 's1.json': JSON.stringify(manifest) }),
    )
    const [only] = await readAll(cline, source)
    expect(only?.session.reportedCost).toBe('0.5')
    expect(only?.session.reportedUsage).toBeUndefined()
  })

  it('is read from either file alone', async () => {
    const [messages] = await readAll(cline, memoryFileSource('x', JSON.stringify(document)))
    expect(messages?.entries).toHaveLength(5)
    const [said] = await readAll(cline, memoryFileSource('y.json', JSON.stringify(manifest)))
    expect(said?.session).toMatchObject({ title: 'Say hi' })
  })

  it('has the same calls wherever it was copied to (trap 5)', async () => {
    const copy = { ...document, sessionId: 's2', messages: document.messages.slice(0, 2) }
    const source = memorySource(files({ 'a.json': JSON.stringify(document), 'b.json': JSON.stringify(copy) }))
    const entries = (await readAll(cline, source)).flatMap((one) => one.entries)
    expect(totals(entries)).toMatchObject({ calls: 2, output: 14 })
  })
})

describe('bad input (trap 9)', () => {
  const history = JSON.stringify([user('<task>\nSort\n</task>'), assistant('Sorted é.'), user('more')])
  const ui = JSON.stringify([say('task', 'Sort'), request(counts), say('text', 'x')], undefined, 2)

  it('that is cut at any byte gives every message that is whole, and says that it was cut', async () => {
    for (const [name, text] of [
      ['api_conversation_history.json', history],
      ['ui_messages.json', ui],
    ] as const) {
      const bytes = Buffer.from(text)
      for (let length = 1; length < bytes.length; length += 7) {
        const source = memoryFileSource(name, bytes.subarray(0, length))
        const [only] = await readAll(cline, source)
        const { entries = [], damage = [] } = only ?? {}
        expect(damage.length).toBeGreaterThan(0)
        expect(entries.length).toBeLessThanOrEqual(3)
        const whole = bytes.subarray(0, length).toString().split('}]},{"role"').length - 1
        if (name !== 'ui_messages.json') expect(entries.length).toBeGreaterThanOrEqual(whole)
      }
    }
  })

  it('of one file costs nothing of the others', async () => {
    const source = memorySource(
      files({
        [`${TASK}/api_conversation_history.json`]: history,
        [`${TASK}/ui_messages.json`]: 'not json at all',
        [`${TASK}/task_metadata.json`]: '{"files_in',
      }),
    )
    const [only] = await readAll(cline, source)
    expect(only?.entries).toHaveLength(3)
    expect(only?.damage.map(({ kind }) => kind)).toEqual(['not-json', 'not-json'])
  })

  it('never throws, and gives every element', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            ts: fc.jsonValue(),
            type: fc.constantFrom('say', 'ask', 1),
            say: fc.constantFrom('api_req_started', 'text', 'tool', 'error', {}),
            ask: fc.constantFrom('tool', 'followup', null),
            text: fc.oneof(fc.json(), fc.jsonValue()),
            role: fc.constantFrom('user', 'assistant', 'x'),
            content: fc.jsonValue(),
            modelInfo: fc.jsonValue(),
            conversationHistoryIndex: fc.jsonValue(),
          }),
          { maxLength: 6 },
        ),
        fc.constantFrom('ui_messages.json', 'api_conversation_history.json', 'task_metadata.json'),
        async (messages, name) => {
          const both = memorySource(
            files({
              [`t/${name}`]: JSON.stringify(messages),
              't/ui_messages.json': JSON.stringify(messages),
            }),
          )
          const transcripts = await readAll(cline, both)
          const entries = transcripts.flatMap((one) => one.entries)
          const lists = name === 'api_conversation_history.json' ? 2 : 1
          expect(entries.length).toBeGreaterThanOrEqual(messages.length * (messages.length === 0 ? 0 : lists))
        },
      ),
      { numRuns: 200 },
    ))

  it('of an empty file is damage', async () => {
    const [only] = await readAll(cline, memoryFileSource('ui_messages.json', ''))
    expect(only?.damage).toMatchObject([{ reason: 'empty' }])
  })
})

describe('detection and places', () => {
  const detect = (value: Json) => cline.detect(memoryFileSource('any', JSON.stringify(value)))

  it('is by content', async () => {
    expect((await detect([say('task', 'x')]))?.confidence).toBe(0.95)
    expect((await detect([user('x')]))?.confidence).toBe(0.9)
    expect((await detect([{ role: 'user', content: '<task>\nx\n</task>' }]))?.confidence).toBe(0.75)
    expect((await detect({ files_in_context: [] }))?.confidence).toBe(0.8)
  })

  it('takes no list of plain messages, and no other document with messages, for its own', async () => {
    expect(await detect([{ role: 'user', content: 'hi' }])).toBeUndefined()
    expect(await detect({ sessionId: 'a', projectHash: 'b', messages: [] })).toBeUndefined()
    expect(await detect({ messages: [{ role: 'user', content: 'hi' }] })).toBeUndefined()
    expect(await detect([])).toBeUndefined()
  })

  it('reads the files of a task as one unit', () => {
    const unit = (path: string): unknown => cline.unit?.({ path } as never)
    expect([unit(`${TASK}/ui_messages.json`), unit(`${TASK}/task_metadata.json`)]).toEqual([TASK, TASK])
    const folders = cline.places?.flatMap((place) => place.folders) ?? []
    expect(folders).toContain('${APPDATA}/Code/User/globalStorage/saoudrizwan.claude-dev/tasks')
    expect(folders).toContain(
      '~/Library/Application Support/Cursor/User/globalStorage/kilocode.kilo-code/tasks',
    )
  })
})

describe('a task in a folder whose name says nothing', () => {
  const lists = {
    'api_conversation_history.json': [user('one'), assistant('1'), user('two'), assistant('2')],
    'ui_messages.json': [
      say('text', 'one', { conversationHistoryIndex: -1 }),
      request(counts, { conversationHistoryIndex: 0 }),
      say('text', '1', { conversationHistoryIndex: 1 }),
      request({}, { conversationHistoryIndex: 2 }),
    ],
  }
  const readIn = async (folder: string): Promise<Transcript> => {
    const texts = Object.entries(lists).map(([name, value]) => [`${folder}/${name}`, JSON.stringify(value)])
    const [only] = await readAll(
      cline,
      memorySource(files(Object.fromEntries(texts) as Record<string, string>)),
    )
    return only as Transcript
  }

  it('has the answer that nobody counted', async () => {
    const fold = createCallFold()
    for (const entry of (await readIn('my-task')).entries) fold.add(entry)
    expect(fold.totals()).toMatchObject({ calls: 1, uncounted: 1, usage: { quality: 'partial' } })
  })

  it('is the same in every copy, and its calls are', async () => {
    const [one, other] = [await readIn('my-task'), await readIn('a copy')]
    expect(other.session).toEqual(one.session)
    expect(one.session.native).toBeDefined()
    const calls = ({ entries }: Transcript): unknown => entries.map(({ call }) => call)
    expect(calls(other)).toEqual(calls(one))
  })
})
