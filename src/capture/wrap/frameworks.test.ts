import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { bodyOf, chatAnswer, spoken, startUpstream, type Upstream } from '../../../test/wrap-upstream.ts'
import { recording, type Recording } from './recording.ts'

let upstream: Upstream
let recorded: Recording

beforeEach(async () => {
  upstream = await startUpstream()
  recorded = recording({ home: upstream.home, onFailure: ({ message }) => upstream.said.push(message) })
})
afterEach(async () => {
  await recorded.end()
  await upstream.close()
})

const ended = async (): Promise<readonly string[][]> => {
  await recorded.end()
  expect(upstream.said).toEqual([])
  return (await upstream.sessions()).map(spoken)
}

describe('a client with a fetch of its own', () => {
  it('is the same object, asks as before, and is recorded once however often it is wrapped', async () => {
    upstream.answer = async (request, response) => {
      await bodyOf(request)
      response.writeHead(200, { 'content-type': 'application/json' }).end(chatAnswer('c1', 'yes'))
    }
    const client = {
      fetch: globalThis.fetch,
      ask(this: { fetch: typeof fetch }) {
        const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })
        return this.fetch.call(undefined, `${upstream.url}/v1/chat/completions`, { method: 'POST', body })
      },
    }
    const wrapped: typeof client = recorded.anthropic(recorded.openai(client))
    expect(wrapped).toBe(client)
    expect(await (await wrapped.ask()).json()).toMatchObject({ id: 'c1' })
    expect(await ended()).toEqual([['user: hi', 'assistant: yes']])
  })

  it('that has none is given back as it is, and that is said', () => {
    const odd = { ask: () => 1 }
    expect(recorded.openai(odd)).toBe(odd)
    expect(recorded.google(odd)).toBe(odd)
    expect(upstream.said).toHaveLength(2)
  })

  it('of Google’s is recorded where it asks, and keeps the fetch that it was given', async () => {
    upstream.answer = (_, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(
        JSON.stringify({
          responseId: 'g1',
          candidates: [{ content: { role: 'model', parts: [{ text: 'yes' }] }, finishReason: 'STOP' }],
          usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 2, totalTokenCount: 9 },
        }),
      )
    const given: unknown[] = []
    const own: typeof fetch = (...args) => {
      given.push(args[0])
      return fetch(...args)
    }
    const url = `${upstream.url}/v1beta/models/gemini-x:generateContent`
    const init = { method: 'POST', body: '{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}' }
    const newer = {
      apiClient: {
        getFetch: () => undefined,
        apiCall: (...args: unknown[]) => (args[5] as typeof fetch)(args[0] as string, args[1] as RequestInit),
      },
    }
    const older = { apiClient: { apiCall: (to: string, how: RequestInit) => fetch(to, how) } }
    await (
      await recorded.google(newer).apiClient.apiCall(url, init, undefined, undefined, undefined, own)
    ).text()
    await (await recorded.google(older).apiClient.apiCall(url, init)).text()
    expect(given).toEqual([url])
    expect(await ended()).toEqual([
      ['user: hi', 'assistant: yes'],
      ['user: hi', 'assistant: yes'],
    ])
  })
})

