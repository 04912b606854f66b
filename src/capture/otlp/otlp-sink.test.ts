import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  chat,
  hex,
  logsOf,
  said,
  tracesOf,
  type LogSample,
  type SpanSample,
} from '../../../test/otlp-samples.ts'
import { openArchive } from '../../archive/archive.ts'
import { readSession } from '../../archive/read-session.ts'
import { outputText, type Block } from '../../transcript/block.ts'
import type { Entry } from '../../transcript/entry.ts'
import type { JsonObject } from '../../transcript/json.ts'
import { readLogs, readSpans } from '../../wire/otlp.ts'
import { createOtlpSink, type OtlpSink } from './otlp-sink.ts'

let home: string
let sink: OtlpSink

beforeEach(() => {
  home = fs.mkdtempSync(join(tmpdir(), 'hansard-otlp-'))
  sink = createOtlpSink({ home, onFailure: (failure) => expect.fail(failure.message) })
})
afterEach(async () => {
  await sink.end()
  fs.rmSync(home, { recursive: true, force: true })
})

const send = (spans: readonly SpanSample[], resource?: JsonObject): Promise<boolean> =>
  sink.spans(readSpans(tracesOf(spans, resource))?.items ?? [])
const sendLogs = (logs: readonly LogSample[]) => sink.logs(readLogs(logsOf(logs))?.items ?? [])

async function entriesOf(id: string): Promise<Entry[]> {
  const entries: Entry[] = []
  for await (const items of readSession(openArchive(home), id))
    for (const item of items) if (item.type === 'entry') entries.push(item.entry)
  return entries
}

const words = (blocks: readonly Block[]): string =>
  blocks
    .map((block) => {
      if (block.type === 'text') return typeof block.text === 'string' ? block.text : '…'
      if (block.type === 'tool-call') return `${block.name}(${JSON.stringify(block.input)})`
      if (block.type === 'tool-result') return `→ ${outputText(block)}`
      return block.type
    })
    .join(' ')

/** Each message as `source role: words`. */
const told = (entries: readonly Entry[]): string[] =>
  entries
    .filter(({ kind }) => kind === 'message')
    .map(
      ({ source, role = 'error', blocks }) =>
        `${source === 'primary' ? '' : `${source} `}${role}: ${words(blocks)}`,
    )

const weather = { type: 'tool_call', id: 'call_1', name: 'weather', arguments: { city: 'Paris' } }
const calls: JsonObject = { role: 'assistant', parts: [weather], finish_reason: 'tool_call' }
const result: JsonObject = {
  role: 'tool',
  parts: [{ type: 'tool_call_response', id: 'call_1', response: 'rainy' }],
}
const question = said('user', 'Weather in Paris?')

/** An agent that asks, calls a tool, and asks again with the whole history. */
const RUN: readonly SpanSample[] = [
  {
    id: 'agent',
    from: 0,
    to: 9,
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'guide',
      'gen_ai.usage.input_tokens': 300,
      'gen_ai.usage.output_tokens': 30,
    },
  },
  {
    id: 'ask',
    parent: 'agent',
    from: 1,
    to: 2,
    attributes: chat([question], calls, [100, 10], {
      'gen_ai.response.id': 'r1',
      'gen_ai.system_instructions': [{ type: 'text', content: 'Be brief.' }],
    }),
  },
  {
    id: 'tool',
    parent: 'agent',
    from: 3,
    to: 4,
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'weather',
      'gen_ai.tool.call.id': 'call_1',
      'gen_ai.tool.call.result': 'rainy',
    },
  },
  {
    id: 'again',
    parent: 'agent',
    from: 5,
    to: 6,
    attributes: chat([question, calls, result], said('assistant', 'It rains.'), [200, 20], {
      'gen_ai.response.id': 'r2',
      'gen_ai.system_instructions': [{ type: 'text', content: 'Be brief.' }],
    }),
  },
]

const AS_IT_WAS = [
  'system: Be brief.',
  'user: Weather in Paris?',
  'assistant: weather({"city":"Paris"})',
  'tool: → rainy',
  'assistant: It rains.',
]

