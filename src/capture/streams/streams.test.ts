import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { only, outline, removeTaken, take } from '../../../test/taken-stream.ts'
import { PRINTED } from '../../cli/program/take.ts'
import { STREAMS } from './stream.ts'

afterAll(removeTaken)

describe('claude-stream-json', () => {
  const usage = (output: number): object => ({
    input_tokens: 10,
    cache_creation_input_tokens: 5,
    cache_read_input_tokens: 100,
    output_tokens: output,
  })
  const said = (id: string, content: object[], more: object = {}, message: object = {}): object => ({
    type: 'assistant',
    session_id: 's1',
    parent_tool_use_id: null,
    message: {
      id,
      role: 'assistant',
      model: 'claude-sonnet-4-5',
      content,
      stop_reason: null,
      usage: usage(1),
      ...message,
    },
    ...more,
  })
  const told = (content: unknown, more: object = {}): object => ({
    type: 'user',
    session_id: 's1',
    parent_tool_use_id: null,
    message: { role: 'user', content },
    ...more,
  })
  const init = {
    type: 'system',
    subtype: 'init',
    session_id: 's1',
    model: 'claude-sonnet-4-5',
    claude_code_version: '2.1.9',
    cwd: '/x',
    tools: [],
  }
  const used = (input: number, read: number, written: number, output: number): object => ({
    inputTokens: input,
    cacheReadInputTokens: read,
    cacheCreationInputTokens: written,
    outputTokens: output,
  })
  const result = (modelUsage: object, more: object = {}): object => ({
    type: 'result',
    subtype: 'success',
    is_error: false,
    session_id: 's1',
    stop_reason: 'end_turn',
    total_cost_usd: 0.0123,
    modelUsage,
    ...more,
  })

  const LINES = [
    init,
    said('m1', [{ type: 'thinking', thinking: 'hm', signature: 'x' }]),
    said('m1', [{ type: 'tool_use', id: 't1', name: 'Task', input: { prompt: 'go' } }]),
    told('go', { parent_tool_use_id: 't1' }),
    said('m2', [{ type: 'tool_use', id: 't2', name: 'Task', input: {} }], { parent_tool_use_id: 't1' }),
    said('m3', [{ type: 'text', text: 'deep' }], { parent_tool_use_id: 't2' }),
    told([{ type: 'tool_result', tool_use_id: 't2', content: 'deep done' }], { parent_tool_use_id: 't1' }),
    told(
      [{ type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'done' }], is_error: true }],
      {
        tool_use_result: { agentId: 'a1' },
        uuid: 'u1',
      },
    ),
    said('m4', [{ type: 'text', text: 'over' }]),
    { type: 'rate_limit_event', session_id: 's1', rate_limit_info: {} },
    result({ 'claude-sonnet-4-5[1m]': used(40, 400, 20, 200) }),
  ]

  it('becomes a session with its tools, its subagents at any depth, its counts and its cost', async () => {
    const taken = await take('claude-stream-json', LINES)
    const session = only(taken)
    expect(session).toMatchObject({
      native: { agent: 'claude-code', sessionId: 's1' },
      agent: 'claude-code',
      model: 'claude-sonnet-4-5',
      version: '2.1.9',
      status: 'completed',
      stopReason: 'end_turn',
      reportedCost: '0.0123',
      totals: { calls: 4, toolCalls: 2, usage: { input: 40, cacheRead: 400, cacheWrite5m: 20, output: 200 } },
    })
    expect(outline(taken.entries)).toEqual([
      'primary system/init unknown',
      'primary assistant thinking:hm',
      'primary assistant call:Task',
      'subagent:t1 user text:go',
      'subagent:t1 assistant call:Task',
      'subagent:t2 assistant text:deep',
      'subagent:t1 tool result:Task',
      'primary tool result:Task!',
      'primary assistant text:over',
      'primary rate_limit_event unknown',
      'primary result/success unknown',
    ])
    expect(taken.entries[5]?.metadata).toMatchObject({ parentSource: 'subagent:t1' })
    expect(taken.entries[7]).toMatchObject({ id: 'u1', metadata: { tool_use_result: { agentId: 'a1' } } })
    expect(taken).toMatchObject({ lines: 11, damaged: 0 })
  })

  it('is the same however its bytes are cut', async () => {
    const whole = outline((await take('claude-stream-json', LINES)).entries)
    for (const size of [1, 7, 64])
      expect(outline((await take('claude-stream-json', LINES, size)).entries)).toEqual(whole)
  })

  it('counts calls that are not printed as one of their own, and by model', async () => {
    const taken = await take('claude-stream-json', [
      init,
      said('m1', [{ type: 'text', text: 'a' }], {}, { stop_reason: 'end_turn', usage: usage(50) }),
      result({ 'claude-sonnet-4-5': used(10, 100, 5, 50), 'claude-haiku-4-5': used(7, 0, 0, 3) }),
    ])
    expect(only(taken).totals).toMatchObject({
      calls: 2,
      models: ['claude-sonnet-4-5', 'claude-haiku-4-5'],
      usage: { input: 17, cacheRead: 100, cacheWrite5m: 5, output: 53 },
    })
  })

  it('adds up once what several results of one run say each time', async () => {
    const answer = (id: string): object =>
      said(id, [{ type: 'text', text: id }], {}, { stop_reason: 'end_turn', usage: usage(50) })
    const taken = await take('claude-stream-json', [
      init,
      answer('m1'),
      result({ x: used(10, 100, 5, 50) }, { total_cost_usd: 0.1 }),
      answer('m2'),
      result({ x: used(21, 200, 10, 101) }, { total_cost_usd: 0.3 }),
    ])
    expect(only(taken)).toMatchObject({ reportedCost: '0.3', totals: { usage: { input: 21, output: 101 } } })
  })

  it('has a message’s last count, and what was under way, where partial messages are printed', async () => {
    const event = (event: object): object => ({
      type: 'stream_event',
      session_id: 's1',
      parent_tool_use_id: null,
      event,
    })
    const start = (id: string): object =>
      event({
        type: 'message_start',
        message: { id, role: 'assistant', model: 'claude-sonnet-4-5', content: [], usage: usage(1) },
      })
    const text = (text: string): object[] => [
      event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
    ]
    const taken = await take('claude-stream-json', [
      init,
      start('m1'),
      ...text('one'),
      said('m1', [{ type: 'text', text: 'one' }]),
      event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 42 } }),
      event({ type: 'message_stop' }),
      start('m2'),
      ...text('cut sh'),
    ])
    expect(only(taken)).toMatchObject({ status: 'interrupted', totals: { calls: 2, usage: { output: 43 } } })
    expect(outline(taken.entries)).toEqual([
      'primary system/init unknown',
      'primary assistant text:one',
      'primary message_stop unknown',
      'primary assistant text:cut sh',
    ])
  })

  it('fails as it says it failed, and is interrupted where it does not say', async () => {
    const failed = result({}, { subtype: 'error_max_turns', is_error: true, errors: ['too many turns'] })
    expect(only(await take('claude-stream-json', [init, failed]))).toMatchObject({
      status: 'failed',
      error: 'too many turns',
      stopReason: 'end_turn',
    })
    expect(only(await take('claude-stream-json', LINES.slice(0, -1)))).toMatchObject({
      status: 'interrupted',
    })
    expect(only(await take('claude-stream-json', []))).toMatchObject({ status: 'interrupted' })
  })
})

