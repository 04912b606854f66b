/** What a step of swarm's leaves: its lines and its receipt, their names, and what is left of executions before. */
import { describe, expect, it } from 'vitest'
import { entry } from '../../test/entries.ts'
import {
  files,
  memoryFileSource,
  memorySource,
  readAll,
  writeTranscript,
  type MemoryFiles,
} from '../../test/memory-files.ts'
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
import type { Block } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import type { JsonObject } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import { createRunId } from './swarm-names.ts'
import { stubEntries } from './swarm-stub.ts'
import { swarm } from './swarm.ts'

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

const receiptOf = (target: MemoryFiles, path = RECEIPT): JsonObject =>
  JSON.parse(text(target, path)) as JsonObject

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
    expect((await run(files({ [LLM]: MESSAGES }), 0))?.run).toMatchObject({
      step: 'impl-loop',
      agentKey: 'code-implementer',
    })
    // Nothing tells: the middle, or the hyphen after a step with underscores.
    const bare = '{"timestamp": "2025-12-09T14:30:22.000000Z", "role": "user", "content": "x"}\n'
    for (const [name, step, agentKey] of [
      ['context-load-context-loader', 'context-load', 'context-loader'],
      ['impl-loop-code-critic', 'impl-loop', 'code-critic'],
      ['load_context-context-loader-two', 'load_context', 'context-loader-two'],
      ['plan-planner', 'plan', 'planner'],
    ] as const) {
      const path = `${RUN}/build/llm/${name}-claude.jsonl`
      expect((await run(files({ [path]: bare }), 0))?.run).toMatchObject({ step, agentKey, engine: 'claude' })
    }
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

function quiet() {
  return { taken: () => false, lost() {}, filled() {}, version: 'x' }
}
