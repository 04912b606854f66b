import fs from 'node:fs'
import http from 'node:http'
import net, { type AddressInfo, type Socket } from 'node:net'
import os from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startProxy, type Proxy } from './proxy.ts'
import { toUpstreams } from './upstreams.ts'

const head = (...lines: readonly string[]): string =>
  ['HTTP/1.1 200 OK', 'content-type: text/event-stream', ...lines, '', ''].join('\r\n')
const EVENT = 'data: {"type":"ping"}\n\n'
const CHUNKED = 'transfer-encoding: chunked'
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`

/** What upstreams do that are not well, each by its name. */
const WAYS: Readonly<Record<string, (socket: Socket) => unknown>> = {
  'sends more than it says': (socket) => socket.end(`${head('content-length: 23')}${EVENT}and more`),
  'sends less than it says': (socket) => socket.end(`${head('content-length: 999')}${EVENT}`),
  'sends nothing': (socket) => socket.end(),
  'resets at once': (socket) => socket.resetAndDestroy(),
  'stops in its head': (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-ty'),
  'sends a chunk that is none': (socket) => socket.end(`${head(CHUNKED)}zz\r\nabc\r\n0\r\n\r\n`),
  'sends a chunk, then one that is none': (socket) =>
    socket.end(`${head(CHUNKED)}${chunk(EVENT)}zz\r\nabc\r\n0\r\n\r\n`),
  'stops in a chunk': (socket) => socket.end(`${head(CHUNKED)}${chunk(EVENT)}ff\r\nabc`),
  'stops between chunks': (socket) => socket.end(`${head(CHUNKED)}${chunk(EVENT)}`),
  'resets between chunks': (socket) => {
    socket.write(`${head(CHUNKED)}${chunk(EVENT)}`)
    setTimeout(() => socket.resetAndDestroy(), 50)
  },
  'speaks an older protocol': (socket) =>
    socket.end(`HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\n${EVENT}`),
  'says before its answer that it takes a while, and what to load': (socket) =>
    socket.end(
      `HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a.css>; rel=preload\r\nx-y: z\r\n\r\n` +
        `${head('content-length: 23')}${EVENT}`,
    ),
  'says a length and sends chunks': (socket) =>
    socket.end(`${head('content-length: 5', CHUNKED)}${chunk(EVENT)}0\r\n\r\n`),
  'names its length in Connection': (socket) =>
    socket.end(`${head('connection: content-length', 'content-length: 23')}${EVENT}`),
  'says no length': (socket) => socket.end(`${head('connection: close')}${EVENT}`),
}

const upstream = net.createServer((socket) => {
  let asked = ''
  socket.on('error', () => {})
  socket.on('data', (bytes) => {
    asked += bytes.toString('latin1')
    const [, way = ''] = /x-way: (.*)\r\n/i.exec(asked) ?? []
    if (!asked.endsWith('{}')) return
    asked = ''
    WAYS[way]?.(socket)
  })
})
const home = fs.mkdtempSync(join(os.tmpdir(), 'lying-'))
let direct: string
let proxy: Proxy
beforeAll(async () => {
  await new Promise<void>((done) => upstream.listen(0, '127.0.0.1', done))
  direct = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  proxy = await startProxy({ upstreams: toUpstreams([`anthropic=${direct}`]), home })
})
afterAll(async () => {
  await proxy.close()
  upstream.close()
  fs.rmSync(home, { recursive: true, force: true })
})

type Seen = {
  readonly head?: string
  readonly body: string
  readonly ended: string
  /** Before the answer. */
  readonly hints?: readonly string[]
}

/** All that a client sees of it. */
function ask(url: string, way: string): Promise<Seen> {
  return new Promise((resolve) => {
    const headers = { 'x-way': way, 'content-length': 2 }
    const hints: string[] = []
    const request = http.request(
      `${url}/v1/messages`,
      { method: 'POST', agent: false, headers },
      (answer) => {
        let body = ''
        let ended = 'broken off'
        answer.on('data', (bytes: Buffer) => (body += bytes.toString()))
        answer.on('end', () => (ended = 'at its end'))
        answer.on('error', () => {})
        answer.on('close', () =>
          resolve({
            head: `${answer.statusCode} ${answer.headers['content-type']} ${answer.headers['content-length']}`,
            body,
            ended,
            hints,
          }),
        )
      },
    )
    request.on('information', (said) => hints.push(`${said.statusCode} ${JSON.stringify(said.headers)}`))
    request.on('error', () => setTimeout(() => resolve({ body: '', ended: 'no answer' }), 20))
    request.end('{}')
  })
}

it.each(Object.keys(WAYS))('an upstream that %s is seen as without us', async (way) => {
  const seen = await ask(direct, way)
  expect(await ask(proxy.url, way)).toEqual(seen)
  expect(seen.hints?.length ?? 0).toBe(way.includes('before') ? 2 : 0)
})