describe('codex-exec-json', () => {
  const command = {
    id: 'i1',
    type: 'command_execution',
    command: 'ls',
    aggregated_output: '',
    exit_code: null,
    status: 'in_progress',
  }
  const LINES = [
    { type: 'thread.started', thread_id: 'th-1' },
    { type: 'turn.started' },
    { type: 'item.completed', item: { id: 'i0', type: 'reasoning', text: 'hm' } },
    { type: 'item.started', item: command },
    { type: 'item.completed', item: { ...command, aggregated_output: 'no', exit_code: 2, status: 'failed' } },
    {
      type: 'item.completed',
      item: {
        id: 'i2',
        type: 'mcp_tool_call',
        server: 'git',
        tool: 'log',
        arguments: { n: 1 },
        result: { content: [] },
        error: null,
        status: 'completed',
      },
    },
    { type: 'item.completed', item: { id: 'i3', type: 'todo_list', items: [] } },
    { type: 'item.completed', item: { id: 'i4', type: 'agent_message', text: 'done' } },
    {
      type: 'turn.completed',
      usage: { input_tokens: 100, cached_input_tokens: 40, output_tokens: 9, reasoning_output_tokens: 3 },
    },
    { type: 'turn.started' },
    { type: 'item.completed', item: { id: 'i5', type: 'agent_message', text: 'again' } },
    {
      type: 'turn.completed',
      usage: { input_tokens: 250, cached_input_tokens: 140, output_tokens: 20, reasoning_output_tokens: 3 },
    },
  ]

  it('becomes a session with its commands, their results, and a count for each turn', async () => {
    const taken = await take('codex-exec-json', LINES)
    expect(only(taken)).toMatchObject({
      native: { agent: 'codex', sessionId: 'th-1' },
      status: 'completed',
      totals: { calls: 2, toolCalls: 2, usage: { input: 110, cacheRead: 140, output: 20, reasoning: 3 } },
    })
    expect(outline(taken.entries)).toEqual([
      'primary thread.started unknown',
      'primary turn.started unknown',
      'primary assistant thinking:hm',
      'primary assistant call:command_execution',
      'primary tool result:command_execution!',
      'primary assistant call:mcp__git__log',
      'primary tool result:mcp__git__log',
      'primary item/todo_list unknown',
      'primary assistant text:done',
      'primary turn.completed unknown',
      'primary turn.started unknown',
      'primary assistant text:again',
      'primary turn.completed unknown',
    ])
  })

  it('ends as its last turn did', async () => {
    const failed = { type: 'turn.failed', error: { message: 'no money' } }
    expect(only(await take('codex-exec-json', [...LINES, failed]))).toMatchObject({
      status: 'failed',
      error: 'no money',
    })
    expect(only(await take('codex-exec-json', LINES.slice(0, -1)))).toMatchObject({ status: 'interrupted' })
    const retried = { type: 'error', message: 'Reconnecting... 1/5' }
    expect(only(await take('codex-exec-json', [retried, ...LINES]))).toMatchObject({ status: 'completed' })
  })
})

