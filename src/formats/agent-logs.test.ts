/** Droid, Antigravity, Hermes, Aider, Amp, Continue and Goose: what each says in its own way. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { files, memoryFileSource, memorySource, readAll } from '../../test/memory-files.ts'
import { openSource } from '../sources/open.ts'
import { openDatabase } from '../sqlite/driver.ts'
import { createCallFold } from '../transcript/totals.ts'
import type { Transcript } from '../transcript/transcript.ts'
import { aider } from './aider.ts'
import { amp } from './amp.ts'
import { antigravity } from './antigravity.ts'
import { continueSessions } from './continue.ts'
import { droid } from './droid.ts'
import type { Format } from './format.ts'
import { goose } from './goose.ts'
import { hermes } from './hermes.ts'

const jsonl = (...records: readonly unknown[]): string =>
  records.map((one) => `${JSON.stringify(one)}\n`).join('')
const read = async (format: Format, text: string): Promise<Transcript> => {
  const [told] = await readAll(format, memoryFileSource('x', text))
  return told as Transcript
}
const totals = ({ entries }: Transcript) => {
  const fold = createCallFold()
  for (const entry of entries) fold.add(entry)
  return fold.totals()
}

describe('Droid', () => {
  it('has the counts of a session in the settings beside its log', async () => {
    const log = jsonl(
      { type: 'session_start', id: 'd', cwd: '/p' },
      { type: 'message', id: 'm', message: { role: 'user', content: 'hi' } },
    )
    const settings = JSON.stringify({
      model: 'custom:opus',
      tokenUsage: { inputTokens: 5, outputTokens: 2, cacheReadTokens: 7 },
    })
    const [told] = await readAll(droid, memorySource(files({ 'd.jsonl': log, 'd.settings.json': settings })))
    expect(told?.session).toMatchObject({
      native: { sessionId: 'd' },
      cwd: '/p',
      model: 'opus',
      reportedUsage: { input: 5, cacheRead: 7, output: 2 },
    })
    expect(told?.entries).toHaveLength(3)
  })

  it('says an answer once that its last line says again', async () => {
    const message = { type: 'message', sessionId: 's', role: 'assistant', text: 'Done' }
    const told = await read(
      droid,
      jsonl(message, {
        type: 'completion',
        sessionId: 's',
        finalText: 'Done',
        usage: { input_tokens: 3, output_tokens: 1 },
      }),
    )
    expect(told.entries.map(({ kind }) => kind)).toEqual(['message', 'event'])
    expect(totals(told)).toMatchObject({ calls: 1, usage: { input: 3, output: 1 } })
  })
})

describe('Antigravity', () => {
  it('has no names for calls: what comes behind an answer is paired in its order', async () => {
    const step = (type: string, more: object) => ({
      step_index: 1,
      source: 'MODEL',
      type,
      status: 'DONE',
      ...more,
    })
    const calls = [
      { name: 'a', args: {} },
      { name: 'b', args: {} },
    ]
    const { entries } = await read(
      antigravity,
      jsonl(
        step('PLANNER_RESPONSE', { tool_calls: calls }),
        step('VIEW_FILE', { content: '1' }),
        step('RUN_COMMAND', { content: '2', status: 'ERROR' }),
        step('GREP_SEARCH', { content: '3' }),
      ),
    )
    expect(
      entries.slice(1).map(({ blocks: [block] }) => block?.type === 'tool-result' && block.callId),
    ).toEqual(['call-1', 'call-2', undefined])
    expect(entries[2]?.blocks[0]).toMatchObject({ isError: true })
  })
})

describe('Hermes', () => {
  it('has its prompt before its messages, and keeps what is none', async () => {
    const session = {
      session_id: 'h',
      session_start: '2026-01-01T00:00:00',
      platform: 'cli',
      last_updated: '2026-01-01T00:01:00',
      system_prompt: 'be brief',
      messages: [{ role: 'user', content: 'hi' }, { role: 'session_meta' }],
    }
    const { session: facts, entries } = await read(hermes, JSON.stringify(session))
    expect(entries.map(({ role, metadata }) => role ?? metadata?.['record'])).toEqual([
      'session',
      'system',
      'user',
      'session_meta',
    ])
    expect(facts).toMatchObject({
      startedAt: '2026-01-01T00:00:00.000Z',
      endedAt: '2026-01-01T00:01:00.000Z',
    })
  })
})

const HERMES = `
CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, model TEXT, system_prompt TEXT, started_at REAL, ended_at REAL, message_count INTEGER, input_tokens INTEGER, output_tokens INTEGER, cache_read_tokens INTEGER, estimated_cost_usd REAL, title TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL, finish_reason TEXT);
INSERT INTO sessions VALUES ('h1', 'cli', 'gpt-5', 'be brief', 1767261600, 1767261700, 2, 20, 6, 10, 0.5, 'look');
INSERT INTO messages VALUES (1, 'h1', 'assistant', 'I look.', null, '[{"id":"c","type":"function","function":{"name":"ls","arguments":"{}"}}]', null, 1767261601.5, 'tool_calls');
INSERT INTO messages VALUES (2, 'h1', 'tool', 'a.txt', 'c', null, 'ls', 1767261602, null);
`

it('Hermes reads its database', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'hansard-hermes-')), 'state.db')
  const database = await openDatabase(path)
  database.exec(HERMES)
  database.close()
  const source = await openSource(path)
  expect(await hermes.detect(source)).toMatchObject({ confidence: 0.95 })
  expect(await goose.detect(source)).toBeUndefined()
  const [told] = await readAll(hermes, source)
  expect(told?.session).toMatchObject({
    native: { sessionId: 'h1' },
    title: 'look',
    reportedCost: '0.5',
    reportedUsage: { input: 20, cacheRead: 10, output: 6 },
  })
  expect(told?.entries.map(({ role, kind }) => role ?? kind)).toEqual([
    'event',
    'system',
    'assistant',
    'tool',
  ])
  expect(told?.entries[2]).toMatchObject({
    at: '2026-01-01T10:00:01.500Z',
    stopReason: 'tool_calls',
    blocks: [{ text: 'I look.' }, { type: 'tool-call', callId: 'c' }],
  })
  expect(told?.entries[3]?.blocks).toMatchObject([
    { type: 'tool-result', callId: 'c', name: 'ls', output: 'a.txt' },
  ])
})

it('Hermes finds a prompt that sessions share, and counts what was thought as output', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'hansard-hermes-')), 'state.db')
  const database = await openDatabase(path)
  database.exec(`
CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, started_at REAL, message_count INTEGER, system_prompt TEXT, system_prompt_hash TEXT, input_tokens INTEGER, output_tokens INTEGER, reasoning_tokens INTEGER);
CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, tool_calls TEXT, timestamp REAL);
CREATE TABLE system_prompts (hash TEXT PRIMARY KEY, content TEXT);
INSERT INTO system_prompts VALUES ('abc', 'Be brief.');
INSERT INTO sessions VALUES ('h1', 'cli', 1767261600, 1, null, 'abc', 9, 6, 4), ('h2', 'cli', 1767261601, 1, null, 'gone', 0, 0, 0);
`)
  database.close()
  const [first, second] = await readAll(hermes, await openSource(path))
  expect(first?.entries[1]).toMatchObject({ role: 'system', blocks: [{ text: 'Be brief.' }] })
  expect(first?.session.reportedUsage).toMatchObject({ input: 9, output: 6, reasoning: 4 })
  expect(second?.entries).toHaveLength(1)
  expect(second?.session.reportedUsage).toBeUndefined()
})

const HISTORY = `
# aider chat started at 2026-01-01 10:00:00

> Aider v0.86.1
> Main model: gpt-5 with diff edit format

#### fix it
#### please

I will.

Done.

> Tokens: 12k sent, 2k cache hit, 1.3k received. Cost: $0.04 message, $0.10 session.

# aider chat started at 2026-01-02 10:00:00

#### more
`

describe('Aider', () => {
  it('has a session for each chat, and every line in one of its entries', async () => {
    const told = await readAll(aider, memoryFileSource('x', HISTORY))
    expect(told.map(({ session }) => session.startedAt)).toEqual([
      '2026-01-01T10:00:00.000Z',
      '2026-01-02T10:00:00.000Z',
    ])
    expect(told[0]?.session).toMatchObject({ model: 'gpt-5', version: '0.86.1', reportedCost: '0.04' })
    const texts = told[0]?.entries.flatMap(({ blocks }) =>
      blocks.map((block) => block.type === 'text' && block.text),
    )
    expect(texts).toContain('fix it\nplease')
    expect(texts).toContain('I will.\n\nDone.')
  })

  it('has rounded counts, which say so', async () => {
    expect(totals(await read(aider, HISTORY)).usage).toEqual({
      input: 10_000,
      cacheRead: 2000,
      output: 1300,
      quality: 'estimated',
    })
  })

  it('is read wherever it is cut off', async () => {
    for (let length = 1; length <= HISTORY.length; length += 1) {
      const told = await readAll(aider, memoryFileSource('x', HISTORY.slice(0, length)))
      expect(told.length).toBeLessThanOrEqual(2)
    }
  })
})

describe('Amp', () => {
  it('counts what was cached beside the input, once for each message of a thread', async () => {
    const usage = {
      model: 'claude',
      inputTokens: 3,
      outputTokens: 2,
      cacheReadInputTokens: 7,
      cacheCreationInputTokens: 1,
    }
    const told = await read(
      amp,
      JSON.stringify({
        id: 'T-0000000000',
        created: 1,
        messages: [
          { role: 'assistant', messageId: 1, content: [], usage },
          { role: 'assistant', messageId: 1, content: [], usage },
        ],
      }),
    )
    expect(totals(told)).toMatchObject({
      calls: 1,
      usage: { input: 3, cacheRead: 7, cacheWrite5m: 1, output: 2 },
    })
  })
})

it('Amp has results in words of its own: how the run of a call went', async () => {
  const ran = (toolUseID: string, run: object) => ({ type: 'tool_result', toolUseID, run })
  const told = await read(
    amp,
    JSON.stringify({
      v: 8,
      id: 'T-0000000000',
      created: 1,
      usageLedger: { events: [{ toMessageId: 1, credits: 2 }] },
      messages: [
        {
          role: 'assistant',
          messageId: 1,
          state: { type: 'complete', stopReason: 'tool_use' },
          content: [{ type: 'tool_use', complete: true, id: 'a', name: 'Bash', input: { cmd: 'ls' } }],
        },
        {
          role: 'user',
          messageId: 2,
          content: [
            ran('a', { status: 'done', result: { output: 'a.txt', exitCode: 0 }, trackFiles: ['x'] }),
            ran('b', { status: 'error', error: { message: 'no' } }),
            ran('c', { status: 'cancelled' }),
          ],
        },
        { role: 'info', content: [{ type: 'summary', summary: { type: 'message', summary: 'so far' } }] },
      ],
    }),
  )
  expect(told.entries.map(({ role, kind }) => role ?? kind)).toEqual(['event', 'assistant', 'tool', 'event'])
  expect(told.entries[1]).toMatchObject({ stopReason: 'tool_use' })
  expect(told.entries[2]?.blocks).toEqual([
    { type: 'tool-result', callId: 'a', output: '{"output":"a.txt","exitCode":0}' },
    { type: 'tool-result', callId: 'b', output: '{"message":"no"}', isError: true },
    { type: 'tool-result', callId: 'c', isError: true },
  ])
  expect(JSON.stringify(told.entries[2]?.metadata)).toContain('trackFiles')
  expect(JSON.stringify(told.entries[0])).toContain('credits')
})

describe('Continue', () => {
  it('has the cache beside the prompt of Anthropic’s models, and results that are said again once', async () => {
    const usage = {
      promptTokens: 10,
      completionTokens: 2,
      promptTokensDetails: { cachedTokens: 40, cacheWriteTokens: 3 },
    }
    const history = [
      {
        message: { role: 'assistant', content: 'a', usage },
        promptLogs: [{ modelTitle: 'Claude', modelProvider: 'anthropic', prompt: '', completion: '' }],
        toolCallStates: [{ toolCallId: 'c', status: 'done', output: [{ content: 'x' }, { content: 'y' }] }],
      },
      { message: { role: 'tool', toolCallId: 'c', content: 'x\ny' } },
      { message: { role: 'tool', toolCallId: 'd', content: 'x\ny' } },
    ]
    const { entries } = await read(
      continueSessions,
      JSON.stringify({ sessionId: 's', workspaceDirectory: '/p', history }),
    )
    expect(entries[1]?.usage).toMatchObject({ input: 10, cacheRead: 40, cacheWrite5m: 3, output: 2 })
    expect(entries.map(({ role, kind }) => role ?? kind)).toEqual([
      'event',
      'assistant',
      'tool',
      'event',
      'tool',
    ])
  })

  it('has results with the calls, thinking as a message of its own, and the cache in the prompt', async () => {
    const history = [
      { message: { role: 'thinking', content: 'hm' } },
      {
        message: {
          role: 'assistant',
          content: '',
          usage: { promptTokens: 10, completionTokens: 2, promptTokensDetails: { cachedTokens: 4 } },
        },
        toolCallStates: [{ toolCallId: 'c', status: 'errored', output: [{ content: 'no' }] }],
      },
    ]
    const { entries } = await read(
      continueSessions,
      JSON.stringify({ sessionId: 's', workspaceDirectory: '/p', history }),
    )
    expect(entries[1]?.blocks).toEqual([{ type: 'thinking', text: 'hm' }])
    expect(entries[2]?.usage).toMatchObject({ input: 6, cacheRead: 4, output: 2 })
    expect(entries[3]?.blocks[0]).toMatchObject({
      type: 'tool-result',
      callId: 'c',
      output: 'no',
      isError: true,
    })
  })
})

const SCHEMA = `
CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, working_dir TEXT, created_at TEXT, accumulated_input_tokens INTEGER, accumulated_output_tokens INTEGER, model_config_json TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY, message_id TEXT, session_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER, metadata_json TEXT);
INSERT INTO sessions VALUES ('g1', 'look', '/p', '2026-01-01 10:00:00', 30, 6, '{"model_name":"gpt-5"}');
INSERT INTO messages VALUES (2, 'm2', 'g1', 'assistant', '[{"type":"toolRequest","id":"c","toolCall":{"status":"success","value":{"name":"ls","arguments":{}}}}]', 1767261602, '{"userVisible":true}');
INSERT INTO messages VALUES (1, 'm1', 'g1', 'user', '[{"type":"text","text":"look"}]', 1767261601, null);
INSERT INTO messages VALUES (3, 'm3', 'g1', 'user', 'torn', 1767261603, null);
`

describe('Goose', () => {
  it('reads its database, the messages of each session in their order', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'hansard-goose-')), 'sessions.db')
    const database = await openDatabase(path)
    database.exec(SCHEMA)
    database.close()
    const source = await openSource(path)
    expect(await goose.detect(source)).toMatchObject({ confidence: 0.95 })
    const [told] = await readAll(goose, source)
    expect(told?.session).toMatchObject({
      native: { sessionId: 'g1' },
      title: 'look',
      cwd: '/p',
      model: 'gpt-5',
      reportedUsage: { input: 30, output: 6, quality: 'estimated' },
    })
    expect(told?.entries.map(({ role, kind }) => role ?? kind)).toEqual([
      'event',
      'user',
      'assistant',
      'event',
    ])
    expect(told?.entries[2]).toMatchObject({
      id: 'm2',
      at: '2026-01-01T10:00:02.000Z',
      metadata: { metadata: { userVisible: true } },
    })
  })

  it('reads the schema of 2026: the cache is in the input, costs are stated, requests listed are not counted again', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'hansard-goose-')), 'sessions.db')
    const database = await openDatabase(path)
    database.exec(`
CREATE TABLE sessions (id TEXT PRIMARY KEY, working_dir TEXT, accumulated_input_tokens INTEGER, accumulated_output_tokens INTEGER, accumulated_cache_read_tokens INTEGER, accumulated_cache_write_tokens INTEGER, accumulated_cost REAL, parent_session_id TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER);
CREATE TABLE usage_ledger (id INTEGER PRIMARY KEY, session_id TEXT, created_timestamp INTEGER, model TEXT, input_tokens INTEGER, cost REAL);
INSERT INTO sessions VALUES ('20260101_1', '/p', 100, 6, 60, 10, 0.25, null), ('20260101_2', '/p', 1, 1, 0, 0, 0, '20260101_1');
INSERT INTO messages VALUES (1, '20260101_1', 'user', '[{"type":"text","text":"look"}]', 1767261601000);
INSERT INTO usage_ledger VALUES (1, '20260101_1', 1767261602, 'gpt-5', 100, 0.25);
`)
    database.close()
    const [first, second] = await readAll(goose, await openSource(path))
    expect(first?.session).toMatchObject({
      reportedUsage: { input: 30, cacheRead: 60, cacheWrite5m: 10, output: 6 },
      reportedCost: '0.25',
    })
    expect(second?.session.parent).toEqual({ session: first?.session.id })
    expect(first?.entries.map(({ at, role, metadata }) => [role ?? metadata?.['record'], at])).toEqual([
      ['session', undefined],
      ['user', '2026-01-01T10:00:01.000Z'],
      ['usage', undefined],
    ])
    expect(totals(first as Transcript).usage).toBeUndefined()
  })

  it('reads results that are an error, or an object around a list', async () => {
    const response = (toolResult: object) => ({
      role: 'user',
      created: 1,
      content: [{ type: 'toolResponse', id: 'c', toolResult }],
    })
    const { entries } = await read(
      goose,
      jsonl(
        response({ status: 'error', error: 'no' }),
        response({ status: 'success', value: { content: [{ type: 'text', text: 'x' }], isError: true } }),
      ),
    )
    expect(entries.map(({ blocks }) => blocks[0])).toMatchObject([
      { error: 'no', isError: true },
      { output: 'x', isError: true },
    ])
  })
})