describe('spans of an agent', () => {
  it('are one session with each message once, and without its sums', async () => {
    await send(RUN)
    const [session, ...others] = await sink.end()
    expect(others).toEqual([])
    expect(session).toMatchObject({
      agent: 'shop',
      native: { agent: 'shop', sessionId: hex('one', 32) },
      startedAt: '2026-09-01T10:00:01.000Z',
      endedAt: '2026-09-01T10:00:09.000Z',
      totals: { calls: 2, usage: { input: 300, output: 30 } },
    })
    expect(session).not.toHaveProperty('cwd')
    const entries = await entriesOf(session?.id ?? '')
    expect(told(entries)).toEqual(AS_IT_WAS)
    expect(entries.find(({ usage }) => usage !== undefined)).toMatchObject({
      at: '2026-09-01T10:00:02.000Z',
      durationMs: 1000,
      model: 'gpt-5-mini',
      stopReason: 'tool_call',
      call: { provider: 'openai', messageId: 'r1' },
    })
  })

  it('are the same over any number of exports, in any order within each, and sent twice', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4 }),
        fc.integer({ min: 1, max: 4 }),
        fc.boolean(),
        async (order, size, isTwice) => {
          const folder = fs.mkdtempSync(join(home, 'any-'))
          sink = createOtlpSink({ home: folder })
          // Children end first: what is exported apart is exported as it ends, but for what a processor shuffles.
          const ended =
            size === 4 ? order.map((nth) => RUN[nth] as SpanSample) : [...RUN.slice(1), RUN[0] as SpanSample]
          for (let at = 0; at < 4; at += size)
            for (let times = isTwice ? 2 : 1; times > 0; times -= 1) await send(ended.slice(at, at + size))
          const sessions = await sink.end()
          expect(sessions).toHaveLength(1)
          expect(sessions[0]?.totals).toMatchObject({ calls: 2, usage: { input: 300, output: 30 } })
          home = folder
          expect(told(await entriesOf(sessions[0]?.id ?? ''))).toEqual(AS_IT_WAS)
          home = join(folder, '..')
        },
      ),
      { numRuns: 25 },
    )
  })

  it.each(['same export', 'later exports'])(
    'give subagents sources of their own, in the %s',
    async (when) => {
      const spans: SpanSample[] = [
        {
          id: 'ask',
          parent: 'agent',
          from: 1,
          to: 2,
          attributes: chat(
            [question],
            {
              role: 'assistant',
              parts: [{ type: 'tool_call', id: 'call_1', name: 'ask_expert', arguments: { topic: 'rain' } }],
            },
            [10, 1],
          ),
        },
        {
          id: 'sub1',
          parent: 'expert',
          from: 3,
          to: 4,
          attributes: chat([said('user', 'Tell me of rain')], said('assistant', 'It is wet'), [20, 2]),
        },
        {
          id: 'expert',
          parent: 'tool',
          from: 3,
          to: 5,
          attributes: {
            'gen_ai.operation.name': 'invoke_agent',
            'gen_ai.agent.name': 'expert',
            'gen_ai.usage.input_tokens': 20,
          },
        },
        {
          id: 'tool',
          parent: 'agent',
          from: 2,
          to: 6,
          attributes: {
            'gen_ai.operation.name': 'execute_tool',
            'gen_ai.tool.name': 'ask_expert',
            'gen_ai.tool.call.id': 'call_1',
            'gen_ai.tool.call.result': 'wet',
          },
        },
        {
          id: 'again',
          parent: 'agent',
          from: 7,
          to: 8,
          attributes: chat(
            [
              question,
              {
                role: 'assistant',
                parts: [
                  { type: 'tool_call', id: 'call_1', name: 'ask_expert', arguments: { topic: 'rain' } },
                ],
              },
            ],
            said('assistant', 'Wet.'),
            [30, 3],
          ),
        },
        {
          id: 'agent',
          from: 0,
          to: 9,
          attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'guide' },
        },
      ]
      if (when === 'same export') await send(spans)
      else for (const span of spans) await send([span])
      const [session] = await sink.end()
      const entries = await entriesOf(session?.id ?? '')
      const sub = `subagent:${hex('expert', 16)}`
      expect(told(entries)).toEqual([
        'user: Weather in Paris?',
        'assistant: ask_expert({"topic":"rain"})',
        `${sub} user: Tell me of rain`,
        `${sub} assistant: It is wet`,
        'tool: → wet',
        'assistant: Wet.',
      ])
      expect(session?.totals).toMatchObject({ calls: 3, usage: { input: 60, output: 6 } })
      expect(entries.find(({ metadata }) => metadata?.['record'] === 'spawned')).toMatchObject({
        source: sub,
        blocks: [{ raw: { callId: 'call_1', source: 'primary' } }],
      })
    },
  )

  it('count a call once that two instrumentations tell, and have its words', async () => {
    const { 'gen_ai.input.messages': _, 'gen_ai.output.messages': __, ...counts } = chat([], {}, [10, 2])
    await send([{ id: 'inner', parent: 'outer', from: 1, to: 2, attributes: counts }])
    await send([
      { id: 'outer', from: 0, to: 3, attributes: chat([question], said('assistant', 'Rain.'), [10, 2]) },
    ])
    const [session] = await sink.end()
    expect(session?.totals).toMatchObject({ calls: 1, usage: { input: 10, output: 2 } })
    expect(told(await entriesOf(session?.id ?? ''))).toEqual([
      'assistant: ',
      'user: Weather in Paris?',
      'assistant: Rain.',
    ])
  })

  it('count a call once whose sum came first', async () => {
    await send([
      { id: 'outer', from: 0, to: 3, attributes: chat([question], said('assistant', 'Rain.'), [10, 2]) },
    ])
    await send([
      {
        id: 'inner',
        parent: 'outer',
        from: 1,
        to: 2,
        attributes: chat([question], said('assistant', 'Rain.'), [10, 2]),
      },
    ])
    const [session] = await sink.end()
    expect(session?.totals).toMatchObject({ calls: 1, usage: { input: 10, output: 2 } })
    expect(told(await entriesOf(session?.id ?? ''))).toEqual(['user: Weather in Paris?', 'assistant: Rain.'])
  })

  it('count an agent itself where nobody tells its calls', async () => {
    await send([
      {
        id: 'far',
        attributes: {
          ...chat([question], said('assistant', 'Rain.'), [10, 2]),
          'gen_ai.operation.name': 'invoke_agent',
        },
      },
    ])
    const [session] = await sink.end()
    expect(session?.totals).toMatchObject({ calls: 1, usage: { input: 10, output: 2 } })
  })

  it('are recorded without a word in them, with what was not counted as not known', async () => {
    const bare = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'gpt-5-mini' }
    await send([
      {
        id: 'a',
        parent: 'agent',
        from: 1,
        attributes: { ...bare, 'gen_ai.usage.input_tokens': 5, 'gen_ai.usage.output_tokens': 1 },
      },
      { id: 'b', parent: 'agent', from: 3, attributes: bare },
      { id: 'c', parent: 'agent', from: 5, attributes: bare, error: 'overloaded' },
    ])
    const [session] = await sink.end()
    expect(session?.totals).toMatchObject({ calls: 1, usage: { input: 5, output: 1, quality: 'partial' } })
    expect(told(await entriesOf(session?.id ?? ''))).toEqual(['assistant: ', 'assistant: ', 'error: error'])
  })
})

