import { describe, expect, it } from 'vitest'
import { expectToSurviveCuts } from '../../test/cuts.ts'
import { memoryFileSource, readAll } from '../../test/memory-files.ts'
import { toJson, type Json } from '../transcript/json.ts'
import { anthropicManagedAgents } from './anthropic-managed-agents.ts'

const at = (second: number): string => `2026-07-06T14:16:3${second}.476Z`
const said = (type: string, id: string, second: number, more: { readonly [key: string]: Json }): Json => ({
  type,
  id: `sevt_${id}`,
  processed_at: at(second),
  ...more,
})
const EVENTS: readonly Json[] = [
  said('session.status_running', '0', 0, {}),
  said('user.message', '1', 0, { content: [{ type: 'text', text: 'Weather?' }] }),
  said('span.model_request_start', '2', 1, {}),
  said('agent.thinking', '3', 2, { content: [{ type: 'text', text: 'hm' }] }),
  said('agent.custom_tool_use', '4', 2, { name: 'get_weather', input: { at: 'Prague' } }),
  said('span.model_request_end', '5', 3, {
    model_request_start_id: 'sevt_2',
    model_usage: { input_tokens: 2, cache_read_input_tokens: 7, output_tokens: 5 },
  }),
  said('user.custom_tool_result', '6', 4, {
    custom_tool_use_id: 'sevt_4',
    content: [{ type: 'text', text: 'sunny' }],
    is_error: false,
  }),
  said('session.status_idle', '7', 5, { stop_reason: { type: 'end_turn' } }),
]
const lines = (values: readonly Json[]): string => values.map((value) => `${toJson(value)}\n`).join('')
const CALLS = lines([
  [
    'client.beta.sessions.create',
    { id: 'sesn_1', agent: { name: 'Helper', model: { id: 'claude-s' } }, title: 'Weather' },
  ],
  ['client.beta.sessions.events.send', ['sesn_1', { events: [{ type: 'user.message' }] }]],
  ...EVENTS.map((event): Json => ['client.beta.sessions.events.stream', event]),
])

describe('events of a managed agent', () => {
  it('are told in lines, in a list, and among the calls of a client', async () => {
    for (const text of [lines(EVENTS), toJson(EVENTS, 2), CALLS])
      expect((await anthropicManagedAgents.detect(memoryFileSource('x', text)))?.confidence).toBe(0.95)
    for (const text of [
      lines([{ type: 'user.message', data: {}, id: 'x' }]),
      '[["a",1],["b",2]]',
      '["a"]\n["b"]\n',
    ])
      expect(await anthropicManagedAgents.detect(memoryFileSource('x', text))).toBeUndefined()
  })

  it('are a session, with what each request used', async () => {
    for (const text of [lines(EVENTS), toJson(EVENTS), CALLS]) {
      const [one] = await readAll(anthropicManagedAgents, memoryFileSource('x', text))
      const messages = one?.entries.filter(({ kind }) => kind === 'message')
      expect(messages?.map(({ role, blocks }) => [role, blocks[0]?.type])).toEqual([
        ['user', 'text'],
        ['assistant', 'thinking'],
        ['assistant', 'tool-call'],
        ['tool', 'tool-result'],
      ])
      expect(messages?.[2]).toMatchObject({
        id: 'sevt_4',
        call: { messageId: 'sevt_2' },
        blocks: [{ callId: 'sevt_4' }],
      })
      expect(messages?.[3]?.blocks[0]).toMatchObject({ callId: 'sevt_4', isError: false })
      const used = one?.entries.find(({ usage }) => usage !== undefined)
      expect(used).toMatchObject({
        usage: { input: 2, cacheRead: 7, output: 5 },
        call: { messageId: 'sevt_2' },
      })
      expect(one?.session).toMatchObject({ stopReason: 'end_turn', startedAt: at(0), endedAt: at(5) })
    }
  })

  it('learn the name and the model from the call that made the session', async () => {
    const [one] = await readAll(anthropicManagedAgents, memoryFileSource('x', CALLS))
    expect(one?.session).toMatchObject({
      native: { agent: 'anthropic-managed-agents', sessionId: 'sesn_1' },
      agent: 'Helper',
      model: 'claude-s',
      title: 'Weather',
    })
    expect(one?.entries).toHaveLength(EVENTS.length + 2)
  })

  it('are read up to any byte', () => expectToSurviveCuts(anthropicManagedAgents, lines(EVENTS.slice(0, 5))))
})
