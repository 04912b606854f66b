import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { transcript } from '../../test/arbitrary.ts'
import { files, memoryFileSource, memorySource, readAll, writeTranscript } from '../../test/memory-files.ts'
import { swarmCanHold } from '../../test/swarm-can-hold.ts'
import {
  COMPLETE,
  lines,
  LLM,
  MESSAGES,
  RECEIPT,
  RECEIPT_EXAMPLE,
  roundTrip,
  RUN,
  STUB,
  STUB_RECEIPT,
  text,
} from '../../test/swarm-run.ts'
import { isObject } from '../transcript/json.ts'
import { swarm } from './swarm.ts'

const TOOLS = `{"timestamp": "2025-12-09T14:30:26.123456Z", "role": "tool", "tool_name": "Read", "tool_input": {"file_path": "/path/to/file.py"}, "content": "# file contents..."}
{"timestamp": "2025-12-09T14:30:27.234567Z", "role": "tool", "tool_name": "Write", "tool_input": {"file_path": "/path/to/new.py", "content": "..."}, "tool_output": "File written successfully"}
{"timestamp": "2025-12-09T14:30:28.345678Z", "role": "tool", "tool_name": "Bash", "tool_input": {"command": "cargo test"}, "tool_output": "running 5 tests\\ntest result: ok"}
`

describe("the seed's examples", () => {
  it.each([
    ['message events', MESSAGES, RECEIPT_EXAMPLE],
    ['tool events', TOOLS, RECEIPT_EXAMPLE],
    ['the complete transcript and the receipt', COMPLETE, RECEIPT_EXAMPLE],
    ['the stub transcript and receipt', STUB, STUB_RECEIPT],
  ])('%s: read, and written back byte for byte', async (_, llm, receipt) => {
    const target = await roundTrip(files({ [LLM]: llm, [RECEIPT]: receipt }))
    expect([...target.keys()]).toEqual([LLM, RECEIPT])
    expect(text(target, LLM)).toBe(llm)
    expect(text(target, RECEIPT)).toBe(receipt)
  })

  it('a message has timestamp, role and content', async () => {
    const [found] = await readAll(swarm, memoryFileSource('a-b-claude.jsonl', MESSAGES))
    expect(found?.entries.map(({ at, role, blocks }) => [at, role, blocks])).toEqual([
      [
        '2025-12-09T14:30:22.123456Z',
        'system',
        [{ type: 'text', text: 'You are the code-implementer agent...' }],
      ],
      [
        '2025-12-09T14:30:22.234567Z',
        'user',
        [{ type: 'text', text: 'Implement the health check endpoint...' }],
      ],
      [
        '2025-12-09T14:30:25.456789Z',
        'assistant',
        [{ type: 'text', text: "I'll implement the health check endpoint..." }],
      ],
    ])
  })

  it('a tool event has tool_name, tool_input, and content or tool_output: a call and its result', async () => {
    const [found] = await readAll(swarm, memoryFileSource('a-b-claude.jsonl', TOOLS))
    expect(found?.entries.slice(0, 4).map(({ role, at, blocks }) => [role, at, ...blocks])).toEqual([
      [
        'assistant',
        '2025-12-09T14:30:26.123456Z',
        { type: 'tool-call', name: 'Read', input: { file_path: '/path/to/file.py' } },
      ],
      [
        'tool',
        '2025-12-09T14:30:26.123456Z',
        { type: 'tool-result', name: 'Read', output: '# file contents...' },
      ],
      [
        'assistant',
        '2025-12-09T14:30:27.234567Z',
        { type: 'tool-call', name: 'Write', input: { file_path: '/path/to/new.py', content: '...' } },
      ],
      [
        'tool',
        '2025-12-09T14:30:27.234567Z',
        { type: 'tool-result', name: 'Write', output: 'File written successfully' },
      ],
    ])
    expect(found?.entries).toHaveLength(6)
    const [call, result] = found?.entries ?? []
    expect(call?.origin).toEqual(result?.origin)
  })

  it('the receipt gives the session its run, model, times, status and tokens', async () => {
    const [found] = await readAll(swarm, memorySource(files({ [LLM]: COMPLETE, [RECEIPT]: RECEIPT_EXAMPLE })))
    expect(found?.session).toMatchObject({
      run: { id: RUN, flow: 'build', step: 'impl-loop', agentKey: 'code-implementer', engine: 'claude' },
      model: 'claude-sonnet-4-20250514',
      startedAt: '2025-12-09T14:30:22.000Z',
      endedAt: '2025-12-09T14:30:26.800Z',
      status: 'completed',
      reportedUsage: { input: 12500, output: 3200, quality: 'reported' },
    })
    expect(found?.entries.at(-1)?.metadata).toMatchObject({ record: 'receipt' })
    expect(found?.session.stub).toBeUndefined()
  })
})

