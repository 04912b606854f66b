import { afterAll, describe, expect, it } from 'vitest'
import { only, outline, removeTaken, take } from '../../../test/taken-stream.ts'

afterAll(removeTaken)

describe('acp', () => {
  const rpc = (more: object): object => ({ jsonrpc: '2.0', ...more })
  const update = (sessionId: string, update: object): object =>
    rpc({ method: 'session/update', params: { sessionId, update } })
  const chunk = (kind: string, text: string): object => ({
    sessionUpdate: kind,
    content: { type: 'text', text },
  })
  const LINES = [
    rpc({ id: 0, method: 'initialize', params: { protocolVersion: 1 } }),
    rpc({ id: 0, result: { protocolVersion: 1, agentInfo: { name: 'zed-agent', version: '3' } } }),
    rpc({ id: 1, method: 'session/new', params: { cwd: '/x', mcpServers: [] } }),
    rpc({ id: 1, result: { sessionId: 'a' } }),
    rpc({
      id: 2,
      method: 'session/prompt',
      params: {
        sessionId: 'a',
        prompt: [
          { type: 'text', text: 'hello' },
          { type: 'resource_link', uri: 'file:///x', name: 'x' },
        ],
      },
    }),
    update('a', chunk('agent_thought_chunk', 'hm')),
    update('a', chunk('agent_message_chunk', 'Let ')),
    update('a', chunk('agent_message_chunk', 'me.')),
    update('a', {
      sessionUpdate: 'tool_call',
      toolCallId: 'c1',
      title: 'Read x',
      kind: 'read',
      status: 'pending',
      rawInput: { path: 'x' },
    }),
    rpc({
      id: 2,
      method: 'session/request_permission',
      params: { sessionId: 'a', toolCall: {}, options: [] },
    }),
    rpc({ id: 2, result: { outcome: { outcome: 'selected', optionId: 'y' } } }),
    update('a', { sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'in_progress' }),
    update('a', {
      sessionUpdate: 'tool_call_update',
      toolCallId: 'c1',
      status: 'failed',
      content: [{ type: 'content', content: { type: 'text', text: 'no' } }],
    }),
    update('a', { sessionUpdate: 'plan', entries: [] }),
    update('a', chunk('agent_message_chunk', 'Done.')),
  ]
  const answered = rpc({ id: 2, result: { stopReason: 'end_turn' } })

  it('becomes a session with both sides of it', async () => {
    const taken = await take('acp', [...LINES, answered])
    expect(only(taken)).toMatchObject({
      native: { agent: 'zed-agent', sessionId: 'a' },
      agent: 'zed-agent',
      version: '3',
      status: 'completed',
      stopReason: 'end_turn',
      totals: { toolCalls: 1 },
    })
    expect(outline(taken.entries)).toEqual([
      'primary initialize unknown',
      'primary initialize answered unknown',
      'primary session/new unknown',
      'primary session/new answered unknown',
      'primary user text:hello,unknown',
      'primary assistant thinking:hm',
      'primary assistant text:Let me.',
      'primary assistant call:Read x',
      'primary session/request_permission unknown',
      'primary session/request_permission answered unknown',
      'primary tool_call_update unknown',
      'primary tool result:Read x!',
      'primary plan unknown',
      'primary assistant text:Done.',
      'primary session/prompt answered unknown',
    ])
  })

  it('has what its calls gave, however it was told: in parts, late, and without a word at the end', async () => {
    const part = (more: object): object =>
      update('a', { sessionUpdate: 'tool_call_update', toolCallId: 'c2', ...more })
    const taken = await take('acp', [
      ...LINES.slice(0, 4),
      update('a', { sessionUpdate: 'tool_call', toolCallId: 'c2', title: 'Run', status: 'pending' }),
      part({ status: 'in_progress', rawInput: { command: 'ls' } }),
      part({ content: [{ type: 'content', content: { type: 'text', text: 'a.txt' } }] }),
      part({ status: 'completed', title: 'Run ls' }),
    ])
    const result = taken.entries.find(({ role }) => role === 'tool')
    expect(result).toMatchObject({
      blocks: [{ callId: 'c2', output: [{ type: 'text', text: 'a.txt' }] }],
      metadata: { rawInput: { command: 'ls' }, title: 'Run ls' },
    })
  })

  it('says its model, its title, what it cost and what its turns took', async () => {
    const taken = await take('acp', [
      rpc({ id: 0, method: 'initialize', params: {} }),
      rpc({ id: 0, result: { protocolVersion: 1, agentInfo: { name: '@zed-industries/claude-code-acp' } } }),
      rpc({ id: 1, method: 'session/new', params: { cwd: '/x', mcpServers: [] } }),
      rpc({ id: 1, result: { sessionId: 'a', models: { currentModelId: 'claude-sonnet-4-5' } } }),
      rpc({
        id: 2,
        method: 'session/prompt',
        params: { sessionId: 'a', prompt: [{ type: 'text', text: 'hi' }] },
      }),
      update('a', { sessionUpdate: 'session_info_update', title: 'A greeting' }),
      update('a', {
        sessionUpdate: 'agent_message_chunk',
        messageId: 'm1',
        content: { type: 'text', text: 'one' },
      }),
      update('a', {
        sessionUpdate: 'agent_message_chunk',
        messageId: 'm2',
        content: { type: 'text', text: 'two' },
      }),
      update('a', {
        sessionUpdate: 'usage_update',
        used: 10,
        size: 100,
        cost: { amount: 0.25, currency: 'USD' },
      }),
      update('a', {
        sessionUpdate: 'usage_update',
        used: 20,
        size: 100,
        cost: { amount: 0.75, currency: 'USD' },
      }),
      rpc({
        id: 2,
        result: {
          stopReason: 'end_turn',
          usage: { totalTokens: 130, inputTokens: 100, outputTokens: 30, cachedReadTokens: 60 },
        },
      }),
    ])
    expect(only(taken)).toMatchObject({
      native: { agent: 'claude-code', sessionId: 'a' },
      title: 'A greeting',
      model: 'claude-sonnet-4-5',
      reportedCost: '0.75',
      totals: { usage: { input: 40, cacheRead: 60, output: 30, quality: 'estimated' } },
    })
    expect(outline(taken.entries)).toContain('primary assistant text:one')
    expect(outline(taken.entries)).toContain('primary assistant text:two')
  })

  it('is one session of ours for each of its own, each with its own end', async () => {
    const other = (id: number, end: object): object[] => [
      rpc({ id, method: 'session/prompt', params: { sessionId: `b${id}`, prompt: [] } }),
      update(`b${id}`, chunk('agent_message_chunk', 'hi')),
      rpc({ id, ...end }),
    ]
    const { sessions } = await take('acp', [
      ...LINES,
      ...other(7, { result: { stopReason: 'cancelled' } }),
      ...other(8, { error: { code: 1, message: 'broken' } }),
    ])
    expect(sessions.map(({ native, status, error }) => [native?.sessionId, status, error])).toEqual([
      ['a', 'interrupted', 'the stream ended before the prompt was answered'],
      ['b7', 'canceled', undefined],
      ['b8', 'failed', 'broken'],
    ])
  })
})