describe('sessions', () => {
  it('go by the conversation, over traces, and apart from others that say the same', async () => {
    const turn = (trace: string, conversation: string) =>
      send([
        {
          trace,
          id: `${trace}-1`,
          attributes: chat([question], said('assistant', 'Rain.'), [10, 2], {
            'gen_ai.conversation.id': conversation,
          }),
        },
      ])
    await turn('one', 'c1')
    await turn('two', 'c2')
    await send([
      {
        trace: 'three',
        id: 'next',
        attributes: chat(
          [question, said('assistant', 'Rain.'), said('user', 'And Rome?')],
          said('assistant', 'Sun.'),
          [20, 4],
          { 'gen_ai.conversation.id': 'c1' },
        ),
      },
    ])
    const sessions = await sink.end()
    expect(sessions.map(({ native, totals }) => [native?.sessionId, totals?.calls])).toEqual([
      ['c2', 1],
      ['c1', 2],
    ])
    expect(told(await entriesOf(sessions[1]?.id ?? ''))).toEqual([
      'user: Weather in Paris?',
      'assistant: Rain.',
      'user: And Rome?',
      'assistant: Sun.',
    ])
  })

  it('go on over traces that name no conversation and repeat its answers', async () => {
    await send([
      { trace: 'one', id: 'a', attributes: chat([question], said('assistant', 'Rain, as ever.'), [10, 2]) },
    ])
    await send([
      {
        trace: 'two',
        id: 'b',
        attributes: chat(
          [question, said('assistant', 'Rain, as ever.'), said('user', 'And Rome?')],
          said('assistant', 'Sun.'),
          [20, 4],
        ),
      },
    ])
    expect(await sink.end()).toHaveLength(1)
  })

  it('that were silent are ended, and go on in another recording of the same name', async () => {
    await sink.end()
    let now = Date.parse('2026-09-01T10:00:00Z')
    const { createTalks } = await import('./talks.ts')
    const talks = createTalks({ home, now: () => now })
    const belonging = { who: { conversation: 'c1' }, resource: new Map() }
    const first = await talks.of(belonging, []).recorder(undefined)
    first.user('hello')
    now += 60_000
    talks.endSilent(now)
    const second = await talks.of(belonging, []).recorder(undefined)
    expect(second.id).not.toBe(first.id)
    expect(second.session().native).toEqual({ agent: 'otel', sessionId: 'c1' })
    await talks.end()
  })
})