describe('gemini-stream-json', () => {
  const at = '2026-01-31T10:00:00.000Z'
  const LINES = [
    { type: 'init', timestamp: at, session_id: 'g1', model: 'gemini-2.5-pro' },
    { type: 'message', timestamp: at, role: 'user', content: 'hello' },
    { type: 'message', timestamp: at, role: 'assistant', content: 'Let ', delta: true },
    { type: 'message', timestamp: at, role: 'assistant', content: 'me look.', delta: true },
    { type: 'tool_use', timestamp: at, tool_name: 'read_file', tool_id: 'c1', parameters: { path: 'x' } },
    {
      type: 'tool_result',
      timestamp: at,
      tool_id: 'c1',
      status: 'error',
      error: { type: 'x', message: 'not there' },
    },
    { type: 'error', timestamp: at, severity: 'warning', message: 'slow' },
    { type: 'message', timestamp: at, role: 'assistant', content: 'No.', delta: true },
  ]
  const stats = {
    total_tokens: 170,
    input_tokens: 150,
    output_tokens: 12,
    cached: 50,
    input: 100,
    duration_ms: 1,
    tool_calls: 1,
  }

  it('becomes a session whose messages are whole, with its tools and what all of it used', async () => {
    const taken = await take('gemini-stream-json', [
      ...LINES,
      { type: 'result', timestamp: at, status: 'success', stats },
    ])
    expect(only(taken)).toMatchObject({
      native: { agent: 'gemini-cli', sessionId: 'g1' },
      model: 'gemini-2.5-pro',
      status: 'completed',
      totals: { calls: 1, toolCalls: 1, usage: { input: 100, cacheRead: 50, output: 20 } },
    })
    expect(outline(taken.entries)).toEqual([
      'primary init unknown',
      'primary user text:hello',
      'primary assistant text:Let me look.',
      'primary assistant call:read_file',
      'primary tool result:read_file!',
      'primary error error',
      'primary assistant text:No.',
      'primary result unknown',
    ])
    expect(taken.entries[1]?.at).toBe(at)
  })

  it('counts by model, fails, and is interrupted as it says', async () => {
    const models = {
      'gemini-2.5-pro': stats,
      'gemini-2.5-flash': { total_tokens: 5, input_tokens: 4, output_tokens: 1, cached: 0 },
    }
    const both = await take('gemini-stream-json', [
      ...LINES,
      { type: 'result', status: 'success', stats: { ...stats, models } },
    ])
    expect(only(both).totals).toMatchObject({ calls: 2, usage: { input: 104, cacheRead: 50, output: 21 } })
    const failed = { type: 'result', status: 'error', error: { type: 'x', message: 'quota' } }
    expect(only(await take('gemini-stream-json', [...LINES, failed]))).toMatchObject({
      status: 'failed',
      error: 'quota',
    })
    expect(only(await take('gemini-stream-json', LINES))).toMatchObject({ status: 'interrupted' })
  })
})

