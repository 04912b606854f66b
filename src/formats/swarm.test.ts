import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { transcript } from '../../test/arbitrary.ts'
import {
  files,
  memoryFileSource,
  memorySource,
  readAll,
  writeTranscript,
  type MemoryFiles,
} from '../../test/memory-files.ts'
import { entry } from '../../test/entries.ts'
import { swarmCanHold } from '../../test/swarm-can-hold.ts'
import type { Block } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import { isObject, type JsonObject } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import { swarm } from './swarm.ts'
import { createRunId } from './swarm-names.ts'
import { stubEntries } from './swarm-stub.ts'

const RUN = 'run-20251209-143022-abc123'
const LLM = `${RUN}/build/llm/impl-loop-code-implementer-claude.jsonl`
const RECEIPT = `${RUN}/build/receipts/impl-loop-code-implementer.json`

const MESSAGES = `{"timestamp": "2025-12-09T14:30:22.123456Z", "role": "system", "content": "You are the code-implementer agent..."}
{"timestamp": "2025-12-09T14:30:22.234567Z", "role": "user", "content": "Implement the health check endpoint..."}
{"timestamp": "2025-12-09T14:30:25.456789Z", "role": "assistant", "content": "I'll implement the health check endpoint..."}
`
const TOOLS = `{"timestamp": "2025-12-09T14:30:26.123456Z", "role": "tool", "tool_name": "Read", "tool_input": {"file_path": "/path/to/file.py"}, "content": "# file contents..."}
{"timestamp": "2025-12-09T14:30:27.234567Z", "role": "tool", "tool_name": "Write", "tool_input": {"file_path": "/path/to/new.py", "content": "..."}, "tool_output": "File written successfully"}
{"timestamp": "2025-12-09T14:30:28.345678Z", "role": "tool", "tool_name": "Bash", "tool_input": {"command": "cargo test"}, "tool_output": "running 5 tests\\ntest result: ok"}
`
const COMPLETE = `{"timestamp": "2025-12-09T14:30:22.000000Z", "role": "system", "content": "Executing step impl-loop with agent code-implementer"}
{"timestamp": "2025-12-09T14:30:22.100000Z", "role": "user", "content": "Step role: Implement code changes based on test requirements"}
{"timestamp": "2025-12-09T14:30:23.200000Z", "role": "assistant", "content": "I'll read the test requirements first."}
{"timestamp": "2025-12-09T14:30:23.300000Z", "role": "tool", "tool_name": "Read", "tool_input": {"file_path": "swarm/runs/run-123/build/test_summary.md"}, "content": "# Test Summary\\n..."}
{"timestamp": "2025-12-09T14:30:24.400000Z", "role": "assistant", "content": "Now I'll implement the health endpoint."}
{"timestamp": "2025-12-09T14:30:24.500000Z", "role": "tool", "tool_name": "Write", "tool_input": {"file_path": "src/health.py", "content": "def health():\\n    return {'status': 'ok'}"}, "tool_output": "File written"}
{"timestamp": "2025-12-09T14:30:25.600000Z", "role": "assistant", "content": "Implementation complete. Running tests to verify."}
{"timestamp": "2025-12-09T14:30:25.700000Z", "role": "tool", "tool_name": "Bash", "tool_input": {"command": "pytest tests/test_health.py"}, "tool_output": "1 passed"}
{"timestamp": "2025-12-09T14:30:26.800000Z", "role": "assistant", "content": "[STUB] Completed step impl-loop. In production, this would contain the actual Claude response."}
`
const STUB = `{"timestamp": "2025-12-09T14:30:22.000000Z", "role": "system", "content": "Executing step impl-loop with agent code-implementer"}
{"timestamp": "2025-12-09T14:30:22.000000Z", "role": "user", "content": "Step role: Implement code changes..."}
{"timestamp": "2025-12-09T14:30:22.100000Z", "role": "assistant", "content": "[STUB] Completed step impl-loop. In production, this would contain the actual Claude response."}
`

