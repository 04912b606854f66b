import { describe, expect, it } from 'vitest'
import { expectToSurviveCuts } from '../../test/cuts.ts'
import { memoryFileSource, readAll } from '../../test/memory-files.ts'
import { toJson, type Json } from '../transcript/json.ts'
import { codexTuiLog } from './codex-tui-log.ts'
import { codex } from './codex.ts'

const ts = '2025-08-10T03:12:26.500Z'
const told = (msg: Json): Json => ({ ts, dir: 'to_tui', kind: 'codex_event', payload: { id: '1', msg } })
const count = (input: number, output: number): Json =>
  told({
    type: 'token_count',
    input_tokens: input,
    cached_input_tokens: 2,
    output_tokens: output,
    total_tokens: input + output,
  })
const LINES: readonly Json[] = [
  { ts, dir: 'meta', kind: 'session_start', cwd: '/w', model: 'gpt-oss' },
  told({ type: 'session_configured', session_id: 't1', model: 'gpt-oss:20b' }),
  { ts, dir: 'to_tui', kind: 'key_event', event: 'KeyEvent' },
  {
    ts,
    dir: 'from_tui',
    kind: 'op',
    payload: { type: 'user_input', items: [{ type: 'text', text: 'Look.' }] },
  },
  told({ type: 'agent_message_delta', delta: 'A' }),
  told({ type: 'exec_command_begin', call_id: 'c1', command: ['ls'], cwd: '/w' }),
  told({ type: 'exec_command_end', call_id: 'c1', stdout: 'a.ts', stderr: '', exit_code: 1 }),
  told({ type: 'agent_message', message: 'A tree.' }),
  count(10, 3),
  count(25, 8),
]
const LOG = LINES.map((value) => `${toJson(value)}\n`).join('')

describe("the log of Codex's terminal", () => {
  it('is no rollout, and a rollout is not it', async () => {
    expect((await codexTuiLog.detect(memoryFileSource('x', LOG)))?.confidence).toBe(0.95)
    expect(await codex.detect(memoryFileSource('x', LOG))).toBeUndefined()
    const rollout = `${toJson({ timestamp: ts, type: 'session_meta', payload: { id: 't' } })}\n`
    expect(await codexTuiLog.detect(memoryFileSource('x', rollout))).toBeUndefined()
  })

  it('has what was said in messages, and every key as an event', async () => {
    const [one] = await readAll(codexTuiLog, memoryFileSource('x', LOG))
    expect(one?.entries).toHaveLength(LINES.length)
    expect(one?.entries.map(({ role, kind }) => role ?? kind)).toEqual([
      'event',
      'event',
      'event',
      'user',
      'event',
      'assistant',
      'tool',
      'assistant',
      'event',
      'event',
    ])
    expect(one?.entries[6]?.blocks[0]).toMatchObject({
      type: 'tool-result',
      callId: 'c1',
      output: 'a.ts',
      isError: true,
    })
    expect(one?.session).toMatchObject({
      native: { agent: 'codex', sessionId: 't1' },
      agent: 'codex',
      model: 'gpt-oss:20b',
      cwd: '/w',
    })
  })

  it('counts what the sums grew by', async () => {
    const [one] = await readAll(codexTuiLog, memoryFileSource('x', LOG))
    const outputs = one?.entries.flatMap(({ usage }) => (usage === undefined ? [] : [usage.output]))
    expect(outputs).toEqual([3, 5])
  })

  it('is read up to any byte', () =>
    expectToSurviveCuts(
      codexTuiLog,
      LINES.slice(0, 4)
        .map((value) => `${toJson(value)}\n`)
        .join(''),
    ))
})