describe('a language model of the AI SDK', () => {
  const usage = {
    inputTokens: { total: 100, noCache: 60, cacheRead: 30, cacheWrite: 10 },
    outputTokens: { total: 20, text: 15, reasoning: 5 },
  }
  const prompt = [
    { role: 'system', content: 'be brief' },
    { role: 'user', content: [{ type: 'text', text: '2+3?' }] },
  ]
  const call = { type: 'tool-call', toolCallId: 't1', toolName: 'add', input: '{"a":2,"b":3}' }

  it('is recorded with its tools and counts, whole and streamed, and gives what it gave', async () => {
    const parts = [
      { type: 'stream-start', warnings: [] },
      { type: 'response-metadata', id: 'm2', modelId: 'gpt-x' },
      { type: 'text-start', id: '1' },
      { type: 'text-delta', id: '1', delta: 'It is ' },
      { type: 'text-delta', id: '1', delta: '5.' },
      { type: 'text-end', id: '1' },
      { type: 'finish', usage, finishReason: { unified: 'stop', raw: 'stop' } },
    ]
    const result = {
      content: [{ type: 'text', text: 'Let me add.' }, call],
      usage,
      finishReason: { unified: 'tool-calls', raw: 'tool_calls' },
      response: { id: 'm1', modelId: 'gpt-x' },
    }
    const model = recorded.model({
      modelId: 'gpt-x',
      provider: 'openai.chat',
      doGenerate: async (params: object) => ('prompt' in params ? result : undefined),
      doStream: async (params: object) => ({
        stream: ReadableStream.from('prompt' in params ? parts : []),
        request: { body: 1 },
      }),
    })
    expect(await model.doGenerate({ prompt })).toBe(result)
    const history = [
      ...prompt,
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Let me add.' },
          { ...call, input: { a: 2, b: 3 } },
        ],
      },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 't1', toolName: 'add', output: { type: 'json', value: 5 } },
        ],
      },
    ]
    const { stream, request } = await model.doStream({ prompt: history })
    const read: unknown[] = []
    for await (const part of stream) read.push(part)
    expect(read).toEqual(parts)
    expect(request).toEqual({ body: 1 })
    const [session] = await recorded.end()
    expect(session?.totals).toMatchObject({
      calls: 2,
      usage: { input: 120, cacheRead: 60, cacheWrite5m: 20, output: 40, reasoning: 10 },
    })
    expect(await ended()).toEqual([
      [
        'system: be brief',
        'user: 2+3?',
        'assistant: Let me add. add({"a":2,"b":3})',
        'tool: 5',
        'assistant: It is 5.',
      ],
    ])
  })

  it('has its tools’ results with their calls, also of those that no model is told of', async () => {
    const calls = ['t1', 't2'].map((toolCallId) => ({ ...call, toolCallId }))
    const answer = { content: calls, usage, finishReason: 'tool-calls', response: { id: 'm1' } }
    const model = { modelId: 'm', provider: 'openai.chat' }
    await recorded.middleware.wrapGenerate({ doGenerate: async () => answer, params: { prompt }, model })
    const tools = recorded.tools({
      add: {
        description: 'adds',
        execute: async ({ a, b }: { a: number; b: number }, about: { toolCallId: string }) => {
          if (about.toolCallId === 't2') throw new Error('cannot')
          return a + b
        },
      },
      ask: { description: 'asks the user' },
    })
    expect(tools.ask.description).toBe('asks the user')
    expect(await tools.add.execute({ a: 2, b: 3 }, { toolCallId: 't1' })).toBe(5)
    await expect(tools.add.execute({ a: 2, b: 3 }, { toolCallId: 't2' })).rejects.toThrow('cannot')
    expect((await ended())[0]?.slice(-2)).toEqual(['tool: 5', 'tool: cannot'])
  })

  it('throws what it threw, and what had come when a stream broke is kept', async () => {
    const wrong = new Error('overloaded')
    const broken = async function* () {
      yield { type: 'text-delta', id: '1', delta: 'It is' }
      throw wrong
    }
    const { wrapGenerate, wrapStream } = recorded.middleware
    const model = { modelId: 'm', provider: 'mistral.chat' }
    await expect(
      wrapGenerate({ doGenerate: () => Promise.reject(wrong), params: { prompt }, model }),
    ).rejects.toBe(wrong)
    const other = [{ role: 'user', content: [{ type: 'text', text: 'again?' }] }]
    const { stream } = await wrapStream({
      doStream: async () => ({ stream: ReadableStream.from(broken()) }),
      params: { prompt: other },
      model,
    })
    await expect(
      (async () => {
        for await (const _ of stream);
      })(),
    ).rejects.toBe(wrong)
    expect(await ended()).toEqual([
      ['system: be brief', 'user: 2+3?', 'error: error broken-by-upstream'],
      ['user: again?', 'assistant: It is', 'error: error'],
    ])
  })
})