const receipt = (
  model: string,
  completedAt: string,
  durationMs: number,
  tokens: readonly number[],
): string => `{
  "engine": "claude-step",
  "model": "${model}",
  "step_id": "impl-loop",
  "flow_key": "build",
  "run_id": "run-20251209-143022-abc123",
  "agent_key": "code-implementer",
  "started_at": "2025-12-09T14:30:22.000000Z",
  "completed_at": "${completedAt}",
  "duration_ms": ${durationMs},
  "status": "succeeded",
  "tokens": {
    "prompt": ${tokens[0]},
    "completion": ${tokens[1]},
    "total": ${tokens[2]}
  },
  "transcript_path": "llm/impl-loop-code-implementer-claude.jsonl"
}
`
const RECEIPT_EXAMPLE = receipt(
  'claude-sonnet-4-20250514',
  '2025-12-09T14:30:26.800000Z',
  4800,
  [12500, 3200, 15700],
)
const STUB_RECEIPT = receipt('claude-stub', '2025-12-09T14:30:22.100000Z', 100, [0, 0, 0])

const facts: Session = {
  id: '0190c8a4-0000-7000-8000-000000000001',
  run: { id: RUN, flow: 'build', step: 'impl-loop', agentKey: 'code-implementer', engine: 'claude' },
  model: 'claude-sonnet-4-20250514',
  startedAt: '2025-12-09T14:30:22.000Z',
  endedAt: '2025-12-09T14:30:26.800Z',
  status: 'completed',
}

const AT = '2025-12-09T14:30:23.000Z'

function write(entries: readonly Entry[], session: Partial<Session> = {}, target: MemoryFiles = new Map()) {
  return writeTranscript(swarm, { session: { ...facts, ...session }, entries }, { files: target })
}
const text = (target: MemoryFiles, path: string): string => target.get(path)?.toString('utf8') ?? ''
const lines = (target: MemoryFiles, path = LLM): JsonObject[] =>
  text(target, path)
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as JsonObject)
const receiptOf = (target: MemoryFiles, path = RECEIPT): JsonObject =>
  JSON.parse(text(target, path)) as JsonObject

/** Reads a step, writes every session found, and gives the files. */
async function roundTrip(source: MemoryFiles): Promise<MemoryFiles> {
  const target: MemoryFiles = new Map()
  for (const found of await readAll(swarm, memorySource(source)))
    writeTranscript(swarm, found, { files: target })
  return target
}

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