describe('the other dialects', () => {
  const read = async (...records: readonly unknown[]) => {
    const text = records.map((record) => `${JSON.stringify(record)}\n`).join('')
    const [found] = await readAll(swarm, memoryFileSource('s-a-claude.jsonl', text))
    return found as NonNullable<typeof found>
  }
  const at = '2025-12-09T09:38:51.058956+00:00Z'

  it('take the invalid but common +00:00Z', async () => {
    const { entries } = await read({ timestamp: at, role: 'user', content: 'x' })
    expect(entries[0]?.at).toBe('2025-12-09T09:38:51.058956Z')
  })

  it("read the step contract's typed lines", async () => {
    const { entries, session } = await read(
      { timestamp: at, type: 'message', role: 'assistant', content: 'hello' },
      { timestamp: at, type: 'tool_use', tool: 'Bash', input: { command: 'ls' } },
      { timestamp: at, type: 'tool_result', tool: 'Bash', success: false, output: 'no' },
      { timestamp: at, type: 'error', error: 'it broke' },
      { timestamp: at, phase: 'finalization', note: 1 },
      { timestamp: at, type: 'result', usage: { prompt: 10, completion: 5, total: 15 } },
    )
    expect(entries.map(({ kind, role, blocks }) => [kind, role, blocks[0]])).toEqual([
      ['message', 'assistant', { type: 'text', text: 'hello' }],
      ['message', 'assistant', { type: 'tool-call', name: 'Bash', input: { command: 'ls' } }],
      ['message', 'tool', { type: 'tool-result', name: 'Bash', output: 'no', isError: true }],
      ['event', undefined, { type: 'error', message: 'it broke' }],
      ['event', undefined, expect.objectContaining({ type: 'unknown' })],
      ['event', undefined, expect.objectContaining({ type: 'unknown' })],
    ])
    expect(session.reportedUsage).toMatchObject({ input: 10, output: 5 })
  })

  it("read Claude's stream, its subagents apart", async () => {
    const usage = { input_tokens: 3, cache_read_input_tokens: 20, output_tokens: 9 }
    const { entries, session } = await read(
      { timestamp: at, type: 'system', subtype: 'init', session_id: 's' },
      {
        timestamp: at,
        type: 'assistant',
        message: {
          id: 'm1',
          model: 'claude-x',
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm' },
            { type: 'tool_use', id: 't1', name: 'Task', input: {} },
          ],
          usage,
        },
      },
      {
        timestamp: at,
        type: 'assistant',
        parent_tool_use_id: 't1',
        message: { content: [{ type: 'text', text: 'sub' }] },
      },
      {
        timestamp: at,
        type: 'user',
        message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'done' }] },
      },
      { timestamp: at, type: 'result', subtype: 'success', total_cost_usd: 0.0125, usage },
    )
    expect(entries.map(({ source, role, sequence }) => [source, role, sequence])).toEqual([
      ['primary', undefined, 0],
      ['primary', 'assistant', 1],
      ['subagent:t1', 'assistant', 0],
      ['primary', 'tool', 2],
      ['primary', undefined, 3],
    ])
    expect(entries[1]).toMatchObject({
      model: 'claude-x',
      usage: { input: 3, cacheRead: 20, output: 9 },
      call: { messageId: 'm1' },
    })
    expect(session).toMatchObject({ model: 'claude-x', status: 'completed', reportedCost: '0.0125' })
    expect(session.reportedUsage).toMatchObject({ input: 3, cacheRead: 20, output: 9 })
  })

  it("read Gemini's stream, and output that was no JSON", async () => {
    const { entries, session } = await read(
      { type: 'init', timestamp: at, session_id: 's', model: 'gemini-3' },
      { type: 'message', timestamp: at, role: 'assistant', content: 'par', delta: true },
      { type: 'tool_use', timestamp: at, tool_name: 'read_file', tool_id: 'r1', parameters: { path: 'a' } },
      {
        type: 'tool_result',
        timestamp: at,
        tool_id: 'r1',
        status: 'error',
        output: 'o',
        error: { message: 'nope' },
      },
      { type: 'text', timestamp: at, message: 'Loaded cached credentials.' },
      {
        type: 'result',
        timestamp: at,
        status: 'success',
        stats: { input_tokens: 100, output_tokens: 5, cached: 60 },
      },
    )
    expect(entries.slice(1, 5).map(({ blocks }) => blocks[0])).toEqual([
      { type: 'text', text: 'par' },
      { type: 'tool-call', callId: 'r1', name: 'read_file', input: { path: 'a' } },
      { type: 'tool-result', callId: 'r1', output: 'o', error: 'nope', isError: true },
      { type: 'text', text: 'Loaded cached credentials.' },
    ])
    expect(entries[1]?.metadata).toEqual({ swarm: { fields: { delta: true } } })
    expect(session).toMatchObject({
      model: 'gemini-3',
      reportedUsage: { input: 40, cacheRead: 60, output: 5 },
    })
    expect(session).not.toHaveProperty('run')
  })

  it('are put back where no dialect explains a line', async () => {
    const odd = `{"timestamp": "2025-12-09T14:30:22.000000Z", "type": "telemetry", "x": [1, {"y": null}]}\n42\n`
    const target = await roundTrip(files({ [LLM]: odd, [RECEIPT]: RECEIPT_EXAMPLE }))
    expect(text(target, LLM)).toBe(odd)
  })
})

