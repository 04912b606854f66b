import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { files, memoryFileSource, memorySource, readAll } from '../../test/memory-files.ts'
import type { Entry } from '../transcript/entry.ts'
import type { Json, JsonObject } from '../transcript/json.ts'
import { createCallFold } from '../transcript/totals.ts'
import type { Transcript } from '../transcript/transcript.ts'
import { copilotCli } from './copilot-cli.ts'
import type { Drift } from './format.ts'

const SESSION = '7d0c2f9e-0000-4000-8000-000000000001'
const at = (second: number): string => new Date(Date.UTC(2026, 5, 1, 9, 0, second)).toISOString()

let count = 0
const line = (type: string, data: JsonObject, facts: JsonObject = {}): JsonObject => {
  count += 1
  return { type, data, id: `e${count}`, timestamp: at(count % 60), parentId: `e${count - 1}`, ...facts }
}
const start = (facts: JsonObject = {}): JsonObject =>
  line('session.start', {
    sessionId: SESSION,
    version: 1,
    producer: 'copilot-agent',
    copilotVersion: '1.0.68',
    startTime: at(0),
    selectedModel: 'claude-sonnet-4.6',
    context: { cwd: '/p', gitRoot: '/p', branch: 'main', headCommit: 'abc', repository: 'o/r' },
    ...facts,
  })
const asked = (content = 'list the files'): JsonObject =>
  line('user.message', { content, transformedContent: `<now/>${content}`, attachments: [] })
const answered = (outputTokens: number, facts: JsonObject = {}): JsonObject =>
  line('assistant.message', {
    messageId: `m${count}`,
    apiCallId: `msg_${count}`,
    model: 'claude-sonnet-4.6',
    content: 'well',
    toolRequests: [],
    outputTokens,
    ...facts,
  })
const metrics = (input: number, output: number, read = 0, write = 0, reasoning = 0): JsonObject => ({
  requests: { count: 1, cost: 1 },
  usage: {
    inputTokens: input,
    outputTokens: output,
    cacheReadTokens: read,
    cacheWriteTokens: write,
    reasoningTokens: reasoning,
  },
})
const shutdown = (modelMetrics: JsonObject, facts: JsonObject = {}): JsonObject =>
  line('session.shutdown', {
    shutdownType: 'routine',
    totalPremiumRequests: 2,
    totalNanoAiu: 5_000,
    modelMetrics,
    currentModel: 'claude-sonnet-4.6',
    ...facts,
  })
const MODEL = 'claude-sonnet-4.6'
const record = (apiCallId: string, counts: JsonObject, facts: JsonObject = {}): JsonObject =>
  line(
    'session.usage_record',
    { usage: { model: MODEL, apiCallId, duration: 25, cost: 1, ...counts } },
    facts,
  )
const resume = (): JsonObject => line('session.resume', { resumeTime: at(30), eventCount: 3 })

const text = (...lines: readonly Json[]): string => lines.map((one) => `${JSON.stringify(one)}\n`).join('')

async function readText(content: string): Promise<Transcript> {
  const [only, ...others] = await readAll(copilotCli, memoryFileSource('events.jsonl', content))
  expect(others).toEqual([])
  return only as Transcript
}
const read = (...lines: readonly Json[]): Promise<Transcript> => readText(text(...lines))

function totals(entries: readonly Entry[]): unknown {
  const fold = createCallFold()
  for (const entry of entries) fold.add(entry)
  const { calls, usage } = fold.totals()
  return { calls, ...usage }
}