describe('a receipt', () => {
  it('has every field of the reference, in its order', () => {
    const usage = {
      input: 100,
      cacheRead: 12_000,
      cacheWrite5m: 400,
      output: 3200,
      quality: 'reported',
    } as const
    const { files: target, filled } = write([{ ...entry('assistant', AT, 'done'), usage }])
    expect(text(target, RECEIPT)).toBe(RECEIPT_EXAMPLE)
    expect(filled).toEqual([])
  })

  it('counts a call once, whatever number of entries report it, caches included', () => {
    const usage = { input: 5, cacheRead: 10, output: 7, quality: 'reported' } as const
    const call = { provider: 'anthropic', messageId: 'm1' }
    const one = { ...entry('assistant', AT, 'a'), usage, call }
    const { files: target } = write([one, { ...one, id: 'again' }, { ...entry('assistant', AT, 'b'), usage }])
    expect(receiptOf(target)['tokens']).toEqual({ prompt: 30, completion: 14, total: 44 })
  })

  it('takes what the session states where no entry does, and zeros, reported, where nobody counted', () => {
    const reportedUsage = { input: 3, output: 4, quality: 'reported' } as const
    expect(receiptOf(write([], { reportedUsage }).files)['tokens']).toEqual({
      prompt: 3,
      completion: 4,
      total: 7,
    })
    const { files: target, filled } = write([entry('assistant', AT, 'x')])
    expect(receiptOf(target)['tokens']).toEqual({ prompt: 0, completion: 0, total: 0 })
    expect(filled.map(({ what }) => what)).toEqual(['tokens.prompt', 'tokens.completion'])
  })

  it('of zeros reads as unknown, not as zero', async () => {
    const [found] = await readAll(swarm, memorySource(write([entry('assistant', AT, 'x')]).files))
    expect(found?.session.reportedUsage).toBeUndefined()
    expect(found?.session.stub).toBeUndefined()
  })

  it.each([
    ['completed', undefined, 'succeeded', undefined],
    ['failed', 'boom', 'failed', 'boom'],
    ['canceled', undefined, 'failed', 'canceled'],
    ['interrupted', undefined, 'failed', 'interrupted'],
  ] as const)('of a %s session with error %s says %s', (status, error, said, shown) => {
    const { files: target, lost } = write([entry('user', AT, 'q')], { status, ...(error && { error }) })
    expect(receiptOf(target)).toMatchObject({ status: said })
    expect(receiptOf(target)['error']).toBe(shown)
    const isLost = status === 'canceled' || status === 'interrupted'
    expect(lost.some(({ what }) => what === `status ${status}`)).toBe(isLost)
  })

  it('is written exactly once for each execution, at its end, and not while the step runs', () => {
    const writing = swarm.write?.begin({ ...facts, status: 'running' }, quiet())
    expect(writing?.entry(entry('user', AT, 'q')).map(({ op }) => op)).toEqual([
      'set-aside',
      'create',
      'append',
    ])
    const last = writing?.end({ ...facts, status: 'interrupted' }) ?? []
    expect(last.map((operation) => ('path' in operation ? operation.path : ''))).toEqual([RECEIPT])
    const { lost } = write([], { status: 'running' })
    expect(lost.map(({ what }) => what)).toContain('a receipt: the step is still running')
  })

  it('floors its duration to whole milliseconds and never goes below 0', () => {
    const duration = (startedAt: string, endedAt: string) =>
      receiptOf(write([], { startedAt, endedAt }).files)['duration_ms']
    expect(duration('2025-12-09T14:30:22.000Z', '2025-12-09T14:30:22.000999Z')).toBe(0)
    expect(duration('2025-12-09T14:30:22.000900Z', '2025-12-09T14:30:22.002Z')).toBe(1)
    expect(duration('2025-12-09T14:30:23.000Z', '2025-12-09T14:30:22.000Z')).toBe(0)
  })

  it('keeps what other writers add, where it stood, whatever its name', async () => {
    const rich = RECEIPT_EXAMPLE.replace(
      '"model"',
      '"mode": "sdk",\n  "provider": "anthropic",\n  "model"',
    ).replace(
      '.jsonl"\n}',
      '.jsonl",\n  "routing": {\n    "loop_iteration": 3\n  },\n  "__proto__": {\n    "x": 1\n  },\n  "constructor": 1\n}',
    )
    const target = await roundTrip(files({ [LLM]: COMPLETE, [RECEIPT]: rich }))
    expect(text(target, RECEIPT)).toBe(rich)
    expect(({} as Record<string, unknown>)['x']).toBeUndefined()
  })

  it('keeps the totals it stated, also where the messages add up to something else', async () => {
    const usage = { input_tokens: 1, output_tokens: 1 }
    const line = { timestamp: AT, type: 'assistant', message: { id: 'm', content: 'x', usage } }
    const target = await roundTrip(files({ [LLM]: `${JSON.stringify(line)}\n`, [RECEIPT]: RECEIPT_EXAMPLE }))
    expect(receiptOf(target)['tokens']).toEqual({ prompt: 12_500, completion: 3200, total: 15_700 })
  })

  it('answers for one transcript: a second one that names it stands alone', async () => {
    const twice = { [RECEIPT]: RECEIPT_EXAMPLE, [RECEIPT.replace('.json', '.7.json')]: RECEIPT_EXAMPLE }
    const found = await readAll(swarm, memorySource(files({ [LLM]: COMPLETE, ...twice })))
    expect(found.map(({ entries }) => entries.length)).toEqual([13, 1])
    expect(found[0]?.entries.at(-1)?.origin?.file).toBe(RECEIPT)
  })

  it('without a transcript is a session of its own', async () => {
    const [found] = await readAll(swarm, memorySource(files({ [RECEIPT]: RECEIPT_EXAMPLE })))
    expect(found?.session).toMatchObject({ run: { step: 'impl-loop' }, status: 'completed' })
    expect(found?.entries.map(({ metadata }) => metadata?.['record'])).toEqual(['receipt'])
    const alone = await readAll(swarm, memoryFileSource('x.json', RECEIPT_EXAMPLE))
    expect(alone[0]?.session.run).toEqual(found?.session.run)
  })

  it('that is damaged costs itself, not the transcript', async () => {
    const found = await readAll(swarm, memorySource(files({ [LLM]: COMPLETE, [RECEIPT]: '{"engine": ' })))
    expect(found[0]?.entries).toHaveLength(12)
    expect(found[0]?.damage.map(({ kind }) => kind)).toEqual(['not-json'])
    expect(found[0]?.session.status).toBe('interrupted')
  })
})

