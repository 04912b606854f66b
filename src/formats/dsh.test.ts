import { describe, expect, it } from 'vitest'
import { expectToSurviveCuts } from '../../test/cuts.ts'
import { memoryFileSource, readAll } from '../../test/memory-files.ts'
import { uuidFrom } from '../transcript/ids.ts'
import { toJson, type Json } from '../transcript/json.ts'
import { dsh } from './dsh.ts'
import { pi } from './pi.ts'

const T = 1_786_073_817_000
let seq = 0
const event = (type: string, data: Json): Json => ({ type, seq: seq++, time: T + seq * 1000, data })
const HEADER: Json = {
  type: 'session',
  version: 0,
  id: 's1',
  createdAt: T,
  cwd: '/w',
  parentSession: 's0',
  origin: 'subagent',
}
const usage = { inputTokens: 363, outputTokens: 99, cacheReadTokens: 8064, reasoningTokens: 20 }
const CHUNK = event('assistant/chunk', { turn: 1, step: 1, chunk: { type: 'usage', usage } })
const LINES: readonly Json[] = [
  HEADER,
  event('user/message', {
    content: [{ type: 'text', text: 'Look.' }],
    source: { kind: 'user' },
    role: 'user',
    id: 'm0',
  }),
  CHUNK,
  event('assistant/message', {
    turn: 1,
    message: {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'hm' },
        { type: 'tool-call', id: 'c1', name: 'bash', arguments: '{"command":"ls"}' },
      ],
      source: { kind: 'model', provider: 'deepseek', model: 'v4' },
      id: 'm1',
    },
    usage,
  }),
  event('tool/call', { callId: 'c1', name: 'bash', arguments: '{"command":"ls"}' }),
  event('tool/result', {
    message: {
      content: [
        { type: 'tool-result', toolCallId: 'c1', content: [{ type: 'text', text: 'a.ts' }], isError: false },
      ],
      role: 'user',
      id: 'm2',
    },
  }),
  event('step/end', { turn: 1, step: 1 }),
  event('session/title', { title: 'A look' }),
  event('turn/end', { turn: 1, reason: { kind: 'completed' } }),
]
const text = (...values: readonly Json[]): string => values.map((value) => `${toJson(value)}\n`).join('')
const read = async (log: string) => (await readAll(dsh, memoryFileSource('x', log)))[0]

describe("DeepSeek Harness's session", () => {
  it("is told apart from pi's by its header", async () => {
    expect((await dsh.detect(memoryFileSource('x', text(...LINES))))?.confidence).toBe(0.95)
    expect(await pi.detect(memoryFileSource('x', text(...LINES)))).toBeUndefined()
    const other = text({ type: 'session', version: 3, id: 's', timestamp: '2026-01-01T00:00:00Z', cwd: '/' })
    expect(await dsh.detect(memoryFileSource('x', other))).toBeUndefined()
  })

  it('says what was said once, and counts beside the cache', async () => {
    const one = await read(text(...LINES))
    expect(one?.entries.filter(({ kind }) => kind === 'message').map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
    ])
    expect(one?.entries[3]).toMatchObject({
      id: 'm1',
      model: 'v4',
      blocks: [
        { type: 'thinking', text: 'hm' },
        { type: 'tool-call', callId: 'c1', input: { command: 'ls' } },
      ],
      usage: { input: 363, cacheRead: 8064, output: 99, reasoning: 20, quality: 'reported' },
      call: { provider: 'deepseek', messageId: 'm1' },
    })
    expect(one?.entries[5]?.blocks).toEqual([{ type: 'tool-result', callId: 'c1', output: 'a.ts' }])
    expect(one?.entries.filter((entry) => entry.usage !== undefined)).toHaveLength(1)
    expect(one?.session).toMatchObject({
      title: 'A look',
      cwd: '/w',
      stopReason: 'completed',
      parent: { session: uuidFrom('dsh', 's0'), relation: 'subagent' },
    })
  })

  it('counts a step that ended before its message, as far as it went', async () => {
    const one = await read(text(HEADER, CHUNK, event('step/end', {})))
    expect(one?.entries.at(-1)?.usage).toMatchObject({ input: 363, quality: 'partial' })
  })

  it('is read up to any byte', () => expectToSurviveCuts(dsh, text(...LINES.slice(0, 4))))
})