describe('lines', () => {
  it('are one entry each, messages or events with all of their data', async () => {
    const { session, entries, damage } = await read(
      start(),
      line('system.message', { role: 'system', content: 'be terse' }),
      asked(),
      line('hook.start', { hookInvocationId: 'h', hookType: 'preToolUse', input: { a: 1 } }),
      answered(5, { reasoningText: 'hm', reasoningOpaque: 'sig', turnId: '0' }),
      line('session.error', { errorType: 'query', message: 'no', statusCode: 400 }),
      line('abort', { reason: 'user_initiated' }),
    )
    expect(damage).toEqual([])
    expect(entries.map(({ kind, role, metadata }) => [kind, role, metadata?.['record']])).toEqual([
      ['event', undefined, 'session.start'],
      ['message', 'system', 'system.message'],
      ['message', 'user', 'user.message'],
      ['event', undefined, 'hook.start'],
      ['message', 'assistant', 'assistant.message'],
      ['event', undefined, 'session.error'],
      ['event', undefined, 'abort'],
    ])
    expect(entries[2]).toMatchObject({
      blocks: [{ type: 'text', text: 'list the files' }],
      metadata: { data: { transformedContent: '<now/>list the files' } },
    })
    expect(entries[3]?.metadata).toMatchObject({ data: { input: { a: 1 } } })
    expect(entries[4]).toMatchObject({
      model: 'claude-sonnet-4.6',
      blocks: [
        { type: 'thinking', text: 'hm', signature: 'sig' },
        { type: 'text', text: 'well' },
      ],
    })
    expect(entries[5]?.blocks).toEqual([{ type: 'error', message: 'no', code: 'query' }])
    expect(entries[6]?.stopReason).toBe('user_initiated')
    expect(session).toMatchObject({
      native: { agent: 'copilot-cli', sessionId: SESSION },
      version: '1.0.68',
      cwd: '/p',
      git: { branch: 'main', commit: 'abc', remote: 'o/r' },
      startedAt: at(0),
      status: 'interrupted',
    })
  })

  it('of a type that is not known are kept whole and told of', async () => {
    const strange = line('session.dreamt', { of: ['sheep'] })
    const told: Drift[] = []
    const source = memoryFileSource(
      'x',
      text(start(), strange, [1], asked(), line('abort', { reason: 'r', why: 1 })),
    )
    const items = []
    for await (const batch of copilotCli.read(source, { drift: (drift) => told.push(drift) }))
      items.push(...batch)
    const entries = items.flatMap((item) => (item.type === 'entry' ? [item.entry] : []))
    expect(entries[1]?.blocks).toEqual([{ type: 'unknown', raw: strange }])
    expect(entries[2]?.blocks).toEqual([{ type: 'unknown', raw: [1] }])
    expect(told).toEqual([
      { kind: 'record', name: 'session.dreamt', version: '1.0.68' },
      { kind: 'key', name: 'abort.why', version: '1.0.68' },
    ])
  })
})

describe('tool calls', () => {
  const request = { toolCallId: 'c1', name: 'edit', arguments: { path: 'a' }, intentionSummary: 'edit a' }

  it('are paired with their results, which say the tool, how long it took, and the diff', async () => {
    const begun = line(
      'tool.execution_start',
      { toolCallId: 'c1', toolName: 'edit', arguments: { path: 'a' } },
      { timestamp: at(10) },
    )
    const done = line(
      'tool.execution_complete',
      {
        toolCallId: 'c1',
        success: true,
        result: { content: 'ok', detailedContent: 'diff --git' },
        toolTelemetry: {},
      },
      { timestamp: at(12) },
    )
    const { entries } = await read(
      start(),
      answered(5, { content: '', toolRequests: [request] }),
      begun,
      done,
    )
    expect(entries[1]).toMatchObject({
      blocks: [{ type: 'tool-call', callId: 'c1', name: 'edit', input: { path: 'a' } }],
      metadata: { data: { toolRequests: [{ intentionSummary: 'edit a' }] } },
    })
    expect(entries[2]).toMatchObject({ kind: 'event', blocks: [] })
    expect(entries[3]).toMatchObject({
      role: 'tool',
      durationMs: 2000,
      blocks: [{ type: 'tool-result', callId: 'c1', name: 'edit', output: 'ok' }],
      metadata: { data: { result: { detailedContent: 'diff --git' } } },
    })
  })

  it('are said once where the start was written before the message, and where no message asks', async () => {
    const begun = line('tool.execution_start', {
      toolCallId: 'c1',
      toolName: 'edit',
      arguments: '{"path":"a"}',
    })
    const { entries } = await read(start(), begun, answered(5, { toolRequests: [request] }))
    expect(entries[1]?.blocks).toEqual([
      { type: 'tool-call', callId: 'c1', name: 'edit', input: { path: 'a' } },
    ])
    expect(entries.flatMap(({ blocks }) => blocks.filter(({ type }) => type === 'tool-call'))).toHaveLength(1)
    expect(entries[2]?.metadata).toMatchObject({ data: { toolRequests: [request] } })
  })

  it('has failed when its command exited with another code than 0', async () => {
    const ended = (exitCode: number): JsonObject =>
      line('tool.execution_complete', {
        toolCallId: `c${exitCode}`,
        success: true,
        shellExecution: { exitCode },
        result: { content: 'out' },
      })
    const { entries } = await read(start(), ended(0), ended(3))
    expect(entries[1]?.blocks).toEqual([{ type: 'tool-result', callId: 'c0', output: 'out' }])
    expect(entries[2]?.blocks).toEqual([{ type: 'tool-result', callId: 'c3', output: 'out', isError: true }])
  })

  it('that failed say why', async () => {
    const failed = line('tool.execution_complete', {
      toolCallId: 'c9',
      success: false,
      error: { message: 'no such path', code: 'failure' },
    })
    const { entries } = await read(start(), failed)
    expect(entries[1]).toMatchObject({
      blocks: [{ type: 'tool-result', callId: 'c9', error: 'no such path', isError: true }],
      metadata: { data: { success: false, error: { code: 'failure' } } },
    })
  })
})