describe('lines', () => {
  const call = (name: string, callId: string): Block => ({
    type: 'tool-call',
    callId,
    name,
    input: { n: callId },
  })
  const result = (callId: string, output: string): Block => ({ type: 'tool-result', callId, output })

  it("are written as they happen: a tool's when its result comes, unanswered calls at the end", () => {
    const writing = swarm.write?.begin(facts, quiet())
    const appended = (entry: Entry): string[] =>
      (writing?.entry(entry) ?? []).flatMap((operation) =>
        operation.op === 'append' ? [operation.text] : [],
      )
    expect(
      appended(entry('assistant', AT, 'look', call('Read', '1'), call('Bash', '2'), call('Bash', '3'))),
    ).toEqual([`{"timestamp": "2025-12-09T14:30:23.000000Z", "role": "assistant", "content": "look"}\n`])
    expect(appended(entry('tool', AT, result('2', 'two')))).toEqual([
      `{"timestamp": "2025-12-09T14:30:23.000000Z", "role": "tool", "tool_name": "Bash", "tool_input": {"n": "2"}, "tool_output": "two"}\n`,
    ])
    expect(appended(entry('user', AT, result('1', 'one')))).toEqual([
      `{"timestamp": "2025-12-09T14:30:23.000000Z", "role": "tool", "tool_name": "Read", "tool_input": {"n": "1"}, "content": "one"}\n`,
    ])
    expect(writing?.end(facts)[0]).toMatchObject({
      op: 'append',
      text: `{"timestamp": "2025-12-09T14:30:23.000000Z", "role": "tool", "tool_name": "Bash", "tool_input": {"n": "3"}}\n`,
    })
  })

  it('say when the tool was called, and report the time of its result as lost', () => {
    const later = entry('tool', '2025-12-09T14:30:24.000Z', result('1', 'x'))
    const { files: target, lost } = write([entry('assistant', AT, call('Bash', '1')), later])
    expect(lines(target)[0]?.['timestamp']).toBe('2025-12-09T14:30:23.000000Z')
    expect(lost).toContainEqual({ entry: later.id, what: 'time' })
  })

  it('always have what the seed requires: fillers are reported', () => {
    const { files: target, filled } = write([
      entry('user', undefined, 'no time'),
      entry('tool', AT, { type: 'tool-result', output: 'no call' }),
      entry(undefined, AT, { type: 'error', message: 'broken' }),
    ])
    expect(lines(target)).toEqual([
      { timestamp: '2025-12-09T14:30:22.000000Z', role: 'user', content: 'no time' },
      {
        timestamp: '2025-12-09T14:30:23.000000Z',
        role: 'tool',
        tool_name: 'unknown',
        tool_input: {},
        tool_output: 'no call',
      },
      { timestamp: '2025-12-09T14:30:23.000000Z', role: 'system', content: 'broken' },
    ])
    expect(filled.map(({ what }) => what).slice(0, 4)).toEqual([
      'timestamp',
      'tool_name',
      'tool_input',
      'role',
    ])
  })

  it('report what they cannot hold, entry by entry', () => {
    const noted = [
      entry('assistant', AT, { type: 'thinking', text: 'hm' }, { type: 'image', url: 'x' }),
      entry('tool', AT, { type: 'tool-result', name: 'x', output: 'o', error: 'e', isError: true }),
      { ...entry('assistant', AT, 'a'), durationMs: 3, stopReason: 'end_turn' },
      entry('assistant', AT, { type: 'tool-call', name: 'x', input: 'not json' }),
      entry('assistant', AT),
    ]
    const { files: target, lost } = write(noted)
    const by = (at: number): string[] =>
      lost.filter(({ entry }) => entry === noted[at]?.id).map(({ what }) => what)
    expect(by(0)).toEqual(['the whole entry: thinking, an image'])
    expect(by(1)).toEqual(['entry id, that the tool failed, error beside output'])
    expect(by(2)).toEqual(['entry id, stop reason, duration'])
    expect(by(3)).toEqual(['entry id', 'that the arguments are no object: they are written under "raw"'])
    expect(by(4)).toEqual(['the whole entry: it has no blocks'])
    expect(lines(target).at(-1)?.['tool_input']).toEqual({ raw: 'not json' })
  })

  it('keep fields that others add', async () => {
    const rich = `{"timestamp": "2025-12-09T14:30:22.000000Z", "role": "user", "content": "x", "phase": "work", "__proto__": 1}\n`
    const target = await roundTrip(files({ [LLM]: rich, [RECEIPT]: RECEIPT_EXAMPLE }))
    expect(text(target, LLM)).toBe(rich)
  })
})