describe.each(STREAMS)('%s', (name) => {
  it('takes any line without failing', async () => {
    const strange = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.record(
        {
          type: fc.constantFrom(
            'system',
            'assistant',
            'user',
            'result',
            'stream_event',
            'item.completed',
            'turn.completed',
            'message',
            'tool_use',
            'tool_result',
            'init',
            'thread.started',
            'item.started',
            'turn.failed',
            'error',
            'constructor',
          ),
          message: fc.jsonValue({ maxDepth: 3 }),
          item: fc.jsonValue({ maxDepth: 3 }),
          event: fc.jsonValue({ maxDepth: 3 }),
          usage: fc.jsonValue({ maxDepth: 2 }),
          stats: fc.jsonValue({ maxDepth: 2 }),
          modelUsage: fc.jsonValue({ maxDepth: 2 }),
          method: fc.constantFrom('session/update', 'session/prompt', 'initialize', '__proto__'),
          params: fc.jsonValue({ maxDepth: 3 }),
          id: fc.jsonValue({ maxDepth: 1 }),
          result: fc.jsonValue({ maxDepth: 2 }),
          session_id: fc.jsonValue({ maxDepth: 1 }),
          parent_tool_use_id: fc.jsonValue({ maxDepth: 1 }),
          total_cost_usd: fc.jsonValue({ maxDepth: 0 }),
          uuid: fc.jsonValue({ maxDepth: 0 }),
        },
        { requiredKeys: [] },
      ),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(strange, { maxLength: 12 }), async (lines) => {
        const taken = await take(
          name,
          lines.map((line) => JSON.stringify(line)),
        )
        expect(taken.lines).toBe(lines.length)
        expect(taken.sessions.length).toBeGreaterThan(0)
      }),
      { numRuns: 30 },
    )
  })

  it('keeps lines that are no JSON as damage', async () => {
    const taken = await take(name, ['{"type":', 'oops', '"text"', '[1]', '{"type":"never-seen","x":1}'])
    expect(taken).toMatchObject({ lines: 5, damaged: 2 })
    const records = taken.entries.map(({ metadata }) => metadata?.['record'])
    expect(records.filter((record) => record === 'damage')).toHaveLength(2)
    expect(taken.entries).toHaveLength(5)
    expect(JSON.stringify(taken.entries)).toContain('never-seen')
  })
})

describe('the streams', () => {
  it('that the command line names are those that are read here', () => {
    expect(PRINTED).toEqual(STREAMS)
  })
})
