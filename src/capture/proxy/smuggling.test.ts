import fs from 'node:fs'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import os from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startProxy, type Proxy } from './proxy.ts'
import { toUpstreams } from './upstreams.ts'

/** What the upstream took for requests, in order. */
let seen: { readonly line: string; readonly body: string }[] = []
/** Answers every request on connections that it keeps, with the key that it was asked with. */
const upstream = http.createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const { method, url, headers } = request
  let body = ''
  request.on('data', (chunk) => (body += String(chunk)))
  request.on('end', () => {
    seen.push({ line: `${method} ${url}`, body })
    response.end(`for ${headers.authorization ?? 'nobody'}`)
  })
})

const home = fs.mkdtempSync(join(os.tmpdir(), 'smuggling-'))
let proxy: Proxy
beforeAll(async () => {
  await new Promise<void>((done) => upstream.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/base`
  proxy = await startProxy({ upstreams: toUpstreams([`anthropic=${url}`, `openai=${url}`]), home })
})
afterAll(async () => {
  await proxy.close()
  upstream.closeAllConnections()
  upstream.close()
  fs.rmSync(home, { recursive: true, force: true })
})
beforeEach(() => (seen = []))

/** All that comes back until the proxy closes the connection, or an answer is whole. */
function send(text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = net.connect(proxy.port, '127.0.0.1', () => socket.write(text, 'latin1'))
    let got = ''
    socket.on('data', (bytes) => {
      got += bytes.toString('latin1')
      // An answer to HEAD is whole with its head.
      if (/\r\n\r\n(?:.*for .*|.*hansard: .*\n)/s.test(got) || /^HEAD[^]*\r\n\r\n$/.test(text + got))
        socket.end()
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(got))
  })
}
const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0)
const request = (line: string, headers: readonly string[] = [], body = ''): string =>
  [`${line} HTTP/1.1`, 'Host: 127.0.0.1', ...headers, '', body].join('\r\n')

const HIDDEN = request('GET /base/hidden', ['Authorization: Bearer ATTACKER'])
const LENGTH = `Content-Length: ${HIDDEN.length}`
const CHUNKS = `${HIDDEN.length.toString(16)}\r\n${HIDDEN}\r\n0\r\n\r\n`

/** Every way to say how long a body is, and whether all servers agree on it. */
const FRAMINGS: Readonly<Record<string, { headers: readonly string[]; body: string; isClear: boolean }>> = {
  'a length': { headers: [LENGTH], body: HIDDEN, isClear: true },
  chunks: { headers: ['Transfer-Encoding: chunked'], body: CHUNKS, isClear: true },
  'CHUNKS in capitals': { headers: ['TRANSFER-ENCODING: CHUNKED'], body: CHUNKS, isClear: true },
  'a length that Connection names': {
    headers: [LENGTH, 'Connection: content-length'],
    body: HIDDEN,
    isClear: false,
  },
  'a length that Connection names among others': {
    headers: ['Connection: keep-alive, Content-Length', LENGTH],
    body: HIDDEN,
    isClear: false,
  },
  'a length that a second Connection names': {
    headers: ['Connection: close', LENGTH, 'connection:content-length '],
    body: HIDDEN,
    isClear: false,
  },
  'chunks that Connection names': {
    headers: ['Transfer-Encoding: chunked', 'Connection: transfer-encoding'],
    body: CHUNKS,
    isClear: false,
  },
  'both, the length first': {
    headers: [LENGTH, 'Transfer-Encoding: chunked'],
    body: CHUNKS,
    isClear: false,
  },
  'both, the chunks first': {
    headers: ['Transfer-Encoding: chunked', 'Content-Length: 0'],
    body: CHUNKS,
    isClear: false,
  },
  'two lengths': { headers: ['Content-Length: 0', LENGTH], body: HIDDEN, isClear: false },
  'a list of lengths': { headers: [`${LENGTH}, 0`], body: HIDDEN, isClear: false },
  'a list of encodings': { headers: ['Transfer-Encoding: gzip, chunked'], body: CHUNKS, isClear: false },
  'chunks twice': { headers: ['Transfer-Encoding: chunked, chunked'], body: CHUNKS, isClear: false },
  'two headers of encodings': {
    headers: ['Transfer-Encoding: identity', 'Transfer-Encoding: chunked'],
    body: CHUNKS,
    isClear: false,
  },
  'an encoding that is none': { headers: ['Transfer-Encoding: xchunked'], body: CHUNKS, isClear: false },
  'a length behind 2,000 headers': {
    headers: [...Array.from({ length: 2100 }, () => 'a:'), LENGTH],
    body: HIDDEN,
    isClear: true,
  },
}
const METHODS = ['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE', 'POST', 'PUT', 'PATCH', 'PROPFIND', 'QUERY']
const WITHOUT_BODY = new Set(['GET', 'HEAD', 'TRACE'])

describe.each(Object.entries(FRAMINGS))('a body with %s', (_, { headers, body, isClear }) => {
  it.each(METHODS)('of %s never becomes a request of its own', async (method) => {
    const answer = await send(request(`${method} /anthropic/v1/models`, headers, body))
    const victim = await send(request('GET /anthropic/v1/models', ['Authorization: Bearer VICTIM']))
    const second = await send(request('GET /anthropic/v1/models', ['Authorization: Bearer ATTACKER']))
    expect(victim).toContain('for Bearer VICTIM')
    expect(second).toContain('for Bearer ATTACKER')
    expect(seen.map(({ line }) => line)).not.toContain('GET /base/hidden')
    const isPassed = isClear && !WITHOUT_BODY.has(method)
    expect(seen).toHaveLength(isPassed ? 3 : 2)
    if (isPassed) expect(seen[0]).toMatchObject({ line: `${method} /base/v1/models`, body: HIDDEN })
    // Node.js closes the connection of what it does not take for a request.
    else expect([0, 400]).toContain(statusOf(answer))
  })
})

it('passes requests without a body on as such', async () => {
  for (const method of METHODS) await send(request(`${method} /anthropic/v1/models`))
  for (const method of METHODS) await send(request(`${method} /anthropic/v1/models`, ['Content-Length: 0']))
  expect(seen.map(({ line, body }) => `${line}${body}`)).toEqual(
    [...METHODS, ...METHODS].map((method) => `${method} /base/v1/models`),
  )
})

describe('a request is refused, and the upstream does not see it', () => {
  it.each<[string, number, string]>([
    ['with two hosts', 400, request('GET /v1/models', ['Host: evil.example'])],
    ['with the same host twice', 400, request('GET /v1/models', ['host: 127.0.0.1'])],
    [
      'of HTTP/1.0 in chunks',
      400,
      'POST /v1/messages HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ...[
      '/openai/../../admin',
      '/openai/%2e%2e/admin',
      '/openai/.%2E/admin',
      '/openai/%252e%252e/admin',
      '/openai/..%2fadmin',
      '/openai/%2e%2e%2fadmin',
      '/openai/..%5cadmin',
      '/openai/..\\admin',
      '/openai/v1%5c..%5cadmin',
      '/openai/..;/admin',
      '/openai/%c0%ae%c0%ae/admin',
      '/openai/v1/./models',
      '/openai/..',
      '/v1/../admin',
      '/openai/..?x',
      '/openai/..#x',
    ].map((path): [string, number, string] => [`to ${path}`, 404, request(`GET ${path}`)]),
  ])('%s', async (_, status, text) => {
    expect(statusOf(await send(text))).toBe(status)
    expect(seen).toEqual([])
  })

  it('but ids with slashes, colons and dots are no parent folders', async () => {
    const paths = [
      '/v1/models/a%2Fb',
      '/v1/models/gpt-4.1',
      '/v1/models/..b',
      '/v1/x?a=../..',
      '/model/arn%3Aaws%2Fx/invoke',
    ]
    for (const path of paths) await send(request(`GET /openai${path}`))
    expect(seen.map(({ line }) => line)).toEqual(paths.map((path) => `GET /base${path}`))
  })
})