describe('subagents', () => {
  it('have a source of their own, and answer the call that started them', async () => {
    const task = { toolCallId: 'task1', name: 'task', arguments: { prompt: 'look' } }
    const asking = answered(5, { toolRequests: [task] })
    const { entries } = await read(
      start(),
      asking,
      line('subagent.started', { toolCallId: 'task1', agentName: 'explore' }, { agentId: 'agent-7' }),
      answered(3, { parentToolCallId: 'task1', model: 'claude-haiku-4.5' }),
      line('assistant.message', { content: 'by its id', outputTokens: 2 }, { agentId: 'agent-7' }),
      line('subagent.completed', { toolCallId: 'task1', model: 'claude-haiku-4.5', durationMs: 40 }),
      line('tool.execution_complete', { toolCallId: 'task1', success: true, result: { content: 'seen' } }),
    )
    const sub = 'subagent:task1'
    expect(entries.map(({ source, sequence }) => `${source} ${sequence}`)).toEqual([
      'primary 0',
      'primary 1',
      `${sub} 0`,
      `${sub} 1`,
      `${sub} 2`,
      `${sub} 3`,
      'primary 2',
    ])
    expect(entries[2]?.parent).toBe(asking['id'])
    expect(entries[5]).toMatchObject({ durationMs: 40, model: 'claude-haiku-4.5' })
    // Its model is not the main agent's for want of a better one.
    expect(entries[4]?.model).toBeUndefined()
  })
})