describe("a run's events", () => {
  const event = (kind: string, payload: object = {}): string =>
    `${JSON.stringify({ run_id: RUN, ts: '2025-12-09T10:20:43.186199+00:00Z', kind, flow_key: 'build', step_id: null, agent_key: null, payload })}\n`
  const EVENTS =
    event('run_created') + event('step_start') + event('run_completed', { status: 'failed', error: 'gate' })

  it('are a session of their own, each under its kind', async () => {
    const [found] = await readAll(swarm, memorySource(files({ [`${RUN}/events.jsonl`]: EVENTS })))
    expect(found?.session).toMatchObject({ run: { id: RUN }, status: 'failed', error: 'gate' })
    expect(found?.entries.map(({ metadata }) => metadata?.['record'])).toEqual([
      'run_created',
      'step_start',
      'run_completed',
    ])
  })

  it('say when the run was canceled, and nothing of the kind when they just end', async () => {
    const status = async (text: string) =>
      (await readAll(swarm, memoryFileSource('events.jsonl', text)))[0]?.session.status
    expect(await status(event('run_created') + event('run_canceled'))).toBe('canceled')
    expect(await status(event('run_created'))).toBe('interrupted')
  })

  it('are written back beside their flows, without a step of their own', async () => {
    const target = await roundTrip(files({ [`${RUN}/events.jsonl`]: EVENTS }))
    expect([...target.keys()]).toEqual([`${RUN}/events.jsonl`])
    const values = lines(target, `${RUN}/events.jsonl`)
    expect(values).toEqual(
      EVENTS.trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    )
  })
})

