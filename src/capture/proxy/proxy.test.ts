import fs from 'node:fs'
import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import net, { type AddressInfo } from 'node:net'
import os from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readSession } from '../../archive/read-session.ts'
import { openArchive } from '../../archive/archive.ts'
import type { Entry } from '../../transcript/entry.ts'
import type { Session } from '../../transcript/session.ts'
import { toTape } from '../../wire/tape.ts'
import { startProxy, type Proxy } from './proxy.ts'
import { toUpstreams } from './upstreams.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown

let home: string
let upstream: Server
let proxy: Proxy
let said: string[]
let answer: Answer

beforeEach(async () => {
  home = fs.mkdtempSync(join(os.tmpdir(), 'proxy-'))
  said = []
  upstream = http.createServer((request, response) => void answer(request, response))
  const port = await listening(upstream)
  proxy = await startProxy({
    upstreams: toUpstreams([`anthropic=http://127.0.0.1:${port}`, `openai=http://127.0.0.1:${port}`]),
    home,
    onFailure: ({ message }) => said.push(message),
  })
})
afterEach(async () => {
  await proxy.close()
  upstream.closeAllConnections()
  await new Promise((done) => upstream.close(done))
  fs.rmSync(home, { recursive: true, force: true })
})

const listening = (server: Server): Promise<number> =>
  new Promise((done) => server.listen(0, '127.0.0.1', () => done((server.address() as AddressInfo).port)))

type Got = {
  readonly status: number
  readonly headers: string[]
  readonly body: Buffer
  readonly trailers: string[]
}

function ask(
  path: string,
  { body, port = proxy.port, ...options }: http.RequestOptions & { body?: string; port?: number } = {},
): Promise<Got> {
  return new Promise((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', port, path, agent: false, ...options }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.rawHeaders,
          body: Buffer.concat(chunks),
          trailers: response.rawTrailers,
        }),
      )
    })
    request.on('error', reject)
    request.end(body)
  })
}

const post = (path: string, body: unknown, headers: http.OutgoingHttpHeaders = {}) =>
  ask(path, { method: 'POST', body: JSON.stringify(body), headers })

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

/** What is in the archive once all is over. */
async function recorded(): Promise<{ session: Session; entries: Entry[] }[]> {
  const archive = openArchive(home)
  const sessions = await proxy.close()
  return Promise.all(
    sessions.map(async (session) => {
      const entries: Entry[] = []
      for await (const items of readSession(archive, session.id))
        for (const item of items) if (item.type === 'entry') entries.push(item.entry)
      return { session, entries }
    }),
  )
}