describe('usage (trap 3: the input includes what was cached, the reasoning is inside the output)', () => {
  it('is what the shutdown says, with the output of the messages not counted twice', async () => {
    const { session, entries } = await read(
      start(),
      answered(30),
      answered(12),
      shutdown({ 'claude-sonnet-4.6': metrics(1000, 42, 600, 100, 7) }),
    )
    const sum = {
      input: 300,
      cacheRead: 600,
      cacheWrite5m: 100,
      output: 42,
      reasoning: 7,
      quality: 'reported',
    }
    expect(totals(entries)).toEqual({ calls: 2, ...sum })
    expect(session.reportedUsage).toEqual(sum)
    expect(session.status).toBe('completed')
  })

  it('of a message without a count of its own is in the shutdown’s, and nobody’s without one', async () => {
    const { outputTokens: _, ...data } = answered(0)['data'] as JsonObject
    const silent = line('assistant.message', { ...data, apiCallId: 'msg_silent' })
    const sums = shutdown({ 'claude-sonnet-4.6': metrics(1000, 42) })
    const whole = await read(start(), answered(30), silent, sums)
    expect(totals(whole.entries)).toMatchObject({ calls: 1, input: 1000, output: 42, quality: 'reported' })
    const open = await read(start(), answered(30), silent)
    expect(totals(open.entries)).toMatchObject({ calls: 1, output: 30, quality: 'partial' })
    expect(open.entries[2]?.call?.messageId).toBe('msg_silent')
  })

  describe('of each call, which newer versions record', () => {
    const one = { inputTokens: 700, outputTokens: 30, cacheReadTokens: 600, cacheWriteTokens: 50 }
    const two = { inputTokens: 400, outputTokens: 12 }
    const log = [
      start(),
      record('a', one),
      answered(0, { apiCallId: 'a', outputTokens: 30 }),
      line('subagent.started', { toolCallId: 'task1' }, { agentId: 'agent-7' }),
      record('b', two, { agentId: 'agent-7' }),
      line('assistant.message', { content: 'seen', apiCallId: 'b' }, { agentId: 'agent-7' }),
    ]
    const sum = { input: 450, cacheRead: 600, cacheWrite5m: 50, output: 42, quality: 'reported' }

    it('is exact without a shutdown, call by call', async () => {
      const { entries } = await read(...log)
      expect(totals(entries)).toEqual({ calls: 2, ...sum })
      expect(entries[1]).toMatchObject({
        kind: 'event',
        model: MODEL,
        durationMs: 25,
        call: { messageId: 'a' },
        usage: { input: 50, cacheRead: 600, cacheWrite5m: 50, output: 30, quality: 'reported' },
      })
      expect(entries[4]).toMatchObject({ source: 'subagent:task1', usage: { input: 400, output: 12 } })
    })

    it('is not counted again by a shutdown, whatever that calls the model', async () => {
      for (const model of [MODEL, 'claude-sonnet-4.6-20260101']) {
        const { entries } = await read(...log, shutdown({ [model]: metrics(1100, 42, 600, 50) }))
        expect(entries).toHaveLength(7)
        expect(totals(entries)).toEqual({ calls: 2, ...sum })
      }
    })

    it('is less than a shutdown says by what has no record', async () => {
      const { entries } = await read(...log, shutdown({ [MODEL]: metrics(1600, 50, 700, 50) }))
      expect(totals(entries)).toMatchObject({ calls: 3, ...sum, input: 850, cacheRead: 700, output: 50 })
    })
  })

  it('of premium requests and AI units is no money', async () => {
    const { session } = await read(start(), answered(1), shutdown({ m: metrics(5, 1) }))
    expect(session.reportedCost).toBeUndefined()
    expect(session.metadata).toMatchObject({
      'copilot-cli': { totalPremiumRequests: 2, totalNanoAiu: 5000 },
    })
  })

  it('without a shutdown is a lower bound, and never zeros', async () => {
    const { session, entries } = await read(start(), answered(30), answered(0))
    expect(totals(entries)).toEqual({ calls: 1, output: 30, quality: 'partial' })
    expect(entries[2]?.usage).toMatchObject({ quality: 'unavailable' })
    expect(session.reportedUsage).toBeUndefined()
    expect(session.status).toBe('interrupted')
  })

  it('of a shutdown that counted nothing is unknown', async () => {
    const { session, entries } = await read(start(), answered(0), shutdown({ spark: metrics(0, 0) }))
    expect(totals(entries)).toEqual({ calls: 0 })
    expect(session.reportedUsage).toBeUndefined()
  })

  it('of a shutdown that counted less than the messages, or nothing, stays a lower bound', async () => {
    const less = await read(start(), answered(30), shutdown({ 'claude-sonnet-4.6': metrics(100, 20) }))
    expect(totals(less.entries)).toMatchObject({ calls: 1, input: 100, output: 30, quality: 'partial' })
    expect(less.entries[1]?.usage?.quality).toBe('partial')
    const nothing = await read(start(), answered(30), shutdown({ m: { requests: { count: 1 } } }))
    expect(totals(nothing.entries)).toEqual({ calls: 1, output: 30, quality: 'partial' })
  })

  it('that was resumed after a shutdown and has no other was left by a crash', async () => {
    const failed = shutdown({}, { shutdownType: 'error', errorReason: 'lost' })
    const { session } = await read(start(), answered(5), failed, resume(), answered(6))
    expect(session.status).toBe('interrupted')
    expect(session.error).toBeUndefined()
  })

  it('that runs on over resumes is what it grew by', async () => {
    const { session, entries } = await read(
      start(),
      answered(30),
      shutdown({ m: metrics(1000, 30, 100) }),
      resume(),
      answered(12),
      shutdown({ m: metrics(1500, 42, 300) }),
      shutdown({ m: metrics(1500, 42, 300) }),
    )
    expect(totals(entries)).toMatchObject({ input: 1200, cacheRead: 300, output: 42, quality: 'reported' })
    expect(session.reportedUsage).toMatchObject({ input: 1200, cacheRead: 300, output: 42 })
  })

  it('that a compaction set back to zero is counted from there, also where it has outgrown what it was', async () => {
    const { entries } = await read(
      start(),
      answered(30),
      shutdown({ m: metrics(1000, 30) }),
      resume(),
      line('session.compaction_complete', { success: true }),
      answered(40),
      shutdown({ m: metrics(2000, 40) }),
    )
    expect(totals(entries)).toMatchObject({ input: 3000, output: 70, quality: 'reported' })
  })

  it('of a leg that crashed and is in no shutdown stays a lower bound', async () => {
    const { entries } = await read(
      start(),
      answered(30),
      resume(),
      answered(12),
      shutdown({ 'claude-sonnet-4.6': metrics(500, 12) }),
    )
    expect(entries[1]?.usage?.quality).toBe('partial')
    expect(entries[3]?.usage?.quality).toBe('reported')
    expect(totals(entries)).toMatchObject({ input: 500, output: 42, quality: 'partial' })
  })

  it('of calls that no message shows is added to their model, and of messages without a model taken from none twice', async () => {
    const { model: _, ...unnamed } = answered(8)['data'] as JsonObject
    const { entries } = await read(
      start({ selectedModel: null }),
      answered(30),
      line('assistant.message', unnamed),
      shutdown({ 'claude-sonnet-4.6': metrics(900, 35), 'gpt-5-mini': metrics(100, 10) }),
    )
    expect(totals(entries)).toMatchObject({ input: 1000, output: 45, quality: 'reported' })
  })

  it('sums to the shutdowns, whatever the messages and however often it was left', () => {
    const leg = fc.record({
      outputs: fc.array(
        fc.record({
          output: fc.integer({ min: 1, max: 500 }),
          model: fc.constantFrom('a', 'b'),
          isRecorded: fc.boolean(),
        }),
        { minLength: 1, maxLength: 6 },
      ),
      hidden: fc.nat({ max: 50 }),
      input: fc.integer({ min: 1, max: 9000 }),
    })
    return fc.assert(
      fc.asyncProperty(fc.array(leg, { minLength: 1, maxLength: 4 }), async (legs) => {
        const lines: JsonObject[] = [start()]
        const sums = new Map<string, { input: number; output: number }>()
        for (const { outputs, hidden, input } of legs) {
          for (const { output, model, isRecorded } of outputs) {
            const sum = sums.get(model) ?? { input: 0, output: 0 }
            sums.set(model, { input: sum.input + input, output: sum.output + output })
            if (isRecorded) lines.push(record('', { model, inputTokens: input, outputTokens: output }))
            else lines.push(answered(output, { model }))
          }
          const [first] = sums.keys()
          const sum = sums.get(first as string) as { input: number; output: number }
          sums.set(first as string, { ...sum, output: sum.output + hidden })
          lines.push(
            shutdown(
              Object.fromEntries([...sums].map(([model, one]) => [model, metrics(one.input, one.output)])),
            ),
          )
          lines.push(resume())
        }
        const { session, entries } = await read(...lines)
        const all = [...sums.values()]
        const input = all.reduce((sum, one) => sum + one.input, 0)
        const output = all.reduce((sum, one) => sum + one.output, 0)
        expect(totals(entries)).toMatchObject({ input, output, quality: 'reported' })
        expect(session.reportedUsage).toMatchObject({ input, output })
      }),
      { numRuns: 100 },
    )
  })
})

