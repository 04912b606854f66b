import { describe, expect, it } from 'vitest'
import { expectToSurviveCuts } from '../../test/cuts.ts'
import { files, memoryFileSource, memorySource, readAll } from '../../test/memory-files.ts'
import type { Entry } from '../transcript/entry.ts'
import { uuidFrom } from '../transcript/ids.ts'
import { toJson, type Json } from '../transcript/json.ts'
import { createCallFold } from '../transcript/totals.ts'
import { kimi } from './kimi.ts'

const lines = (...values: readonly Json[]): string => values.map((value) => `${toJson(value)}\n`).join('')
const T = 1_784_950_509_920
const loop = (event: Json): Json => ({ type: 'context.append_loop_event', event, time: T })
const usage = { inputOther: 10, output: 4, inputCacheRead: 7, inputCacheCreation: 0 }
const HEAD: readonly Json[] = [
  { type: 'metadata', protocol_version: '1.4', created_at: T },
  { type: 'config.update', cwd: '/w', modelAlias: 'moonshot/k2', time: T },
]
const STEP: readonly Json[] = [
  { type: 'turn.prompt', input: [{ type: 'text', text: 'Look.' }], origin: { kind: 'user' }, time: T },
  {
    type: 'context.append_message',
    message: {
      role: 'user',
      content: [{ type: 'text', text: 'Look.' }],
      toolCalls: [],
      origin: { kind: 'user' },
    },
    time: T,
  },
  loop({ type: 'step.begin', uuid: 'st1', turnId: '0', step: 1 }),
  {
    type: 'llm.request',
    kind: 'loop',
    provider: 'kimi',
    model: 'kimi-k2',
    modelAlias: 'moonshot/k2',
    time: T,
  },
  loop({ type: 'content.part', stepUuid: 'st1', part: { type: 'think', think: 'hm' } }),
  loop({ type: 'tool.call', stepUuid: 'st1', toolCallId: 'c1', name: 'Glob', args: { p: '*' } }),
  loop({ type: 'tool.result', toolCallId: 'c1', result: { output: 'a.ts' } }),
  loop({ type: 'step.end', uuid: 'st1', usage, finishReason: 'tool_use', messageId: 'chatcmpl-1' }),
  { type: 'usage.record', model: 'moonshot/k2', usage, usageScope: 'turn', time: T },
]
const LOG = lines(...HEAD, ...STEP)
const used = (entries: readonly Entry[] = []) => {
  const fold = createCallFold()
  for (const entry of entries) fold.add(entry)
  return fold.totals()
}
const read = async (text: string) => (await readAll(kimi, memoryFileSource('wire.jsonl', text)))[0]