const event = (data: { readonly type: string }): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`

function streamed(id: string, words: readonly string[], { output = 7 } = {}): string[] {
  return [
    event({
      type: 'message_start',
      message: {
        id,
        type: 'message',
        role: 'assistant',
        model: 'claude-sonnet-4-5',
        content: [],
        usage: { input_tokens: 10, cache_read_input_tokens: 100, output_tokens: 1 },
      },
    } as { readonly type: string }),
    event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } } as never),
    ...words.map((text) =>
      event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } } as never),
    ),
    event({ type: 'content_block_stop', index: 0 } as never),
    event({
      type: 'message_delta',
      delta: { stop_reason: 'end_turn' },
      usage: { output_tokens: output },
    } as never),
    event({ type: 'message_stop' }),
  ]
}

const answerWith =
  (events: readonly string[]): Answer =>
  async (request, response) => {
    await bodyOf(request)
    response.writeHead(200, { 'content-type': 'text/event-stream', 'request-id': 'req_1' })
    for (const one of events) response.write(one)
    response.end()
  }

const question = (...texts: readonly string[]) => ({
  model: 'claude-sonnet-4-5',
  max_tokens: 100,
  stream: true,
  messages: texts.map((content, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content })),
})

const texts = (entries: readonly Entry[], role: string): string[] =>
  entries
    .filter((entry) => entry.role === role)
    .flatMap(({ blocks }) =>
      blocks.map((block) => (block.type === 'text' ? (block.text as string) : block.type)),
    )

describe('what passes', () => {
  it('is byte for byte what a direct connection gives: status, headers, body, trailers', async () => {
    answer = async (request, response) => {
      const body = await bodyOf(request)
      const seed = Number(/\d+/.exec(request.url ?? '')?.[0] ?? 0)
      const statuses = [200, 201, 204, 400, 401, 429, 500, 529]
      const status = statuses[seed % statuses.length] as number
      const parts = Array.from({ length: seed % 7 }, (_, n) =>
        Buffer.alloc((seed * 37 * (n + 1)) % 5000, seed + n),
      )
      response.sendDate = false
      response.writeHead(status, [
        'X-Seed',
        String(seed),
        'Set-Cookie',
        'a=1',
        'Set-Cookie',
        'b=2',
        'X-Asked',
        String(body.length),
        ...(seed % 3 === 0 ? ['Trailer', 'X-End'] : []),
      ])
      if (status !== 204) for (const part of parts) response.write(part)
      if (seed % 3 === 0 && status !== 204) response.addTrailers({ 'X-End': String(seed) })
      response.end()
    }
    const direct = (upstream.address() as AddressInfo).port
    for (let seed = 0; seed < 60; seed += 1) {
      const path = `/v1/${seed % 2 === 0 ? 'messages' : 'chat/completions'}?n=${seed}`
      const options = { method: 'POST', body: 'x'.repeat(seed * 31), headers: { 'X-Case': 'Kept' } }
      const [through, straight] = await Promise.all([
        ask(path, options),
        ask(path, { ...options, port: direct }),
      ])
      const withoutConnection = ({ headers, ...rest }: Got) => ({
        ...rest,
        headers: headers.filter(
          (_, at) => !/^(connection|keep-alive)$/i.test(headers[at - (at % 2)] as string),
        ),
      })
      expect(withoutConnection(through)).toEqual(withoutConnection(straight))
    }
  })

  it('comes as soon as it is there, and the head before the first byte of the body', async () => {
    let finish = (): void => {}
    answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.flushHeaders()
      finish = () => response.end('data: late\n\n')
    }
    const request = http.request({ port: proxy.port, path: '/v1/messages', method: 'POST', agent: false })
    request.end('{}')
    const response = await new Promise<IncomingMessage>((done) => request.on('response', done))
    expect(response.statusCode).toBe(200)
    finish()
    expect(await bodyOf(response)).toBe('data: late\n\n')
  })

  it('breaks off where the upstream breaks off, and the connection is refused where the upstream is not there', async () => {
    answer = (_, response) => {
      response.writeHead(200, { 'content-length': '1000' })
      response.write('half', () => response.destroy())
    }
    await expect(post('/v1/messages', question('hello'))).rejects.toThrow(/aborted|hang up|ECONNRESET/)
    upstream.closeAllConnections()
    await new Promise((done) => upstream.close(done))
    await expect(post('/v1/messages', question('again'))).rejects.toThrow(/hang up|ECONNRESET/)
    const entries = (await recorded()).flatMap((one) => one.entries)
    expect(entries.filter(({ blocks }) => blocks[0]?.type === 'error')).toHaveLength(2)
    expect(said).toEqual([])
  })

  it('stops the upstream when the client is gone, and what came until then is kept, its usage marked partial', async () => {
    const gone = new Promise<void>((resolve) => {
      answer = async (request, response) => {
        await bodyOf(request)
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        for (const one of streamed('m1', ['half ']).slice(0, 3)) response.write(one)
        response.on('close', resolve)
      }
    })
    const request = http.request({ port: proxy.port, path: '/v1/messages', method: 'POST', agent: false })
    request.on('error', () => {})
    request.end(JSON.stringify(question('hello')))
    const response = await new Promise<IncomingMessage>((done) => request.on('response', done))
    await new Promise((done) => response.once('data', done))
    request.destroy()
    await gone
    const [{ entries } = { entries: [] }] = await recorded()
    const last = entries.find(({ role }) => role === 'assistant')
    expect(last?.usage).toMatchObject({ quality: 'partial', input: 10 })
    expect(last?.metadata).toMatchObject({ brokenBy: 'client' })
  })

  it('does not outrun a client that does not read', async () => {
    const size = 64 * 1024 * 1024
    let sent = 0
    answer = (_, response) => {
      response.writeHead(200)
      const more = (): void => {
        while (sent < size && response.write(Buffer.alloc(64 * 1024))) sent += 64 * 1024
        if (sent < size) response.once('drain', more)
        else response.end()
      }
      more()
    }
    const socket = net.connect(proxy.port, '127.0.0.1')
    socket.write('POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}')
    socket.pause()
    await new Promise((done) => setTimeout(done, 500))
    expect(sent).toBeLessThan(size / 2)
    socket.destroy()
  })
})

describe('what it costs', () => {
  const told = async (): Promise<unknown> => JSON.parse((await ask('/hansard/delays')).body.toString())

  it('is counted for each part of an answer, streamed or whole, and told to whoever asks', async () => {
    answer = async (request, response) => {
      await bodyOf(request)
      if (request.url === '/v1/models') return response.end('{"data":[]}')
      for (const one of streamed('msg_1', ['a', 'b', 'c'])) {
        response.write(one)
        await new Promise((done) => setTimeout(done, 15))
      }
      return response.end()
    }
    expect(await told()).toEqual({ unit: 'µs', parts: 0, p50: null, p99: null, longest: null })
    await post('/v1/messages', question('hello'))
    const { parts, p50, p99, longest } = proxy.delays()
    // Events that were sent apart, however busy the machine is.
    expect(parts).toBeGreaterThanOrEqual(2)
    expect(p50).toBeGreaterThan(0)
    expect(p99).toBeGreaterThanOrEqual(p50 ?? Number.NaN)
    expect(longest).toBeGreaterThanOrEqual(p99 ?? Number.NaN)
    expect(await told()).toEqual({ unit: 'µs', parts, p50, p99, longest })
    await ask('/v1/models')
    expect(proxy.delays().parts).toBe(parts + 1)
  })
})

describe('what is refused', () => {
  it('is another host’s name, a proxy of another kind, another protocol, and a path of nobody', async () => {
    answer = (_, response) => void response.end('reached')
    const raw = (text: string): Promise<string> =>
      new Promise((resolve) => {
        const socket = net.connect(proxy.port, '127.0.0.1', () => socket.write(text))
        let got = ''
        socket.on('data', (chunk) => {
          got += String(chunk)
          // What it has to say is said at once.
          setTimeout(() => socket.destroy(), 100)
        })
        socket.on('close', () => resolve(got))
        socket.on('error', () => resolve(got))
      })
    expect(await raw('GET /v1/models HTTP/1.1\r\nHost: evil.example\r\n\r\n')).toMatch(/^HTTP\/1.1 403/)
    expect(await raw('GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n')).toContain('reached')
    expect(await raw('CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n')).toMatch(
      /^HTTP\/1.1 405/,
    )
    expect(await raw('GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n')).toMatch(
      /^HTTP\/1.1 404/,
    )
    expect(
      await raw('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n'),
    ).toMatch(/^HTTP\/1.1 426/)
    // What may be ignored is: clients for HTTP/2 ask for it by habit.
    expect(
      await raw('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n'),
    ).toContain('reached')
  })
})

describe('a web page', () => {
  it('is refused: nothing of it is passed on, and nothing recorded', async () => {
    let reached = 0
    answer = (_, response) => {
      reached += 1
      response.end('reached')
    }
    const body = JSON.stringify(question('written by a page'))
    const of = (headers: http.OutgoingHttpHeaders) =>
      ask('/v1/messages', { method: 'POST', body, headers: { 'content-type': 'text/plain', ...headers } })
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: `http://127.0.0.1:${proxy.port}` },
      { 'sec-fetch-site': 'cross-site' },
    ])
      expect((await of(headers)).status).toBe(403)
    expect([reached, await recorded()]).toEqual([0, []])
  })
})