describe('bad input (trap 9)', () => {
  const log = text(start(), asked(), answered(5), shutdown({ m: metrics(10, 5) }))

  it('that is cut at any byte costs the line it was cut in', async () => {
    const bytes = Buffer.from(log)
    const ends = [...log.matchAll(/\n/g)].map(({ index }) => index)
    for (let length = 1; length < bytes.length; length += 3) {
      const transcripts = await readAll(copilotCli, memoryFileSource('x', bytes.subarray(0, length)))
      const whole = ends.filter((end) => end <= length).length
      const entries = transcripts.flatMap((one) => one.entries)
      const lines = new Set(entries.map(({ origin }) => origin?.record))
      const damage = transcripts.flatMap((one) => one.damage)
      expect(lines.size).toBe(whole)
      expect(damage.length).toBe(ends.includes(length - 1) || ends.includes(length) ? 0 : 1)
    }
  })

  it('never throws, and gives every line', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.oneof(
            fc.json(),
            fc
              .record({
                type: fc.constantFrom(
                  'session.start',
                  'assistant.message',
                  'tool.execution_complete',
                  'session.shutdown',
                  'subagent.started',
                  'user.message',
                ),
                data: fc.jsonValue(),
                id: fc.jsonValue(),
                agentId: fc.jsonValue(),
              })
              .map((value) => JSON.stringify(value)),
          ),
          { minLength: 1, maxLength: 8 },
        ),
        async (lines) => {
          const transcripts = await readAll(
            copilotCli,
            memoryFileSource('x', lines.map((one) => `${one.replaceAll('\n', ' ')}\n`).join('')),
          )
          const seen = new Set(
            transcripts.flatMap((one) => [
              ...one.entries.map(({ origin }) => origin?.record),
              ...one.damage.map(({ line: number }) => number),
            ]),
          )
          expect(seen.size).toBe(lines.filter((one) => one.trim() !== '').length)
        },
      ),
      { numRuns: 200 },
    ))

  it('of REDACTED ids pairs by position and confuses no calls (trap 10)', async () => {
    const redacted = { toolCallId: 'REDACTED', name: 'bash', arguments: {} }
    const { entries } = await read(
      start(),
      answered(5, { apiCallId: 'REDACTED', messageId: 'REDACTED', toolRequests: [redacted, redacted] }),
      answered(6, { apiCallId: 'REDACTED', messageId: 'REDACTED' }),
    )
    expect(entries[1]?.blocks.filter(({ type }) => type === 'tool-call')).toHaveLength(2)
    expect(totals(entries)).toMatchObject({ calls: 2, output: 11 })
  })

  it('of an empty file is no session', async () => {
    expect(await readAll(copilotCli, memoryFileSource('x', ''))).toEqual([])
  })
})