describe("Kimi Code's wire", () => {
  it('is told by its lines', async () => {
    expect((await kimi.detect(memoryFileSource('x', LOG)))?.confidence).toBe(0.95)
    expect((await kimi.detect(memoryFileSource('x', lines(...STEP))))?.confidence).toBeGreaterThan(0.6)
    expect(
      await kimi.detect(
        memoryFileSource('x', lines({ type: 'session.start', time: 1 }, { type: 'metadata' })),
      ),
    ).toBeUndefined()
  })

  it('says each thing once, by the model behind its name', async () => {
    const one = await read(LOG)
    const said = one?.entries.filter(({ kind }) => kind === 'message')
    expect(said?.map(({ role, blocks }) => [role, blocks[0]?.type])).toEqual([
      ['user', 'text'],
      ['assistant', 'thinking'],
      ['assistant', 'tool-call'],
      ['tool', 'tool-result'],
    ])
    expect(said?.[1]).toMatchObject({ model: 'kimi-k2', call: { provider: 'kimi', messageId: 'st1' } })
    expect(one?.session).toMatchObject({ model: 'kimi-k2', cwd: '/w', startedAt: '2026-07-25T03:35:09.920Z' })
    expect(one?.entries).toHaveLength(HEAD.length + STEP.length)
  })

  it('counts a step once, though it is told twice, and what only a record tells', async () => {
    expect(used((await read(LOG))?.entries)).toMatchObject({
      calls: 1,
      usage: { input: 10, cacheRead: 7, output: 4 },
    })
    const compaction = {
      type: 'usage.record',
      model: 'moonshot/k2',
      usage,
      usageScope: 'compaction',
      time: T,
    }
    const more = await read(lines(...HEAD, ...STEP, compaction))
    expect(used(more?.entries)).toMatchObject({ calls: 2, usage: { input: 20, output: 8 } })
    expect(more?.entries.at(-1)?.model).toBe('kimi-k2')
  })

  describe('of protocol 1.5', () => {
    const ended = {
      type: 'step.end',
      uuid: 'st1',
      usage,
      finishReason: 'end_turn',
      messageId: 'chatcmpl-8fe2a',
    }
    const record = { type: 'usage.record', model: 'moonshot/k2', usage, usageScope: 'turn', time: T }
    const said = loop({ type: 'content.part', stepUuid: 'st1', part: { type: 'text', text: 'Done.' } })
    const begun = [...HEAD, loop({ type: 'step.begin', uuid: 'st1' })]

    it('counts a step once whose usage is recorded before its end, by the provider’s name for it', async () => {
      const one = await read(lines(...begun, record, said, loop(ended)))
      expect(used(one?.entries)).toMatchObject({ calls: 1, usage: { input: 10, cacheRead: 7, output: 4 } })
      expect(new Set(one?.entries.flatMap(({ call }) => call?.messageId ?? []))).toEqual(
        new Set(['chatcmpl-8fe2a']),
      )
    })

    it('counts a step that was killed before its end', async () => {
      const one = await read(lines(...begun, record, said))
      expect(used(one?.entries)).toMatchObject({ calls: 1, usage: { input: 10 } })
      expect(used(one?.entries).uncounted).toBeUndefined()
    })

    it('counts what is no step’s by itself: a failed attempt, and a compaction right behind a step', async () => {
      const attempt = { ...record, usage: { ...usage, output: 1 } }
      const compaction = { ...record, usageScope: 'session' }
      const one = await read(lines(...begun, attempt, record, said, loop(ended), compaction))
      expect(used(one?.entries)).toMatchObject({ calls: 3, usage: { input: 30, output: 9 } })
    })

    it('names steps by their own ids where a server gives all answers the same', async () => {
      const other = [loop({ type: 'step.begin', uuid: 'st2' }), record, loop({ ...ended, uuid: 'st2' })]
      const one = await read(lines(...begun, record, loop(ended), ...other))
      expect(used(one?.entries)).toMatchObject({ calls: 2, usage: { output: 8 } })
    })

    it('says each text once: what is appended when the turn is over is a copy', async () => {
      const message = { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] }
      const appended = {
        type: 'agent.message.appended',
        message: { message, meta: {} },
        kind: 'event',
        time: T,
      }
      const one = await read(lines(...begun, said, appended))
      expect(
        one?.entries.filter(({ blocks }) => toJson(blocks as unknown as Json).includes('Done.')),
      ).toHaveLength(1)
      expect(toJson(one?.entries.at(-1)?.metadata ?? null)).toContain('Done.')
    })

    it('says what failed: a turn, the attempts before an answer, and the session that ends so', async () => {
      const prompt = { type: 'turn.prompt', input: [], origin: { kind: 'user' }, turnId: 0, time: T }
      const retry = {
        type: 'turn.step.retrying',
        errorName: 'RateLimit',
        errorMessage: '429 slow down',
        time: T,
      }
      const error = { code: 'provider.api_error', message: '400 no' }
      const over = { type: 'turn.ended', turnId: 0, reason: 'failed', error, time: T }
      const failed = await read(lines(...begun, prompt, retry, over))
      expect(failed?.entries.flatMap(({ blocks }) => blocks.filter(({ type }) => type === 'error'))).toEqual([
        { type: 'error', message: '429 slow down', code: 'RateLimit' },
        { type: 'error', message: '400 no', code: 'provider.api_error' },
      ])
      expect(failed?.session).toMatchObject({ status: 'failed', error: '400 no' })
      expect((await read(lines(...begun, over, said)))?.session.status).toBe('completed')
      const canceled = { ...over, reason: 'cancelled', error: null }
      expect((await read(lines(...begun, said, canceled)))?.session.status).toBe('canceled')
    })

    it('names the session of a subagent and the call that started it', async () => {
      const call = { type: 'tool.call', stepUuid: 'st1', toolCallId: 'c1', name: 'Agent', args: {} }
      const spawned = { type: 'subagent.spawned', subagentId: 'agent-0', parentToolCallId: 'c1', time: T }
      const source = memorySource(files({ 'agents/main/wire.jsonl': lines(...begun, loop(call), spawned) }), {
        path: '/h/.kimi-code/sessions/wd_1/session_1',
      })
      const [one] = await readAll(kimi, source)
      expect(one?.entries.at(-1)?.metadata).toMatchObject({
        spawned: uuidFrom('kimi', 'session_1/agent-0'),
        spawnedBy: 'c1',
      })
    })

    it('has a state with its times in milliseconds', async () => {
      const text = toJson({ id: 's', version: 2, cwd: '/w', createdAt: T, updatedAt: T, agents: {} }, 2)
      expect((await kimi.detect(memoryFileSource('state.json', text)))?.confidence).toBe(0.9)
      expect((await read(text))?.session).toMatchObject({ cwd: '/w' })
    })
  })

  it('of a subagent belongs to the session that its folder names', async () => {
    const state = { createdAt: 'a', updatedAt: 'b', title: 'A look', agents: {}, workDir: '/w' }
    const folder = files({
      'agents/main/wire.jsonl': LOG,
      'agents/agent-0/wire.jsonl': LOG,
      'state.json': toJson(state, 2),
    })
    const sessions = await readAll(
      kimi,
      memorySource(folder, { path: '/h/.kimi-code/sessions/wd_1/session_1' }),
    )
    expect(new Set(sessions.map(({ session }) => session.native?.sessionId))).toEqual(
      new Set(['session_1', 'session_1/agent-0']),
    )
    const [child, main] = [...sessions].sort(
      (a, b) => b.session.id.length - a.session.id.length || (a.session.parent ? -1 : 1),
    )
    expect(child?.session.parent).toEqual({ session: uuidFrom('kimi', 'session_1'), relation: 'subagent' })
    expect(main?.session).toMatchObject({ id: uuidFrom('kimi', 'session_1'), title: 'A look' })
  })

  it('has a state that is read by itself too', async () => {
    const text = toJson({ createdAt: 'a', updatedAt: 'b', title: 'A look', agents: {}, workDir: '/w' }, 2)
    expect((await kimi.detect(memoryFileSource('state.json', text)))?.confidence).toBe(0.9)
    const one = await read(text)
    expect(one?.session).toMatchObject({ title: 'A look', cwd: '/w' })
    expect(one?.entries).toHaveLength(1)
  })

  it("of Kimi CLI, Code's forerunner, is read as well", async () => {
    const wire = (type: string, payload: Json): Json => ({
      timestamp: 1_770_000_000.5,
      message: { type, payload },
    })
    const one = await read(
      lines(
        { type: 'metadata', protocol_version: '1.1' },
        wire('TurnBegin', { user_input: 'Look.' }),
        wire('ContentPart', { type: 'think', think: 'hm' }),
        wire('ToolCall', { type: 'function', id: 'c1', function: { name: 'Glob', arguments: '{"p":1}' } }),
        wire('ToolResult', { tool_call_id: 'c1', return_value: { is_error: true, output: 'no' } }),
        wire('StatusUpdate', {
          token_usage: { input_other: 5, output: 2, input_cache_read: 1, input_cache_creation: 0 },
          message_id: 'm1',
        }),
      ),
    )
    expect(one?.entries.slice(1).map(({ role, blocks }) => role ?? blocks[0]?.type)).toEqual([
      'user',
      'assistant',
      'assistant',
      'tool',
      'unknown',
    ])
    expect(one?.entries[4]?.blocks[0]).toMatchObject({ output: 'no', isError: true })
    expect(used(one?.entries)).toMatchObject({ usage: { input: 5, cacheRead: 1, output: 2 } })
    expect(one?.entries[1]?.at).toBe('2026-02-02T02:40:00.500Z')
  })

  it('is read up to any byte', () => expectToSurviveCuts(kimi, LOG))
})
