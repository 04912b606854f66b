import { describe, expect, it } from 'vitest'
import { expectToSurviveCuts } from '../../test/cuts.ts'
import { memoryFileSource, readAll } from '../../test/memory-files.ts'
import { toJson, type Json } from '../transcript/json.ts'
import type { Entry } from '../transcript/entry.ts'
import { createCallFold } from '../transcript/totals.ts'
import { claudeCode } from './claude-code.ts'
import { claudeStreamJson } from './claude-stream-json.ts'
import type { Format } from './format.ts'
import { geminiStreamJson } from './gemini-stream-json.ts'

const lines = (...values: readonly Json[]): string => values.map((value) => `${toJson(value)}\n`).join('')
const read = (format: Format, text: string) => readAll(format, memoryFileSource('x.jsonl', text))
const detect = (format: Format, text: string) => format.detect(memoryFileSource('x.jsonl', text))

const used = (entries: readonly Entry[] = []) => {
  const fold = createCallFold()
  for (const entry of entries) fold.add(entry)
  return fold.totals().usage
}

const claude = (session: string): readonly Json[] => [
  {
    type: 'system',
    subtype: 'init',
    session_id: session,
    model: 'claude-x',
    claude_code_version: '2.1.0',
    tools: [],
  },
  {
    type: 'assistant',
    session_id: session,
    uuid: `${session}-1`,
    message: {
      id: `msg_${session}`,
      role: 'assistant',
      model: 'claude-x',
      content: [{ type: 'tool_use', id: 'c1', name: 'Read', input: { path: 'a' } }],
      usage: { input_tokens: 5, output_tokens: 1 },
    },
  },
  {
    type: 'user',
    session_id: session,
    uuid: `${session}-2`,
    message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'text' }] },
  },
  {
    type: 'result',
    subtype: 'success',
    session_id: session,
    is_error: false,
    num_turns: 1,
    total_cost_usd: 0.25,
    modelUsage: {
      'claude-x': { inputTokens: 5, outputTokens: 9, cacheReadInputTokens: 0, cacheCreationInputTokens: 0 },
    },
  },
]
const gemini: readonly Json[] = [
  { type: 'init', session_id: 'g1', model: 'gemini-x', timestamp: '2026-01-01T00:00:00.000Z' },
  { type: 'message', role: 'user', content: 'hello', timestamp: '2026-01-01T00:00:01.000Z' },
  { type: 'message', role: 'assistant', content: 'hi ', delta: true },
  { type: 'message', role: 'assistant', content: 'there', delta: true },
  { type: 'tool_use', tool_name: 'look', tool_id: 't1', parameters: { at: 1 } },
  { type: 'tool_result', tool_id: 't1', status: 'success', output: 'a tree' },
  { type: 'message', role: 'assistant', content: 'A tree.', delta: true },
  {
    type: 'result',
    status: 'success',
    stats: { total_tokens: 30, input_tokens: 20, output_tokens: 6, cached: 8 },
  },
]
describe('a stream kept in a file', () => {
  it('is told by its lines, and apart from the log of the same agent', async () => {
    expect((await detect(claudeStreamJson, lines(...claude('s'))))?.confidence).toBe(0.95)
    expect((await detect(geminiStreamJson, lines(...gemini)))?.confidence).toBe(0.95)
    expect(await detect(claudeCode, lines(...claude('s')))).toBeUndefined()
    const log = {
      type: 'assistant',
      sessionId: 's',
      session_id: 's',
      uuid: 'u',
      parentUuid: null,
      userType: 'external',
      message: {},
    }
    expect(await detect(claudeStreamJson, lines(log))).toBeUndefined()
    for (const format of [claudeStreamJson, geminiStreamJson]) {
      expect(
        await detect(
          format,
          lines({ type: 'message', role: 'user', content: 'a' }, { type: 'error', message: 'b' }, { a: 1 }),
        ),
      ).toBeUndefined()
      expect(await detect(format, '')).toBeUndefined()
    }
  })

  it('of Claude Code has its sums, its cost and its end', async () => {
    const [one] = await read(claudeStreamJson, lines(...claude('s1')))
    expect(one?.session).toMatchObject({
      native: { agent: 'claude-code', sessionId: 's1' },
      model: 'claude-x',
      version: '2.1.0',
      status: 'completed',
      reportedCost: '0.25',
    })
    expect(one?.entries.map(({ role, kind }) => role ?? kind)).toEqual([
      'event',
      'assistant',
      'tool',
      'event',
    ])
    expect(one?.entries[2]?.blocks[0]).toMatchObject({ type: 'tool-result', name: 'Read', output: 'text' })
    expect(used(one?.entries)).toMatchObject({ input: 5, output: 9 })
  })

  it('of Gemini CLI has what was said in pieces as one entry, from all its lines', async () => {
    const text = lines(...gemini)
    const [one] = await read(geminiStreamJson, text)
    expect(one?.session).toMatchObject({
      native: { agent: 'gemini-cli', sessionId: 'g1' },
      startedAt: '2026-01-01T00:00:00.000Z',
    })
    const said = one?.entries.flatMap(({ blocks: [first] }) => (first?.type === 'text' ? [first.text] : []))
    expect(said).toEqual(['hello', 'hi there', 'A tree.'])
    const { byteOffset = 0, byteLength = 0 } = one?.entries[2]?.origin ?? {}
    expect(
      text
        .slice(byteOffset, byteOffset + byteLength)
        .split('\n')
        .filter(Boolean),
    ).toHaveLength(2)
    expect(used(one?.entries)).toMatchObject({
      input: 12,
      cacheRead: 8,
      output: 10,
      quality: 'estimated',
    })
  })

  it('may hold several runs: a session each', async () => {
    const sessions = await read(claudeStreamJson, lines(...claude('s1'), ...claude('s2')))
    expect(sessions.map(({ session }) => session.native?.sessionId)).toEqual(['s1', 's2'])
    expect(sessions.map(({ entries }) => entries.length)).toEqual([4, 4])
  })

  it('that ends before its result was interrupted', async () => {
    const [one] = await read(claudeStreamJson, lines(...claude('s1').slice(0, 2)))
    expect(one?.session.status).toBe('interrupted')
  })

  it('has the events of partial messages in the origins of its entries', async () => {
    const event = (said: Json): Json => ({ type: 'stream_event', session_id: 's1', event: said })
    const text = lines(
      claude('s1')[0] as Json,
      event({
        type: 'message_start',
        message: {
          id: 'msg_s1',
          role: 'assistant',
          model: 'claude-x',
          content: [],
          usage: { input_tokens: 5 },
        },
      }),
      event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      claude('s1')[1] as Json,
      event({ type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } }),
      event({ type: 'message_stop' }),
    )
    const [one] = await read(claudeStreamJson, text)
    const covered = (offset: number): boolean =>
      one?.entries.some(
        ({ origin }) =>
          origin !== undefined &&
          origin.byteOffset <= offset &&
          offset < origin.byteOffset + origin.byteLength,
      ) === true
    let offset = 0
    for (const line of text.trimEnd().split('\n')) {
      expect(covered(offset)).toBe(true)
      offset += Buffer.byteLength(line) + 1
    }
  })

  it('may be of any number of lines for each chunk that is read of it', async () => {
    const text = lines(claude('s1')[0] as Json) + '1\n'.repeat(250_000) + lines(claude('s2')[0] as Json)
    const source = memoryFileSource('x.jsonl', text, { chunkBytes: 512 * 1024 })
    const sessions = await readAll(claudeStreamJson, source)
    expect(sessions.map(({ entries }) => entries.length)).toEqual([250_001, 1])
  })

  it('is read up to any byte', async () => {
    await expectToSurviveCuts(claudeStreamJson, lines(...claude('s')))
    await expectToSurviveCuts(geminiStreamJson, lines(...gemini))
  })
})