describe('detection and places', () => {
  it('is by content, surer with the first line than without', async () => {
    const events = [start(), asked(), answered(5)]
    const detect = (...lines: readonly Json[]) =>
      copilotCli.detect(memoryFileSource('any.txt', text(...lines)))
    expect((await detect(...events))?.confidence).toBe(0.95)
    expect((await detect(...events.slice(1)))?.confidence).toBe(0.8)
    expect(await detect({ type: 'session.start', data: {} })).toBeUndefined()
    expect(await detect({ type: 'message', id: 'a', parentId: null, timestamp: at(0) })).toBeUndefined()
  })

  it('reads the folder of a session with the name that its person gave it', async () => {
    const source = memorySource(
      files({
        's/1/events.jsonl': text(start(), asked()),
        's/1/workspace.yaml': 'id: x\ncwd: /elsewhere\nname: "Sort the files"\n',
        's/old.jsonl': text(start({ sessionId: 'other' })),
      }),
    )
    const [first, second] = await readAll(copilotCli, source)
    expect(first?.session).toMatchObject({ title: 'Sort the files', cwd: '/p' })
    expect(second?.session.native?.sessionId).toBe('other')
    const unit = (path: string): unknown => copilotCli.unit?.({ path } as never)
    expect([unit('1/events.jsonl'), unit('1/workspace.yaml'), unit('old.jsonl')]).toEqual([
      '1',
      '1',
      'old.jsonl',
    ])
  })
})
