import { describe, expect, it } from 'vitest'
import { expectToSurviveCuts } from '../../test/cuts.ts'
import { memoryFileSource, readAll } from '../../test/memory-files.ts'
import { toJson, type Json } from '../transcript/json.ts'
import { openclawTelemetry } from './openclaw-telemetry.ts'

const T = 1_772_830_700_000
const user: Json = { role: 'user', content: [{ type: 'text', text: 'Look.' }], timestamp: T }
const answer: Json = {
  role: 'assistant',
  content: [{ type: 'toolCall', id: 'c1', name: 'exec', arguments: { command: 'ls' } }],
  provider: 'anthropic',
  model: 'claude-x',
  usage: { input: 3, output: 4, cacheRead: 5, cacheWrite: 0, totalTokens: 12, cost: { total: 0.01 } },
  stopReason: 'toolUse',
  timestamp: T + 1000,
}
const LINES: readonly Json[] = [
  { type: 'message.in', channel: 'telegram', from: 'a', content: 'Look.', timestamp: T, ts: T },
  { type: 'agent.start', sessionKey: 'agent:main:main', agentId: 'main', prompt: 'Look.', messages: [user] },
  { type: 'tool.start', toolName: 'exec', params: { command: 'ls' }, sessionKey: 'agent:main:main' },
  { type: 'tool.end', toolName: 'exec', durationMs: 439, success: true, sessionKey: 'agent:main:main' },
  {
    type: 'agent.end',
    sessionKey: 'agent:main:main',
    agentId: 'main',
    success: true,
    messages: [user, answer],
  },
  { type: 'agent.end', sessionKey: 'agent:main:subagent:x1', agentId: 'main', messages: [user] },
]
const LOG = LINES.map((value) => `${toJson(value)}\n`).join('')

describe("OpenClaw's telemetry", () => {
  it('is told by its events', async () => {
    expect((await openclawTelemetry.detect(memoryFileSource('x', LOG)))?.confidence).toBe(0.95)
    expect(
      await openclawTelemetry.detect(memoryFileSource('x', `${toJson({ type: 'agent.start' })}\n`)),
    ).toBeUndefined()
  })

  it('says a message once, though each list begins with all of them', async () => {
    const [one] = await readAll(openclawTelemetry, memoryFileSource('x', LOG))
    const messages = one?.entries.filter(({ kind }) => kind === 'message')
    expect(messages?.map(({ role, source }) => [role, source])).toEqual([
      ['user', 'primary'],
      ['assistant', 'primary'],
      ['user', 'subagent:x1'],
    ])
    expect(messages?.[1]).toMatchObject({
      at: '2026-03-06T20:58:21.000Z',
      model: 'claude-x',
      blocks: [{ type: 'tool-call', callId: 'c1', name: 'exec' }],
      usage: { input: 3, cacheRead: 5, output: 4 },
    })
    expect(one?.entries.filter(({ kind }) => kind === 'event')).toHaveLength(LINES.length)
    expect(one?.entries.find(({ metadata }) => metadata?.['record'] === 'tool.end')?.durationMs).toBe(439)
    expect(one?.entries[0]?.blocks).toEqual([{ type: 'text', text: 'Look.' }])
  })

  it('is read up to any byte', () => expectToSurviveCuts(openclawTelemetry, LOG))
})