describe('LangChain’s callbacks', () => {
  it('give calls, tools with their calls, and errors; runs of one thread are one session', async () => {
    const { langchain: handler } = recorded
    const meta = { thread_id: 'th1', ls_provider: 'openai', ls_model_name: 'gpt-x' }
    const answer = (id: string, message: object) => ({
      generations: [[{ text: '', message: { response_metadata: { id, model_name: 'gpt-x' }, ...message } }]],
    })
    const asked = [{ type: 'human', content: '2+3?' }]
    const calls = [{ id: 't1', name: 'add', args: { a: 2, b: 3 } }]
    handler.handleChatModelStart({}, [asked], 'r1', undefined, {}, [], meta)
    const counts = { input_tokens: 10, output_tokens: 5, input_token_details: { cache_read: 4 } }
    await handler.handleLLMEnd(answer('m1', { content: '', tool_calls: calls, usage_metadata: counts }), 'r1')
    handler.handleToolStart({ name: 'add' }, '{"a":2,"b":3}', 'r2', undefined, [], {}, undefined, 't1')
    await handler.handleToolEnd({ content: '5', tool_call_id: 't1' }, 'r2')
    const history = [
      ...asked,
      { type: 'ai', content: '', tool_calls: calls },
      { type: 'tool', content: '5', tool_call_id: 't1' },
    ]
    handler.handleChatModelStart({}, [history], 'r3', undefined, {}, [], meta)
    await handler.handleLLMEnd(answer('m2', { content: 'five' }), 'r3')
    handler.handleLLMStart({}, ['another'], 'r4', undefined, {}, [], meta)
    handler.handleLLMError(new Error('no'), 'r4')
    const [session] = await recorded.end()
    expect(session?.totals?.usage).toMatchObject({ input: 6, cacheRead: 4, output: 5 })
    expect((await ended()).flat()).toEqual([
      'user: 2+3?',
      'assistant: add({"a":2,"b":3})',
      'tool: 5',
      'assistant: five',
      expect.stringContaining('user: another'),
      expect.stringContaining('error'),
    ])
  })
})

describe('spans of the OpenAI Agents SDK', () => {
  it('give calls and tools of one trace, paired by what they were given, and handoffs', async () => {
    const { agents } = recorded
    const span = (spanData: object, more: object = {}) => ({
      traceId: 'tr1',
      spanData,
      startedAt: '2026-01-01T00:00:00.000Z',
      endedAt: '2026-01-01T00:00:01.500Z',
      ...more,
    })
    await agents.onTraceStart({ traceId: 'tr1', groupId: 'g1' })
    const made = { type: 'function_call', call_id: 't1', name: 'add', arguments: '{"a":2,"b":3}', id: 'f1' }
    const usage = { input_tokens: 10, output_tokens: 5, input_tokens_details: { cached_tokens: 4 } }
    const response = {
      id: 'resp_1',
      model: 'gpt-x',
      status: 'completed',
      instructions: 'You add.',
      output: [made],
      usage,
    }
    await agents.onSpanEnd(
      span({ type: 'response', _input: [{ role: 'user', content: '2+3?' }], _response: response }),
    )
    await agents.onSpanEnd(span({ type: 'function', name: 'add', input: '{"a":2,"b":3}', output: '5' }))
    await agents.onSpanEnd(span({ type: 'handoff', from_agent: 'a', to_agent: 'b' }))
    const items = [
      { role: 'user', content: '2+3?' },
      { type: 'function_call', callId: 't1', name: 'add', arguments: '{"a":2,"b":3}' },
      { type: 'function_call_result', callId: 't1', name: 'add', output: { type: 'text', text: '5' } },
    ]
    await agents.onSpanEnd(span({ type: 'response', _input: items }, { error: { message: 'it is gone' } }))
    await agents.shutdown()
    const [entries = []] = await upstream.sessions()
    expect(spoken(entries)).toEqual([
      'system: You add.',
      'user: 2+3?',
      'assistant: add({"a":2,"b":3})',
      'tool: 5',
      'error: error broken-by-upstream',
    ])
    expect(entries.find(({ usage: counts }) => counts)).toMatchObject({
      durationMs: 1500,
      usage: { input: 6, cacheRead: 4 },
    })
    expect(entries.some(({ metadata }) => metadata?.['record'] === 'handoff')).toBe(true)
  })
})