describe('names', () => {
  it('that would lead elsewhere, or are too long for a file, are refused', () => {
    for (const bad of ['../x', 'a/b', 'a\0b', '', '.x', 'x'.repeat(300)]) {
      for (const part of ['id', 'flow', 'step', 'agentKey', 'engine'] as const) {
        expect(() => write([], { run: { ...facts.run, [part]: bad } })).toThrow(/not a safe/)
      }
    }
    const long = { ...facts.run, step: 's'.repeat(120), agentKey: 'a'.repeat(120) }
    expect(() => write([], { run: long })).toThrow(/longer than/)
  })

  it('that are absent are filled and reported, the same for the same session', () => {
    const { run: _, ...bare } = facts
    const { files: target, filled } = writeTranscript(swarm, { session: bare, entries: [] })
    const id = createRunId(bare)
    expect(id).toMatch(/^run-20251209-143022-[a-z0-9]{6}$/)
    expect([...target.keys()]).toEqual([
      `${id}/main/llm/session-unknown-unknown.jsonl`,
      `${id}/main/receipts/session-unknown.json`,
    ])
    expect(filled.map(({ what }) => what).slice(0, 5)).toEqual([
      'run_id',
      'flow',
      'step',
      'agent_key',
      'engine',
    ])
  })

  it('a devflow node stands for the step where there is none', () => {
    const { files: target } = write([], {
      run: { id: 'r', flow: 'f', node: 'spec', agentKey: 'a', engine: 'e' },
    })
    expect([...target.keys()][0]).toBe('r/f/llm/spec-a-e.jsonl')
  })

  it('are taken from the receipt, never from the file', async () => {
    const other = RECEIPT_EXAMPLE.replace('"impl-loop"', '"impl"').replace(
      '"code-implementer"',
      '"loop-code-implementer"',
    )
    const [found] = await readAll(swarm, memorySource(files({ [LLM]: MESSAGES, [RECEIPT]: other })))
    expect(found?.session.run).toMatchObject({ step: 'impl', agentKey: 'loop-code-implementer' })
    expect(found?.session.metadata).toBeUndefined()
  })

  it('without a receipt: the first line, then ids that receipts told, then a guess, and marked', async () => {
    const run = async (source: MemoryFiles, step: number) =>
      (await readAll(swarm, memorySource(source)))[step]?.session
    expect(await run(files({ [LLM]: COMPLETE }), 0)).toMatchObject({
      run: { id: RUN, flow: 'build', step: 'impl-loop', agentKey: 'code-implementer', engine: 'claude' },
      metadata: { swarm: { names: 'guessed' } },
    })
    const critic = `${RUN}/build/llm/impl-loop-code-critic-claude.jsonl`
    const known = files({ [LLM]: MESSAGES, [RECEIPT]: RECEIPT_EXAMPLE, [critic]: MESSAGES })
    expect((await run(known, 0))?.run).toMatchObject({ step: 'impl-loop', agentKey: 'code-critic' })
    expect((await run(files({ [critic]: MESSAGES }), 0))?.run).toMatchObject({
      step: 'impl',
      agentKey: 'loop-code-critic',
      engine: 'claude',
    })
  })
})

