import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  bodyOf,
  chatAnswer,
  chatStream,
  spoken,
  startUpstream,
  type Upstream,
} from '../../../test/wrap-upstream.ts'
import { record as recordAgent } from './claude-agent-sdk.ts'
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

const CHAT = '/v1/chat/completions'
const chat = (content: string, more: object = {}): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', authorization: 'Bearer secret-key' },
  body: JSON.stringify({ model: 'gpt-test', messages: [{ role: 'user', content }], ...more }),
})

describe('what a recorded fetch gives', () => {
  it('is the original’s response: address, redirects, kind, status, headers, bytes', async () => {
    upstream.answer = (request, response) => {
      if (request.url === '/old/chat/completions') return response.writeHead(307, { location: CHAT }).end()
      response.writeHead(201, 'Made', {
        'content-type': 'text/event-stream',
        'content-encoding': 'gzip',
        'set-cookie': ['a=1', 'b=2'],
        'x-request-id': 'r1',
      })
      return response.end(gzipSync(chatStream('c1', 'hello')))
    }
    const [direct, wrapped] = await Promise.all(
      [fetch, recorded.fetch].map((one) => one(`${upstream.url}/old/chat/completions`, chat('hi'))),
    )
    if (direct === undefined || wrapped === undefined) throw new Error('no response')
    const facts = ({ url, redirected, type, status, statusText, ok, headers }: Response) => ({
      url,
      redirected,
      type,
      status,
      statusText,
      ok,
      headers: [...headers].filter(([name]) => name !== 'date'),
    })
    expect(wrapped).toBeInstanceOf(Response)
    expect(facts(wrapped)).toEqual(facts(direct))
    expect(facts(wrapped.clone())).toEqual(facts(direct))
    expect(await wrapped.text()).toBe(await direct.text())
    expect(wrapped.bodyUsed).toBe(true)
    await recorded.end()
    const [entries = []] = await upstream.sessions()
    expect(spoken(entries)).toEqual(['user: hi', 'assistant: hello'])
    expect(entries.at(-1)).toMatchObject({
      model: 'gpt-test',
      usage: { input: 10, output: 5, quality: 'reported' },
      call: { messageId: 'c1', requestId: 'r1' },
    })
  })

  it('is byte for byte what was sent, wherever it was cut, for each kind of reader', async () => {
    const bytes = Buffer.from(chatStream('c1', 'héllo → wörld '.repeat(50)))
    upstream.answer = async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (let at = 0; at < bytes.length; at += 701) {
        response.write(bytes.subarray(at, at + 701))
        if (at % 5 === 0) await new Promise((done) => setTimeout(done, 1))
      }
      response.end()
    }
    const wanted = createHash('sha256').update(bytes).digest('hex')
    const iterated = async (response: Response) => {
      const hash = createHash('sha256')
      for await (const chunk of response.body ?? []) hash.update(chunk as Uint8Array)
      return hash.digest('hex')
    }
    const brought = async (response: Response) => {
      const hash = createHash('sha256')
      const reader = response.body?.getReader({ mode: 'byob' })
      for (;;) {
        const { done, value } = (await reader?.read(new Uint8Array(100))) ?? { done: true }
        if (value !== undefined) hash.update(value)
        if (done) return hash.digest('hex')
      }
    }
    const whole = async (response: Response) =>
      createHash('sha256')
        .update(Buffer.from(await response.arrayBuffer()))
        .digest('hex')
    for (const [n, read] of [iterated, brought, whole].entries())
      expect(await read(await recorded.fetch(`${upstream.url}${CHAT}`, chat(`q${n}`)))).toBe(wanted)
    await recorded.end()
    const all = await upstream.sessions()
    expect(all.map((entries) => entries.at(-1)?.usage?.output)).toEqual([5, 5, 5])
  })

  it('is as used, locked and used up as the original would be, whoever reads it and how', async () => {
    const bytes = chatStream('c1', 'hello '.repeat(100))
    upstream.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (let at = 0; at < bytes.length; at += 500) response.write(bytes.slice(at, at + 500))
      response.end()
    }
    const tell = async (work: () => unknown): Promise<string> => {
      try {
        return JSON.stringify(await work()) ?? 'undefined'
      } catch (error) {
        return `${(error as Error).name} ${(error as Error).message}`
      }
    }
    const ways: ((response: Response) => Promise<unknown>)[] = [
      async (response) => {
        const reader = response.body?.getReader()
        const said = [response.bodyUsed, response.body?.locked, await tell(() => response.body?.getReader())]
        await reader?.read()
        const middle = [
          response.bodyUsed,
          await tell(() => response.text()),
          await tell(() => response.clone()),
        ]
        reader?.releaseLock()
        return [said, middle, response.body?.locked, await tell(() => response.text())]
      },
      async (response) => {
        const copy = response.clone()
        const both = await Promise.all([response.text(), copy.text()])
        return [both, response.bodyUsed, copy.bodyUsed, await tell(() => response.text())]
      },
      async (response) => {
        for await (const _ of response.body ?? []) break
        return [response.bodyUsed, response.body?.locked, await tell(() => response.body?.getReader().read())]
      },
      async (response) => {
        const iterator = response.body?.values({ preventCancel: true })
        await iterator?.next()
        await iterator?.return?.()
        let rest = 0
        for await (const chunk of response.body ?? []) rest += (chunk as Uint8Array).length
        return [rest > 0, await tell(() => iterator?.next())]
      },
      async (response) => {
        let text = ''
        for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) text += part
        return [text, response.bodyUsed]
      },
      async (response) => [await new Response(response.body).text(), response.bodyUsed],
      async (response) => {
        await response.body?.cancel('enough')
        return [response.bodyUsed, await tell(() => response.text())]
      },
    ]
    for (const [n, way] of ways.entries()) {
      const [direct, wrapped] = [
        await way(await fetch(`${upstream.url}${CHAT}`, chat(`q${n}`))),
        await way(await recorded.fetch(`${upstream.url}${CHAT}`, chat(`q${n}`))),
      ]
      expect(wrapped, `way ${n}`).toEqual(direct)
    }
  })

  it('comes as it is sent: the first part is there before the second is made', async () => {
    let goOn = (): void => {}
    upstream.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"id":"c1"')
      goOn = () => response.end(',"choices":[]}\n\n')
    }
    const response = await recorded.fetch(`${upstream.url}${CHAT}`, chat('hi'))
    const reader = response.body?.getReader()
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('data: {"id":"c1"')
    goOn()
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe(',"choices":[]}\n\n')
    expect((await reader?.read())?.done).toBe(true)
  })

  it('does not outrun a reader that does not read', async () => {
    let sent = 0
    upstream.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const more = (): void => {
        while (sent < 200 * 1024 * 1024) {
          sent += 65_536
          if (!response.write(Buffer.alloc(65_536, 'x'))) return void response.once('drain', more)
        }
        response.end()
      }
      more()
    }
    const stop = new AbortController()
    const response = await recorded.fetch(`${upstream.url}${CHAT}`, { ...chat('hi'), signal: stop.signal })
    await response.body?.getReader().read()
    await new Promise((done) => setTimeout(done, 300))
    expect(sent).toBeLessThan(20 * 1024 * 1024)
    stop.abort()
  })

  it('is the very promise of the original for what is no call', async () => {
    const calls: unknown[][] = []
    const answer = Promise.resolve(new Response('ok'))
    const wrapped = recorded.recordFetch((...args: [string, RequestInit?]) => {
      calls.push(args)
      return answer
    })
    expect(wrapped('https://example.com/v1/models')).toBe(answer)
    expect(wrapped('https://example.com/v1/chat/completions', { method: 'GET' })).toBe(answer)
    expect(wrapped('not a url')).toBe(answer)
    expect(calls).toHaveLength(3)
    await recorded.end()
    expect(await upstream.sessions()).toEqual([])
  })
})