describe('any transcript', () => {
  it('reads back as what swarm can hold', async () => {
    await fc.assert(
      fc.asyncProperty(transcript, async (any) => {
        const { files: target } = writeTranscript(swarm, any)
        const found = await readAll(swarm, memorySource(target))
        for (const held of swarmCanHold(any)) {
          const one = found.find(({ session }) => session.run?.agentKey === held.agentKey)
          const { session, entries = [], damage } = one ?? {}
          expect(damage).toEqual([])
          expect(session?.status).toBe(held.status)
          expect(session?.error).toBe(held.error)
          expect(session?.model).toBe(held.model)
          expect(session?.reportedUsage?.input).toBe(held.prompt)
          expect(session?.reportedUsage?.output).toBe(held.completion)
          expect(entries.at(-1)?.metadata?.['record']).toBe('receipt')
          expect(
            entries.slice(0, -1).map(({ role, at, blocks }) => ({ role, at, block: blocks[0] })),
          ).toEqual(held.entries)
        }
        expect(found).toHaveLength(swarmCanHold(any).length)
      }),
      { numRuns: 300 },
    )
  })

  it('is written the same live and afterwards, and the same again after it was read', async () => {
    await fc.assert(
      fc.asyncProperty(transcript, async (any) => {
        const { files: target } = writeTranscript(swarm, any)
        expect([...writeTranscript(swarm, any, { live: true }).files]).toEqual([...target])
        const again = await roundTrip(target)
        for (const [path, bytes] of target) expect(again.get(path)?.toString()).toBe(bytes.toString())
      }),
      { numRuns: 150 },
    )
  })
})