describe('a server that is started again', () => {
  const again = async (): Promise<void> => {
    await sink.end()
    sink = createOtlpSink({ home, onFailure: (failure) => expect.fail(failure.message) })
  }
  /** What all recordings of the archive say, the oldest first. */
  const all = async (): Promise<{ said: string[]; natives: unknown[]; calls: number; input: number }> => {
    await sink.end()
    const archive = openArchive(home)
    const ids = archive.ids().toReversed()
    const entries: Entry[] = []
    const natives: unknown[] = []
    for (const id of ids)
      for await (const items of readSession(archive, id))
        for (const item of items)
          if (item.type === 'entry') entries.push(item.entry)
          else if (item.type === 'session') natives.push(item.session.native?.sessionId)
    const reports = entries.flatMap(({ usage }) => (usage?.input === undefined ? [] : [usage.input]))
    return {
      said: told(entries),
      natives: [...new Set(natives)],
      calls: reports.length,
      input: reports.reduce((sum, one) => sum + one, 0),
    }
  }
  const [agent, ...others] = RUN as readonly [SpanSample, ...SpanSample[]]
  const inOrder = [...others, agent]

  it.each(inOrder.map((_, at) => at))('goes on in the middle of a trace, after %d spans', async (at) => {
    for (const span of inOrder.slice(0, at)) await send([span])
    await again()
    // Its exporter did not hear that the last one was taken.
    for (const span of inOrder.slice(Math.max(0, at - 1))) await send([span])
    expect(await all()).toEqual({ said: AS_IT_WAS, natives: [hex('one', 32)], calls: 2, input: 300 })
  })

  it.each([
    ['by its name', { 'gen_ai.conversation.id': 'c1' }],
    ['by its history', {}],
  ])('goes on with a conversation, %s, turn after turn', async (_, name) => {
    const history: JsonObject[] = []
    const expected: string[] = []
    for (const turn of ['one', 'two', 'three', 'four']) {
      history.push(said('user', `ask ${turn}`))
      const answer = said('assistant', `answer ${turn}`)
      const attributes = chat([...history], answer, [10, 2], {
        ...name,
        'gen_ai.system_instructions': [{ type: 'text', content: 'Be brief.' }],
        'gen_ai.response.id': turn,
      })
      await send([{ trace: turn, id: turn, attributes }])
      history.push(answer)
      expected.push(`user: ask ${turn}`, `assistant: answer ${turn}`)
      await again()
    }
    const found = await all()
    expect(found.said).toEqual(['system: Be brief.', ...expected])
    expect(found.natives).toHaveLength(1)
    expect(found).toMatchObject({ calls: 4, input: 40 })
  })

  it('has subagents go on in their own sources', async () => {
    const nested = (id: string, from: number, messages: readonly JsonObject[], text: string): SpanSample => ({
      id,
      parent: 'expert',
      from,
      attributes: chat(messages, said('assistant', text), [10, 2]),
    })
    await send([{ id: 'main', parent: 'agent', from: 1, attributes: chat([question], calls, [10, 2]) }])
    await send([nested('h1', 3, [said('user', 'look it up')], 'looking')])
    await again()
    const history = [said('user', 'look it up'), said('assistant', 'looking'), said('user', 'more')]
    await send([nested('h2', 4, history, 'found')])
    const { said: words } = await all()
    const own = words.filter((one) => one.startsWith('subagent:'))
    expect(new Set(own.map((one) => one.split(' ')[0])).size).toBe(1)
    expect(own.map((one) => one.split(' ').slice(1).join(' '))).toEqual([
      'user: look it up',
      'assistant: looking',
      'user: more',
      'assistant: found',
    ])
  })
})