describe('a step that is run again', () => {
  it('keeps every earlier execution, and the newest has the plain name', async () => {
    const target: MemoryFiles = new Map()
    for (const [n, minute] of ['one', 'two', 'three'].entries()) {
      const time = (second: number): string => `2025-12-09T14:3${n}:${second}.000Z`
      const session = { startedAt: time(10), endedAt: time(20) }
      write([entry('user', time(11), minute)], session, target)
    }
    const name = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
    expect([...target.keys()].map(name).sort()).toEqual([
      'impl-loop-code-implementer-claude.1.jsonl',
      'impl-loop-code-implementer-claude.2.jsonl',
      'impl-loop-code-implementer-claude.jsonl',
      'impl-loop-code-implementer.1.json',
      'impl-loop-code-implementer.2.json',
      'impl-loop-code-implementer.json',
    ])
    expect(lines(target)[0]?.['content']).toBe('three')
    const found = await readAll(swarm, memorySource(target))
    expect(
      found.map(({ session, entries }) => [session.startedAt?.slice(14, 16), entries[0]?.blocks[0]]),
    ).toEqual([
      ['30', { type: 'text', text: 'one' }],
      ['31', { type: 'text', text: 'two' }],
      ['32', { type: 'text', text: 'three' }],
    ])
    expect(new Set(found.map(({ session }) => session.id)).size).toBe(3)
  })

  it('is paired with its own receipt by time when the numbers differ', async () => {
    const source = files({
      [LLM]: COMPLETE.replaceAll('T14:', 'T16:'),
      [LLM.replace('.jsonl', '.1.jsonl')]: COMPLETE.replaceAll('T14:', 'T15:'),
      [LLM.replace('.jsonl', '.2.jsonl')]: COMPLETE,
      // The second execution died without a receipt, so the first one's is number 1.
      [RECEIPT.replace('.json', '.1.json')]: RECEIPT_EXAMPLE,
      [RECEIPT]: RECEIPT_EXAMPLE.replaceAll('T14:', 'T16:'),
    })
    const found = await readAll(swarm, memorySource(source))
    expect(found.map(({ session }) => [session.startedAt?.slice(11, 13), session.status])).toEqual([
      ['15', 'interrupted'],
      ['14', 'completed'],
      ['16', 'completed'],
    ])
  })

  it('is not one session with another that has the same name and no time', async () => {
    const timeless = '{"role": "user", "content": "x"}\n'
    const source = files({ [LLM]: timeless, [LLM.replace('.jsonl', '.1.jsonl')]: timeless })
    const found = await readAll(swarm, memorySource(source))
    expect(found.map(({ entries }) => entries.length)).toEqual([1, 1])
  })

  it('keeps its id when it is set aside', async () => {
    const before = files({ [LLM]: COMPLETE, [RECEIPT]: RECEIPT_EXAMPLE })
    const [first] = await readAll(swarm, memorySource(before))
    write([entry('user', AT, 'again')], {}, before)
    const after = await readAll(swarm, memorySource(before))
    expect(after).toHaveLength(2)
    expect(after.map(({ session }) => session.id)).toContain(first?.session.id)
  })
})