describe('LiteLLM’s payloads', () => {
  it('give the call, its counts and what LiteLLM says it cost; failures and batches too', async () => {
    const payload = {
      id: 'x',
      trace_id: 'tr1',
      call_type: 'acompletion',
      custom_llm_provider: 'openai',
      model: 'gpt-x',
      model_parameters: { temperature: 0 },
      messages: [{ role: 'user', content: 'hi' }],
      response: JSON.parse(chatAnswer('c1', 'yes')) as object,
      response_cost: 0.25,
      startTime: 100,
      endTime: 101.5,
      status: 'success',
    }
    const failed = {
      ...payload,
      messages: [{ role: 'user', content: 'no?' }],
      response: null,
      response_cost: 0,
      status: 'failure',
      error_str: 'RateLimitError',
    }
    recorded.litellm([payload, failed, 'nonsense', null])
    const [session] = await recorded.end()
    expect(session).toMatchObject({
      reportedCost: '0.25',
      totals: { calls: 1, usage: { input: 10, output: 5 } },
    })
    const [entries = []] = await upstream.sessions()
    expect(spoken(entries)).toEqual(
      expect.arrayContaining([
        'user: hi',
        'assistant: yes',
        expect.stringContaining('error broken-by-upstream'),
      ]),
    )
    expect(entries.find(({ role }) => role === 'assistant')?.durationMs).toBe(1500)
  })
})

describe('weakincentives’ capture points', () => {
  it('are all there: before the first call, after each answer, after each tool, at the end', async () => {
    const seen: string[][] = []
    upstream.answer = async (request, response) => {
      await bodyOf(request)
      // What is recorded while the provider has not answered yet.
      await new Promise((done) => setTimeout(done, 100))
      seen.push((await upstream.sessions()).flatMap(spoken))
      const tool = { id: 't1', name: 'add', arguments: '{}' }
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(seen.length === 1 ? chatAnswer('c1', null, [tool]) : chatAnswer('c2', 'done'))
    }
    const ask = async (messages: object[]) => {
      const body = JSON.stringify({ model: 'm', messages })
      const response = await recorded.fetch(`${upstream.url}/v1/chat/completions`, { method: 'POST', body })
      return ((await response.json()) as { choices: { message: object }[] }).choices[0]?.message ?? {}
    }
    const first = [
      { role: 'system', content: 'be brief' },
      { role: 'user', content: 'go' },
    ]
    const answer = await ask(first)
    await ask([...first, answer, { role: 'tool', tool_call_id: 't1', content: 'ok' }])
    expect(seen).toEqual([
      ['system: be brief', 'user: go'],
      ['system: be brief', 'user: go', 'assistant: add({})', 'tool: ok'],
    ])
    expect(await ended()).toEqual([
      ['system: be brief', 'user: go', 'assistant: add({})', 'tool: ok', 'assistant: done'],
    ])
  })

  it('has a result on disk when its tool has run, of any client, where the tool is recorded', async () => {
    upstream.answer = async (request, response) => {
      const { messages } = JSON.parse(await bodyOf(request)) as { messages: object[] }
      const tools = ['t1', 't2'].map((id) => ({ id, name: 'add', arguments: '{}' }))
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(messages.length === 1 ? chatAnswer('c1', null, tools) : chatAnswer('c2', 'done'))
    }
    const messages: object[] = [{ role: 'user', content: 'go' }]
    const ask = async () => {
      const body = JSON.stringify({ model: 'm', messages })
      const response = await recorded.fetch(`${upstream.url}/v1/chat/completions`, { method: 'POST', body })
      messages.push(((await response.json()) as { choices: { message: object }[] }).choices[0]?.message ?? {})
    }
    const execute = async (_: object, { toolCallId }: { toolCallId: string }) => {
      if (toolCallId === 't2') throw new Error('cannot')
      return 'ok'
    }
    const { add } = recorded.tools({ add: { execute } })
    await ask()
    expect(await add.execute({}, { toolCallId: 't1' })).toBe('ok')
    const once = ['user: go', 'assistant: add({}) add({})', 'tool: ok']
    expect((await upstream.sessions()).flatMap(spoken)).toEqual(once)
    await expect(add.execute({}, { toolCallId: 't2' })).rejects.toThrow('cannot')
    expect((await upstream.sessions()).flatMap(spoken)).toEqual([...once, 'tool: cannot'])
    messages.push({ role: 'tool', tool_call_id: 't1', content: 'ok' })
    messages.push({ role: 'tool', tool_call_id: 't2', content: 'cannot' })
    await ask()
    expect((await ended())[0]).toEqual([...once, 'tool: cannot', 'assistant: done'])
  })
})