describe('what is recorded', () => {
  it('is each message once, however often the history comes, and the answer with its usage', async () => {
    answer = answerWith(streamed('m1', ['Hel', 'lo']))
    await post('/v1/messages', question('one'))
    answer = answerWith(streamed('m2', ['again'], { output: 9 }))
    await post('/v1/messages', question('one', 'Hello', 'two'))
    const [only, ...others] = await recorded()
    expect(others).toEqual([])
    const { session, entries } = only as { session: Session; entries: Entry[] }
    expect(texts(entries, 'user')).toEqual(['one', 'two'])
    expect(texts(entries, 'assistant')).toEqual(['Hello', 'again'])
    expect(session.totals).toMatchObject({ calls: 2, usage: { input: 20, cacheRead: 200, output: 16 } })
    expect(
      entries.map(({ metadata }) => metadata?.['record']).filter((one) => one === 'call-started'),
    ).toHaveLength(2)
    expect(said).toEqual([])
  })

  it('begins another session for what nobody was asked before, also when the words are the same', async () => {
    answer = answerWith(streamed('m1', ['a']))
    await post('/v1/messages', question('same'))
    answer = answerWith(streamed('m2', ['b']))
    await post('/v1/messages', question('same'))
    expect(await recorded()).toHaveLength(2)
  })

  it('is one session for all that an agent says belongs together, its subagents with sources of their own', async () => {
    const headers = {
      'user-agent': 'claude-cli/2.1.0',
      'x-claude-code-session-id': 'aaaaaaaa-0000-4000-8000-000000000001',
    }
    const tools = [{ name: 'Task', input_schema: {} }]
    const task = [
      streamed('m1', [])[0] as string,
      event({
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'tool_use', id: 't1', name: 'Task', input: {} },
      } as never),
      event({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'input_json_delta', partial_json: '{"prompt":"look around"}' },
      } as never),
      event({ type: 'content_block_stop', index: 0 } as never),
      event({
        type: 'message_delta',
        delta: { stop_reason: 'tool_use' },
        usage: { output_tokens: 3 },
      } as never),
      event({ type: 'message_stop' }),
    ]
    answer = answerWith(streamed('m0', ['a title']))
    await post('/v1/messages', question('name this'), headers)
    answer = answerWith(task)
    // Both are reminded of the same.
    const reminder = { type: 'text', text: 'These skills can be used.' }
    const asked = (text: string) => ({
      ...question(),
      messages: [{ role: 'user', content: [reminder, { type: 'text', text }] }],
    })
    await post('/v1/messages', { ...asked('do it'), tools }, headers)
    const subagent = { ...asked('look around'), tools, system: 'You are a subagent.' }
    answer = async (request, response) => {
      await bodyOf(request)
      response.writeHead(529).end('{"type":"error","error":{"type":"overloaded_error","message":"busy"}}')
    }
    await post('/v1/messages', subagent, headers)
    answer = answerWith(streamed('m2', ['looked']))
    await post('/v1/messages', subagent, headers)
    const [only, ...others] = await recorded()
    expect(others).toEqual([])
    const { session, entries } = only as { session: Session; entries: Entry[] }
    expect(session.native).toEqual({ agent: 'claude-code', sessionId: headers['x-claude-code-session-id'] })
    const from = (source: string) => entries.filter((entry) => entry.source === source)
    expect(texts(from('primary'), 'user')).toEqual([reminder.text, 'do it'])
    expect(texts(from('subagent:t1'), 'user')).toEqual([reminder.text, 'look around'])
    expect(new Set(entries.map(({ source }) => source)).size).toBe(3)
    expect(session.totals).toMatchObject({ calls: 3 })
  })

  it('is read out of what is packed, and out of what is whole', async () => {
    answer = async (request, response) => {
      await bodyOf(request)
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
      response.end(
        gzipSync(
          JSON.stringify({
            id: 'c1',
            model: 'gpt-5.5',
            choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'packed' } }],
            usage: { prompt_tokens: 5, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 1 } },
          }),
        ),
      )
    }
    await post('/v1/chat/completions', { model: 'gpt-5.5', messages: [{ role: 'user', content: 'hi' }] })
    const [{ session, entries } = { session: undefined, entries: [] }] = await recorded()
    expect(texts(entries, 'assistant')).toEqual(['packed'])
    expect(session?.totals).toMatchObject({ usage: { input: 4, cacheRead: 1, output: 2 } })
  })

  it('says of an error what it was, and when to come back', async () => {
    answer = async (request, response) => {
      await bodyOf(request)
      response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '7' })
      response.end(
        JSON.stringify({ type: 'error', error: { type: 'rate_limit_error', message: 'slow down' } }),
      )
    }
    await post('/v1/messages', question('hello'))
    answer = answerWith(streamed('m1', ['fine']))
    await post('/v1/messages', question('hello'))
    const [{ session, entries } = { session: undefined, entries: [] }, ...others] = await recorded()
    expect(others).toEqual([])
    const error = entries.find(({ blocks }) => blocks[0]?.type === 'error')
    expect(error?.blocks[0]).toMatchObject({ message: 'slow down', code: 'rate_limit_error' })
    expect(error?.metadata).toMatchObject({ status: 429, retryAfter: '7' })
    expect(texts(entries, 'user')).toEqual(['hello'])
    expect(session?.totals).toMatchObject({ calls: 1 })
  })

  it('holds no key of the client’s', async () => {
    answer = answerWith(streamed('m1', ['ok']))
    const key = `sk-ant-api03-${'k'.repeat(80)}`
    await post('/v1/messages', question(`my key is ${key}`), {
      'x-api-key': key,
      authorization: `Bearer ${key}`,
    })
    await recorded()
    for (const name of fs.readdirSync(home, { recursive: true, encoding: 'utf8' }))
      if (fs.statSync(join(home, name)).isFile())
        expect(fs.readFileSync(join(home, name), 'utf8')).not.toContain(key)
  })

  it('has the exact bytes beside it for replay, unless there is a secret in what they say', async () => {
    const events = streamed('m1', ['plain ', 'words'])
    answer = answerWith(events)
    await post('/v1/messages', question('one'))
    const secret = `sk-ant-api03-${'k'.repeat(80)}`
    // No single chunk of it looks like one.
    answer = answerWith(streamed('m2', ['sk-ant-', 'api03-', 'k'.repeat(40), 'k'.repeat(40)]))
    await post('/v1/messages', question('two'))
    const [kept, withheld] = await recorded()
    const isTaped = (one: typeof kept) =>
      one?.entries.find(({ role }) => role === 'assistant')?.metadata?.['tape']
    expect([isTaped(kept), isTaped(withheld)]).toEqual([true, undefined])
    const lines = fs.readFileSync(join(home, 'sessions', kept?.session.id ?? '', 'tape.jsonl'), 'utf8')
    const [asked, answered] = lines
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(asked.request).toMatchObject({ api: 'anthropic-messages', lane: 'primary', path: '/v1/messages' })
    const tape = toTape(answered)
    expect(tape?.chunks.map(([, data]) => Buffer.from(data, 'base64').toString()).join('')).toBe(
      events.join(''),
    )
    expect(Object.fromEntries(tape?.headers ?? [])).toMatchObject({ 'content-type': 'text/event-stream' })
    for (const name of fs.readdirSync(home, { recursive: true, encoding: 'utf8' }))
      if (fs.statSync(join(home, name)).isFile())
        expect(fs.readFileSync(join(home, name), 'utf8')).not.toContain(secret.slice(0, 40))
  })

  it('is not what was malformed, bombs or nonsense: the client gets it, and the record says so', async () => {
    const part = gzipSync(Buffer.alloc(16 * 1024 * 1024))
    const bomb = Buffer.concat(Array.from({ length: 25 }, () => part))
    const bodies: [string, Buffer, http.OutgoingHttpHeaders][] = [
      ['no JSON', Buffer.from('<html>bad gateway</html>'), {}],
      [
        'no SSE',
        Buffer.from('event: message_start\ndata: {"type":\n\n\xff\xfe'),
        { 'content-type': 'text/event-stream' },
      ],
      ['no gzip', Buffer.from('not gzip'), { 'content-encoding': 'gzip' }],
      ['a bomb', bomb, { 'content-encoding': 'gzip' }],
      ['unknown', Buffer.from('x'), { 'content-encoding': 'lzma' }],
    ]
    for (const [name, body, headers] of bodies) {
      answer = async (request, response) => {
        await bodyOf(request)
        response.writeHead(200, headers)
        response.end(body)
      }
      expect((await post('/v1/messages', question(name))).body.equals(body)).toBe(true)
    }
    const all = await recorded()
    expect(all).toHaveLength(bodies.length)
    expect(JSON.stringify(all)).toContain('unpacks to more than')
    expect(said).toEqual([])
  })
})

it('fails open: what cannot be recorded is said once, and the calls go through', async () => {
  fs.writeFileSync(join(home, 'sessions'), 'in the way')
  answer = answerWith(streamed('m1', ['fine']))
  for (let n = 0; n < 3; n += 1) {
    const { status, body } = await post('/v1/messages', question(`hello ${n}`))
    expect([status, body.toString()]).toEqual([200, streamed('m1', ['fine']).join('')])
  }
  await proxy.close()
  expect(said).not.toEqual([])
  expect(new Set(said).size).toBe(said.length)
  expect(said.length).toBeLessThan(4)
})