describe('log records', () => {
  const asked: readonly LogSample[] = [
    { span: 'ask', name: 'gen_ai.system.message', body: { content: 'Be brief.' } },
    { span: 'ask', name: 'gen_ai.user.message', body: { content: 'Weather in Paris?' } },
  ]
  const answered: LogSample = {
    span: 'ask',
    name: 'gen_ai.choice',
    body: {
      index: 0,
      finish_reason: 'tool_calls',
      message: {
        role: 'assistant',
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Paris"}' } },
        ],
      },
    },
    at: 2,
  }
  const span: SpanSample = {
    id: 'ask',
    parent: 'agent',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.system': 'openai',
      'gen_ai.request.model': 'gpt-5-mini',
      'gen_ai.response.id': 'r1',
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.output_tokens': 2,
    },
  }
  const WORDS = ['system: Be brief.', 'user: Weather in Paris?', 'assistant: weather({"city":"Paris"})']

  it.each([
    [
      'before the span',
      async () => {
        await sendLogs([...asked, answered])
        await send([span])
      },
    ],
    [
      'after it',
      async () => {
        await send([span])
        await sendLogs([...asked, answered])
      },
    ],
    [
      'around it',
      async () => {
        await sendLogs(asked)
        await send([span])
        await sendLogs([answered])
      },
    ],
  ])('are its words, %s', async (_when, tell) => {
    await tell()
    const [session, ...others] = await sink.end()
    expect(others).toEqual([])
    expect(session?.totals).toMatchObject({ calls: 1, usage: { input: 10, output: 2, quality: 'reported' } })
    const lines = told(await entriesOf(session?.id ?? ''))
    expect(lines.filter((line) => line !== 'assistant: ')).toEqual(WORDS)
  })

  it('that came before anything of their span did belong to the main agent', async () => {
    await send([
      { id: 'ask', parent: 'agent', attributes: chat([question], said('assistant', 'Rain.'), [10, 2]) },
    ])
    await sendLogs([{ span: 'next', name: 'gen_ai.user.message', body: { content: 'And Rome?' } }])
    const [session] = await sink.end()
    expect(told(await entriesOf(session?.id ?? ''))).toEqual([
      'user: Weather in Paris?',
      'assistant: Rain.',
      'user: And Rome?',
    ])
  })

  it('have all of a call in one, with and without its span', async () => {
    const details: LogSample = {
      span: 'ask',
      name: 'gen_ai.client.inference.operation.details',
      attributes: chat([question], said('assistant', 'Rain.'), [10, 2]),
    }
    await sendLogs([details])
    await send([span])
    const [session] = await sink.end()
    expect(session?.totals).toMatchObject({ calls: 1, usage: { input: 10, output: 2 } })
    expect(told(await entriesOf(session?.id ?? ''))).toEqual(['user: Weather in Paris?', 'assistant: Rain.'])
  })

  it('that say nothing of models are counted', async () => {
    expect(await sendLogs([{ name: 'http.request' }, { name: 'app.started' }])).toEqual({
      isSafe: true,
      others: 2,
    })
    expect(await sink.end()).toEqual([])
  })
})

describe('an archive that cannot be written', () => {
  it('is said of every export until it can: then each is there once', async () => {
    const place = join(home, 'archive')
    fs.writeFileSync(place, 'in the way')
    const failing = createOtlpSink({ home: place, onFailure: () => {} })
    const { items = [] } = readSpans(tracesOf(RUN)) ?? {}
    for (let times = 0; times < 2; times += 1) expect(await failing.spans(items)).toBe(false)
    fs.rmSync(place)
    expect(await failing.spans(items)).toBe(true)
    const [session] = await failing.end()
    expect(session?.totals).toMatchObject({ calls: 2, usage: { input: 300, output: 30 } })
  })
})

describe('hostile spans', () => {
  it('change no prototype, and end for parents that go round in circles', async () => {
    const before = Object.getOwnPropertyNames(Object.prototype).length
    await send([
      {
        id: 'a',
        parent: 'b',
        attributes: {
          ...chat([question], said('assistant', 'Rain.'), [1, 1]),
          '__proto__.polluted': 'yes',
          'constructor.prototype.polluted': 'yes',
          'gen_ai.request.__proto__': 'x',
        },
      },
      {
        id: 'b',
        parent: 'a',
        attributes: JSON.parse(
          '{"gen_ai.operation.name":"chat","__proto__":{"polluted":true}}',
        ) as JsonObject,
      },
      { id: 'c', parent: 'c', attributes: chat([], {}, [1, 1]) },
    ])
    expect(Object.getOwnPropertyNames(Object.prototype)).toHaveLength(before)
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    expect((await sink.end()).length).toBeGreaterThan(0)
  })

  it('have their secrets taken out', async () => {
    const secret = ['sk', 'ant', 'api03', 'x'.repeat(80), 'AA'].join('-')
    await send([
      { id: 'a', attributes: chat([said('user', `key ${secret}`)], said('assistant', 'ok'), [1, 1]) },
    ])
    const [session] = await sink.end()
    const folder = join(home, 'sessions', session?.id ?? '')
    const all = fs
      .readdirSync(folder)
      .map((name) => fs.readFileSync(join(folder, name), 'utf8'))
      .join('')
    expect(all).toContain('key ')
    expect(all).not.toContain(secret)
  })
})