describe('reading', () => {
  it('knows its files by their content, never by their name', async () => {
    const sure = async (name: string, content: string) =>
      (await swarm.detect(memoryFileSource(name, content)))?.confidence
    expect(await sure('notes.txt', RECEIPT_EXAMPLE)).toBe(0.95)
    expect(await sure('x', COMPLETE)).toBe(0.9)
    expect(await sure('llm/impl-loop-code-implementer-claude.jsonl', '{"a":1}\n')).toBeUndefined()
    expect(
      await sure('x.jsonl', '{"timestamp":"2025-01-01T00:00:00Z","role":"user","content":"x","uuid":"u"}\n'),
    ).toBeUndefined()
    expect(await swarm.detect(memorySource(files({ [LLM]: COMPLETE, 'b.md': 'x' })))).toBeDefined()
    expect(await swarm.detect(memorySource(files({ 'a.txt': 'x' })))).toBeUndefined()
  })

  it('takes lines of role, content and time for a step only with what is its own', async () => {
    const talk = [
      { timestamp: '2025-01-01T00:00:00Z', role: 'user', content: 'hello' },
      { timestamp: '2025-01-01T00:00:01Z', role: 'assistant', content: 'good day' },
    ]
    const text = (...lines: readonly object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('')
    const sure = async (name: string, content: string) =>
      (await swarm.detect(memoryFileSource(name, content)))?.confidence
    expect(await sure('chat.jsonl', text(...talk))).toBeUndefined()
    const first = { ...talk[0], role: 'system', content: 'Executing step impl with agent coder' }
    expect(await sure('chat.jsonl', text(first, ...talk))).toBe(0.9)
    const tool = { timestamp: '2025-01-01T00:00:02Z', role: 'tool', tool_name: 'Bash', tool_input: {} }
    expect(await sure('chat.jsonl', text(...talk, tool))).toBe(0.9)
    expect(await swarm.detect(memorySource(files({ [LLM]: text(...talk) })))).toMatchObject({
      confidence: 0.9,
    })
    const [told] = await readAll(swarm, memoryFileSource('chat.jsonl', text(...talk)))
    expect(told?.session).not.toHaveProperty('run')
  })

  it('finds the receipt of a transcript that is opened on its own', async () => {
    const source = memoryFileSource('impl-loop-code-implementer-claude.jsonl', MESSAGES)
    const [neighbour] = await memorySource(
      files({ 'impl-loop-code-implementer.json': RECEIPT_EXAMPLE }),
    ).list()
    const [found] = await readAll(swarm, {
      ...source,
      find: async (path) => (path === '../receipts/impl-loop-code-implementer.json' ? neighbour : undefined),
    })
    expect(found?.session.run?.step).toBe('impl-loop')
    expect(found?.entries).toHaveLength(4)
  })

  it('takes a whole folder of runs, a run, or a flow', async () => {
    const both = files({
      [LLM]: COMPLETE,
      [RECEIPT]: RECEIPT_EXAMPLE,
      [LLM.replace(RUN, 'run-2')]: COMPLETE,
      [RECEIPT.replace(RUN, 'run-2')]: RECEIPT_EXAMPLE.replace(RUN, 'run-2'),
      [`${RUN}/meta.json`]: '{}',
    })
    const found = await readAll(swarm, memorySource(both))
    expect(found.map(({ session }) => session.run?.id)).toEqual(['run-2', RUN])
    const flow = files({ 'llm/impl-loop-code-implementer-claude.jsonl': COMPLETE })
    const [one] = await readAll(swarm, memorySource(flow, { path: `/x/${RUN}/build` }))
    expect(one?.session.run).toMatchObject({ id: RUN, flow: 'build', step: 'impl-loop' })
  })

  it('loses nothing but the line it died in, wherever that was', async () => {
    const whole = Buffer.from(COMPLETE)
    for (let size = 0; size <= whole.length; size += 7) {
      const cut = whole.subarray(0, size)
      const complete = cut.toString().split('\n').slice(0, -1)
      const [found] = await readAll(swarm, memoryFileSource('a-b-claude.jsonl', cut))
      const records = new Set(found?.entries.map(({ origin }) => origin?.record))
      expect(records.size).toBeGreaterThanOrEqual(complete.length)
      const isTorn = cut.length > 0 && cut.at(-1) !== 0x0a && records.size === complete.length
      expect(found?.damage.map(({ kind }) => kind) ?? []).toEqual(isTorn ? ['torn'] : [])
    }
  })

  const deep = '['.repeat(100_000) + ']'.repeat(100_000)
  it.each([
    ['nothing', ''],
    ['NULs', '\0'.repeat(5000)],
    ['binary', Buffer.from([0xff, 0xfe, 0x0a, 0xc3, 0x28, 0x0a])],
    ['other values', 'null\n1\n"x"\n[]\n{}\n'],
    [
      'wrong types',
      '{"timestamp": 1, "role": "user", "content": {}}\n{"role": "tool", "tool_name": 5}\n{"type": {}}\n',
    ],
    [
      'hostile keys',
      '{"timestamp":"x","role":"user","content":"y","__proto__":{"polluted":1},"constructor":null}\n',
    ],
    ['100,000 deep', `{"timestamp":"2025-01-01T00:00:00Z","role":"user","content":${deep}}\n`],
    ['a deep tool input', `{"role":"tool","tool_name":"x","tool_input":${deep},"tool_output":${deep}}\n`],
    ['receipts with paths that lead away', RECEIPT_EXAMPLE.replace('llm/impl', '../../../../etc/impl')],
  ])('takes %s without an exception, and writes it', async (_, content) => {
    for (const path of [LLM, RECEIPT]) {
      const source = files({ [path]: content })
      const found = await readAll(swarm, memorySource(source))
      for (const one of found) {
        expect(isObject(one.session)).toBe(true)
        writeTranscript(swarm, one)
      }
    }
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  it('reads any bytes at all without an exception', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
        await readAll(
          swarm,
          memorySource(files({ [LLM]: Buffer.from(bytes), [RECEIPT]: Buffer.from(bytes) })),
        )
      }),
    )
  })
})