describe('what is recorded', () => {
  it('goes on with its session: the history once, tool results with their calls, retries and errors', async () => {
    const tool = { id: 'call_1', name: 'add', arguments: '{"a":2,"b":3}' }
    const answers = [
      { status: 429, body: '{"error":{"message":"slow down","code":"rate_limit"}}' },
      { status: 200, body: chatAnswer('c1', 'let me see', [tool]) },
      { status: 200, body: chatAnswer('c2', 'five') },
    ]
    upstream.answer = async (request, response) => {
      await bodyOf(request)
      const { status = 500, body } = answers.shift() ?? {}
      response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '1' }).end(body)
    }
    const ask = async (messages: unknown, headers: Record<string, string> = {}) => {
      const init = chat('', { messages })
      const all = { ...(init.headers as Record<string, string>), ...headers }
      return (await recorded.fetch(`${upstream.url}${CHAT}`, { ...init, headers: all })).text()
    }
    const first = [
      { role: 'system', content: 'be brief' },
      { role: 'user', content: '2+3?' },
    ]
    await ask(first)
    await ask(first, { 'x-stainless-retry-count': '1' })
    const made = { id: tool.id, type: 'function', function: { name: tool.name, arguments: tool.arguments } }
    await ask([
      ...first,
      { role: 'assistant', content: 'let me see', tool_calls: [made] },
      { role: 'tool', tool_call_id: tool.id, content: '5' },
    ])
    const sessions = await recorded.end()
    expect(sessions.map(({ totals, status }) => ({ calls: totals?.calls, status }))).toEqual([
      { calls: 2, status: 'completed' },
    ])
    const [entries = []] = await upstream.sessions()
    expect(spoken(entries)).toEqual([
      'system: be brief',
      'user: 2+3?',
      'error: error rate_limit',
      'assistant: let me see add({"a":2,"b":3})',
      'tool: 5',
      'assistant: five',
    ])
    expect(JSON.stringify(entries)).not.toContain('secret-key')
  })

  it('has the system prompt once, also where a request that goes on with an answer leaves it out', async () => {
    let answered = 0
    upstream.answer = async (request, response) => {
      await bodyOf(request)
      const said = {
        id: `msg_${(answered += 1)}`,
        role: 'assistant',
        content: [{ type: 'text', text: `${answered}` }],
      }
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ ...said, type: 'message', model: 'claude-x', stop_reason: 'end_turn' }))
    }
    const ask = async (body: object) => {
      const init = { method: 'POST', body: JSON.stringify({ model: 'claude-x', max_tokens: 9, ...body }) }
      await (await recorded.fetch(`${upstream.url}/v1/messages`, init)).text()
    }
    const say = (...texts: readonly string[]) =>
      texts.map((content, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content }))
    await ask({ system: 'be brief', messages: say('one?') })
    await ask({ messages: say('two?'), thread: { type: 'continue', previous_message_id: 'msg_1' } })
    await ask({ system: 'be brief', messages: say('one?', '1', 'two?', '2', 'three?') })
    await ask({ system: 'be long', messages: say('one?', '1', 'two?', '2', 'three?', '3', 'four?') })
    await recorded.end()
    const [entries = []] = await upstream.sessions()
    expect(spoken(entries)).toEqual([
      'system: be brief',
      'user: one?',
      'assistant: 1',
      'user: two?',
      'assistant: 2',
      'user: three?',
      'assistant: 3',
      'system: be long',
      'user: four?',
      'assistant: 4',
    ])
  })

  it('says who broke off: the client by signal or by not reading on, or the upstream', async () => {
    upstream.answer = (request, response) => {
      void bodyOf(request).then((body) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(chatStream('c1', 'partial').slice(0, 600))
        if (body.includes('reset')) setTimeout(() => response.destroy(), 20)
      })
    }
    const stop = new AbortController()
    const aborted = await recorded.fetch(`${upstream.url}${CHAT}`, { ...chat('abort'), signal: stop.signal })
    const reader = aborted.body?.getReader()
    await reader?.read()
    stop.abort()
    await expect(reader?.read()).rejects.toThrow(/abort/i)

    const left = await recorded.fetch(`${upstream.url}${CHAT}`, chat('leave'))
    for await (const _ of left.body ?? []) break

    const reset = await recorded.fetch(`${upstream.url}${CHAT}`, chat('reset'))
    await expect(reset.text()).rejects.toThrow(/terminated/)
    await expect(
      recorded.fetch('http://127.0.0.1:1/v1/chat/completions', chat('nobody there')),
    ).rejects.toThrow(/fetch failed/)
    await recorded.end()
    const all = await upstream.sessions()
    const ends = all.map((entries) => `${spoken(entries)[0]} … ${spoken(entries).at(-1)}`)
    expect(ends.toSorted((a, b) => a.localeCompare(b))).toEqual([
      'user: abort … error: error broken-by-client',
      'user: leave … error: error broken-by-client',
      'user: nobody there … error: error broken-by-upstream',
      'user: reset … error: error broken-by-upstream',
    ])
  })

  it('is there whatever the request’s body is: bytes, a blob, a stream, a Request', async () => {
    const bodies: string[] = []
    upstream.answer = async (request, response) => {
      bodies.push(await bodyOf(request))
      response.writeHead(200, { 'content-type': 'application/json' }).end(chatAnswer('c', 'yes'))
    }
    const url = `${upstream.url}${CHAT}`
    const text = (n: number): string => chat(`question ${n}`).body as string
    const stream = new ReadableStream({
      start(controller) {
        controller.enqueue(Buffer.from(text(2)))
        controller.close()
      },
    })
    await recorded.fetch(url, { method: 'POST', body: Buffer.from(text(0)) }).then((one) => one.text())
    await recorded.fetch(url, { method: 'POST', body: new Blob([text(1)]) }).then((one) => one.text())
    await recorded.fetch(url, { method: 'POST', body: stream, duplex: 'half' }).then((one) => one.text())
    await recorded.fetch(new Request(url, { method: 'POST', body: text(3) })).then((one) => one.text())
    expect(bodies).toEqual([0, 1, 2, 3].map(text))
    await recorded.end()
    const all = await upstream.sessions()
    expect(all.map((entries) => spoken(entries)[0] ?? '').toSorted((a, b) => a.localeCompare(b))).toEqual(
      [0, 1, 2, 3].map((n) => `user: question ${n}`),
    )
  })

  it('is nothing with the transcript switched off: what is wrapped is left as it is', async () => {
    const home = `${upstream.home}/off`
    const off = recording({ home, capture: { transcript: false } })
    const client = { fetch: globalThis.fetch }
    expect(off.openai(client).fetch).toBe(globalThis.fetch)
    expect(off.fetch).toBe(globalThis.fetch)
    const query = async function* () {}
    expect(recordAgent(query, { home, capture: { transcript: false } })).toBe(query)
    const answer = { content: [{ type: 'text', text: 'yes' }] }
    const bare = { modelId: 'm', doGenerate: async (given: object) => (given ? answer : undefined) }
    const model = off.model(bare)
    expect(await model.doGenerate({ prompt: [] })).toBe(answer)
    expect(await off.end()).toEqual([])
    expect(existsSync(home)).toBe(false)
  })

  it('fails open: without a place to record to, calls go through and it is said once', async () => {
    const broken = recording({
      home: '/dev/null/nowhere',
      onFailure: ({ message }) => upstream.said.push(message),
    })
    upstream.answer = (_, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(chatAnswer('c', 'yes'))
    for (let n = 0; n < 5; n += 1) {
      const response = await broken.fetch(`${upstream.url}${CHAT}`, chat('hi'))
      expect(await response.json()).toMatchObject({ id: 'c' })
    }
    await broken.end()
    expect(upstream.said.length).toBeGreaterThan(0)
    expect(upstream.said.length).toBeLessThan(4)
  })

  it('is read of bodies that are no web streams as far as it can be, and they are left alone', async () => {
    const odd = { status: 200, headers: new Headers(), body: { pipe() {} } }
    const wrapped = recorded.recordFetch(async (...args: [string, RequestInit]) =>
      args.length === 2 ? odd : undefined,
    )
    expect(await wrapped(`${upstream.url}${CHAT}`, chat('hi'))).toBe(odd)
    await recorded.end()
    const [entries = []] = await upstream.sessions()
    expect(spoken(entries)[0]).toBe('user: hi')
  })
})
