import { afterEach, describe, expect, it, vi } from 'vitest'
import { memoryFileSource, readAll } from '../../test/memory-files.ts'
import { createCallFold } from '../transcript/totals.ts'
import type { Transcript } from '../transcript/transcript.ts'
import { otel } from './otel.ts'

const TRACE = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'
const id = (n: number): string => `000000000000000${n}`
const value = (one: unknown) =>
  typeof one === 'number'
    ? { intValue: String(one) }
    : { stringValue: typeof one === 'string' ? one : JSON.stringify(one) }
const span = (n: number, parent: number | undefined, attributes: Readonly<Record<string, unknown>>) => ({
  traceId: TRACE,
  spanId: id(n),
  ...(parent !== undefined && { parentSpanId: id(parent) }),
  name: `span ${n}`,
  startTimeUnixNano: String(1_767_225_600_000_000_000n + BigInt(n) * 1_000_000_000n),
  endTimeUnixNano: String(1_767_225_600_500_000_000n + BigInt(n) * 1_000_000_000n),
  attributes: Object.entries(attributes).map(([key, one]) => ({ key, value: value(one) })),
})
const exported = (...spans: readonly object[]) => ({
  resourceSpans: [
    {
      resource: { attributes: [{ key: 'service.name', value: { stringValue: 'app' } }] },
      scopeSpans: [{ spans }],
    },
  ],
})
const read = (document: unknown, name = 'x.json') =>
  readAll(otel, memoryFileSource(name, typeof document === 'string' ? document : JSON.stringify(document)))
const totals = ({ entries }: Transcript) => {
  const fold = createCallFold()
  for (const entry of entries) fold.add(entry)
  return fold.totals()
}
const said = (told: Transcript | undefined) => (told?.entries ?? []).filter(({ kind }) => kind === 'message')

afterEach(() => vi.restoreAllMocks())

it('tells of a long resource once, and never spells all of it', async () => {
  const long = { key: 'text', value: { stringValue: 'said '.repeat(400_000) } }
  const [one] = exported(span(1, undefined, {}), span(2, 1, {})).resourceSpans
  const text = JSON.stringify({ resourceSpans: [{ ...one, resource: { attributes: [long] } }] })
  const spelled = vi.spyOn(JSON, 'stringify')
  const [told] = await read(text)
  const lengths = spelled.mock.results.map(({ value }) => String(value).length)
  expect(Math.max(...lengths)).toBeLessThan(1_000_000)
  expect(told?.entries.filter(({ metadata }) => metadata?.['record'] === 'resource')).toHaveLength(1)
})