describe('subagents', () => {
  it('are agents of the same step: each has its transcript and its receipt', async () => {
    const usage = { input: 1, output: 2, quality: 'reported' } as const
    const critic = { ...entry('assistant', AT, 'bad'), source: 'subagent:code-critic', usage }
    const hostile = { ...entry('assistant', AT, 'worse'), source: 'subagent:../../etc' }
    const { files: target } = write([entry('user', AT, 'q'), critic, hostile])
    const names = [...target.keys()].map((path) => path.slice(`${RUN}/build/`.length))
    expect(names.slice(0, 2)).toEqual([
      'llm/impl-loop-code-implementer-claude.jsonl',
      'llm/impl-loop-code-critic-claude.jsonl',
    ])
    expect(names[2]).toMatch(/^llm\/impl-loop-subagent-[0-9a-f]{8}-claude\.jsonl$/)
    expect(names).toHaveLength(6)
    expect(receiptOf(target, `${RUN}/build/receipts/impl-loop-code-critic.json`)).toMatchObject({
      agent_key: 'code-critic',
      tokens: { prompt: 1, completion: 2, total: 3 },
      started_at: '2025-12-09T14:30:23.000000Z',
      completed_at: '2025-12-09T14:30:23.000000Z',
    })
    expect(await readAll(swarm, memorySource(target))).toHaveLength(3)
  })

  it('named like the agent of the step do not take its files', () => {
    const twin = { ...entry('assistant', AT, 'twin'), source: 'subagent:code-implementer' }
    const { files: target } = write([entry('user', AT, 'q'), twin])
    expect(lines(target).map((line) => line['content'])).toEqual(['q'])
    expect(target.size).toBe(4)
  })
})

describe("a session's stated usage", () => {
  it('is not written where entries count their own: it would be counted twice', () => {
    const usage = { input: 1, output: 2, quality: 'reported' } as const
    const critic = { ...entry('assistant', AT, 'bad'), source: 'subagent:code-critic', usage }
    const { files: target } = write([entry('user', AT, 'q'), critic], { reportedUsage: usage })
    expect(receiptOf(target)['tokens']).toEqual({ prompt: 0, completion: 0, total: 0 })
  })
})

describe('stubs', () => {
  it("are generated as the seed's three lines and receipt", () => {
    const entries = stubEntries({
      step: 'impl-loop',
      agentKey: 'code-implementer',
      role: 'Implement code changes...',
      at: '2025-12-09T14:30:22.000Z',
      endedAt: '2025-12-09T14:30:22.100Z',
    })
    const { model: _, ...session } = { ...facts, endedAt: '2025-12-09T14:30:22.100Z', stub: true }
    const { files: target, filled } = writeTranscript(swarm, { session, entries })
    expect(text(target, LLM)).toBe(STUB)
    expect(text(target, RECEIPT)).toBe(STUB_RECEIPT)
    expect(filled).toEqual([])
  })

  it.each([
    [
      'the model claude-stub',
      COMPLETE.replace('[STUB]', 'x'),
      RECEIPT_EXAMPLE.replace(/claude-sonnet[^"]*/, 'claude-stub'),
      true,
    ],
    [
      'mode stub, whatever the model',
      MESSAGES,
      RECEIPT_EXAMPLE.replace('"model"', '"mode": "stub",\n  "model"'),
      true,
    ],
    ['[STUB] with zero tokens', STUB, STUB_RECEIPT.replace('claude-stub', 'gemini'), true],
    ['[STUB WORKER] without a receipt', STUB.replace('[STUB]', '[STUB WORKER]'), undefined, true],
    ['[STUB] beside tokens that were paid for', COMPLETE, RECEIPT_EXAMPLE, false],
    ['zero tokens alone', MESSAGES, STUB_RECEIPT.replace('claude-stub', 'gemini'), false],
    ['a user who says [STUB]', MESSAGES.replace('Implement', '[STUB] Implement'), undefined, false],
  ])('are known by %s', async (_, llm, receipt, stub) => {
    const source = files({ [LLM]: llm, ...(receipt !== undefined && { [RECEIPT]: receipt }) })
    const [found] = await readAll(swarm, memorySource(source))
    expect(found?.session.stub ?? false).toBe(stub)
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
    expect(session.run).toEqual({})
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

function quiet() {
  return { taken: () => false, lost() {}, filled() {}, version: 'x' }
}