const user = { role: 'user', parts: [{ type: 'text', content: 'look' }] }
const asked = { role: 'assistant', parts: [{ type: 'tool_call', id: 'c', name: 'ls', arguments: {} }] }
const returned = { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c', response: 'a.txt' }] }
const done = { role: 'assistant', parts: [{ type: 'text', content: 'done' }], finish_reason: 'stop' }
const chat = (input: unknown, output: unknown) => ({
  'gen_ai.operation.name': 'chat',
  'gen_ai.request.model': 'gpt',
  'gen_ai.conversation.id': 'conv',
  'gen_ai.input.messages': input,
  'gen_ai.output.messages': output,
  'gen_ai.usage.input_tokens': 10,
  'gen_ai.usage.cache_read.input_tokens': 4,
  'gen_ai.usage.output_tokens': 2,
})
const tool = {
  'gen_ai.operation.name': 'execute_tool',
  'gen_ai.tool.name': 'ls',
  'gen_ai.tool.call.id': 'c',
  'gen_ai.tool.call.result': 'a.txt',
}
const agent = {
  'gen_ai.operation.name': 'invoke_agent',
  'gen_ai.agent.name': 'helper',
  'gen_ai.usage.input_tokens': 20,
  'gen_ai.usage.output_tokens': 4,
}

describe('spans of an agent', () => {
  it('are read line by line where the first line is longer than what tells a file apart', async () => {
    const long = [user, { role: 'user', parts: [{ type: 'text', content: 'x'.repeat(400_000) }] }]
    const chat = (n: number, messages: object) =>
      span(n, undefined, { 'gen_ai.operation.name': 'chat', 'gen_ai.input.messages': messages })
    const lines = [exported(chat(1, long)), exported(chat(2, [user]))].map((one) => JSON.stringify(one))
    const [told, ...others] = await read(`${lines.join('\n')}\n`, 'x.jsonl')
    expect(others).toEqual([])
    expect(told?.damage).toEqual([])
    expect(told?.entries.map(({ origin }) => origin?.record)).toEqual(expect.arrayContaining([1, 2]))
  })

  it('tell each message once and bill each call once, whichever order they were exported in', async () => {
    const [told] = await read(
      exported(
        span(3, 1, tool),
        span(2, 1, chat([user], [asked])),
        span(4, 1, chat([user, asked, returned], [done])),
        span(1, undefined, agent),
      ),
    )
    expect(said(told).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    expect(totals(told as Transcript)).toMatchObject({
      calls: 2,
      toolCalls: 1,
      usage: { input: 12, cacheRead: 8, output: 4 },
    })
    expect(told?.session).toMatchObject({ native: { sessionId: 'conv' }, agent: 'helper' })
    expect(said(told)[3]).toMatchObject({
      durationMs: 500,
      stopReason: 'stop',
      at: '2026-01-01T00:00:04.500Z',
    })
  })

  it('bill an agent that has no calls below it', async () => {
    const [told] = await read(exported(span(1, undefined, agent)))
    expect(totals(told as Transcript)).toMatchObject({ calls: 1, usage: { input: 20, output: 4 } })
  })

  it('have agents inside of agents as sources of their own', async () => {
    const [told] = await read(
      exported(span(1, undefined, agent), span(2, 1, agent), span(3, 2, chat([user], [done]))),
    )
    expect(said(told).map(({ source }) => source)).toEqual([`subagent:${id(2)}`, `subagent:${id(2)}`])
  })

  it('are one session for each conversation, else for each trace', async () => {
    const other = {
      ...span(1, undefined, { ...chat([user], [done]), 'gen_ai.conversation.id': '' }),
      traceId: TRACE.replaceAll('a', 'b'),
    }
    const told = await read(exported(span(1, undefined, chat([user], [done])), other))
    expect(told.map(({ session }) => session.native?.sessionId)).toEqual(['conv', TRACE.replaceAll('a', 'b')])
  })

  it('keep what is no span, and spans of something else', async () => {
    const told = await read(
      `${JSON.stringify(exported(span(1, undefined, { 'http.method': 'GET' })))}\n{"resourceLogs":[]}\n{"torn":\n`,
      'x.jsonl',
    )
    expect(JSON.stringify(told)).toContain('http.method')
    expect(JSON.stringify(told)).toContain('resourceLogs')
    expect(told.flatMap(({ damage }) => damage)).toHaveLength(1)
  })
})

describe('other exporters', () => {
  it('Phoenix: attributes with dots or inside each other', async () => {
    const llm = {
      llm: {
        model_name: 'gpt',
        token_count: { prompt: 9, completion: 1 },
        input_messages: [{ message: { role: 'user', content: 'hi' } }],
        output_messages: [{ message: { role: 'assistant', content: 'yo' } }],
      },
    }
    const [told] = await read([
      {
        name: 'llm',
        context: { trace_id: 't', span_id: 's' },
        span_kind: 'LLM',
        parent_id: null,
        start_time: '2026-01-01T00:00:00+00:00',
        end_time: '2026-01-01T00:00:01+00:00',
        status_code: 'OK',
        attributes: llm,
        events: [],
      },
    ])
    expect(said(told).map(({ role, model }) => [role, model])).toEqual([
      ['user', undefined],
      ['assistant', 'gpt'],
    ])
    expect(totals(told as Transcript).usage).toMatchObject({ input: 9, output: 1 })
  })

  it('Jaeger: tags, microseconds, processes', async () => {
    const tags = Object.entries(chat([user], [done])).map(([key, one]) => ({
      key,
      type: 'string',
      value: typeof one === 'number' ? one : typeof one === 'string' ? one : JSON.stringify(one),
    }))
    const data = [
      {
        traceID: 't',
        spans: [
          {
            traceID: 't',
            spanID: 's',
            operationName: 'chat',
            references: [],
            startTime: 1_767_225_600_000_000,
            duration: 250_000,
            tags,
            logs: [],
            processID: 'p1',
          },
        ],
        processes: { p1: { serviceName: 'app', tags: [{ key: 'hostname', value: 'h' }] } },
      },
    ]
    const [told] = await read({ data, total: 0 })
    expect(JSON.stringify(told)).toContain('total')
    const all = await read({ data })
    expect(said(all.at(-1)).map(({ role, durationMs }) => [role, durationMs])).toEqual([
      ['user', undefined],
      ['assistant', 250],
    ])
  })
})

it('a file too large to be put in order says at its end what is known then', async () => {
  const padding = { note: 'x'.repeat(2000) }
  const lines = [1, 2, 3].map((n) => JSON.stringify(exported(span(n, undefined, padding))))
  const text = `${lines.join('\n')}\n{"odd":1}\n${JSON.stringify(exported(span(4, undefined, {})))}\n`
  const source = memoryFileSource('x.jsonl', text)
  const [file] = await source.list()
  if (file === undefined) throw new Error('no file')
  const large = { ...file, sizeBytes: 25 * 1024 * 1024 }
  const told = await readAll(otel, { ...source, list: async () => [large] })
  const [trace, loose] = told
  expect(trace?.session).toMatchObject({ startedAt: '2026-01-01T00:00:01.000Z' })
  expect(trace?.session.endedAt).toBe('2026-01-01T00:00:04.000Z')
  expect(trace?.entries.filter(({ metadata }) => metadata?.['record'] === 'span')).toHaveLength(4)
  expect(loose?.entries).toHaveLength(1)
})
