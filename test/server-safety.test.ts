/** What a server on this machine refuses: other names, other pages, other paths, other methods, too much, too slow, and strangers. */
import fs from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MOST_BODY } from '../src/server/safety.ts'
import { createTokens, TOKEN_FILE, type Tokens } from '../src/server/session-token.ts'
import { startServer } from '../src/server/start.ts'
import { ask, serveSample, type Reply, type Served } from './serving.ts'

let served: Served
let web: string
const used: string[] = []
beforeAll(async () => {
  web = fs.mkdtempSync(join(os.tmpdir(), 'hansard-web-'))
  fs.mkdirSync(join(web, 'assets'))
  fs.writeFileSync(join(web, 'index.html'), '<script type="module" src="./assets/main-Ab3dEf9h.js"></script>')
  fs.writeFileSync(join(web, 'assets', 'main-Ab3dEf9h.js'), 'export {}')
  fs.writeFileSync(join(web, 'notes.txt'), 'of no type that a page has')
  served = await serveSample({
    webFolder: web,
    limits: { headersMs: 600, requestMs: 900 },
    onKeyUsed: (url) => used.push(url),
  })
})
afterAll(async () => {
  await served.close()
  fs.rmSync(web, { recursive: true })
})

const LIST = '/api/v1/sessions'
const bearer = (): Record<string, string> => ({ authorization: `Bearer ${served.server.token}` })
const asking = (
  path: string,
  headers: Record<string, string | string[]> = {},
  method = 'GET',
  body?: string,
) =>
  ask(served.server.port, {
    path,
    method,
    headers: { ...bearer(), ...headers },
    ...(body !== undefined && { body }),
  })
/** Of ours within the error, of Flow Studio's beside it. */
const codeOf = ({ text }: Reply): unknown => {
  const { error, code } = JSON.parse(text) as { error: { code: string } | string; code?: string }
  return typeof error === 'string' ? code : error.code
}

describe('a name that was made to point here', () => {
  it('is refused, with the right port and without', async () => {
    const { port } = served.server
    const names = [
      'evil.test',
      `evil.test:${port}`,
      `127.0.0.1.nip.io:${port}`,
      '127.0.0.1',
      'localhost',
      `localhost:${port + 1}`,
    ]
    for (const host of [
      ...names,
      `localhost:${port}@evil.test`,
      `0.0.0.0:${port}`,
      `evil.test#localhost:${port}`,
    ]) {
      const reply = await asking(LIST, { host })
      expect([reply.status, codeOf(reply)], host).toEqual([403, 'wrong-host'])
    }
  })

  it('is refused when it is said twice, or not at all, or in the first line', async () => {
    const { port } = served.server
    const token = `Authorization: Bearer ${served.server.token}\r\n`
    const twice = `Host: 127.0.0.1:${port}\r\nHost: evil.test\r\n`
    expect(await raw(port, `GET ${LIST} HTTP/1.1\r\n${twice}${token}Connection: close\r\n\r\n`)).toMatch(
      /^HTTP\/1.1 40[03]/,
    )
    expect(await raw(port, `GET ${LIST} HTTP/1.1\r\n${token}Connection: close\r\n\r\n`)).toMatch(
      /^HTTP\/1.1 40[03]/,
    )
    expect(await raw(port, `GET ${LIST} HTTP/1.0\r\n${token}\r\n`)).toMatch(/^HTTP\/1.1 40[03]/)
    const absolute = `GET http://evil.test${LIST} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${token}Connection: close\r\n\r\n`
    expect(await raw(port, absolute)).toMatch(/^HTTP\/1.1 400/)
  })

  it('is not one of the names of this machine', async () => {
    for (const host of ['localhost', 'LocalHost', '127.0.0.1', '[::1]'])
      expect((await asking(LIST, { host: `${host}:${served.server.port}` })).status, host).toBe(200)
  })
})

describe('another page', () => {
  it('reads nothing, wherever it is from', async () => {
    const { port } = served.server
    const origins = [
      'http://evil.test',
      'null',
      `https://127.0.0.1:${port}`,
      `http://127.0.0.1:${port + 1}`,
      'http://localhost',
      `http://evil.test:${port}`,
    ]
    for (const origin of origins) expect(codeOf(await asking(LIST, { origin })), origin).toBe('cross-origin')
    for (const site of ['cross-site', 'same-site', 'nonsense'])
      expect(codeOf(await asking(LIST, { 'sec-fetch-site': site })), site).toBe('cross-origin')
  })

  it('changes nothing, whatever form it sends', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    expect((await asking('/api/v1/sync', form, 'POST', 'a=1')).status).toBe(400)
    expect((await asking('/api/v1/sync', { 'content-type': 'text/plain' }, 'POST', '{}')).status).toBe(400)
    const json = { 'content-type': 'application/json' }
    expect((await asking('/api/v1/sync', { ...json, origin: 'http://evil.test' }, 'POST', '{}')).status).toBe(
      403,
    )
    const asked = await asking('/api/v1/sync', json, 'POST', '{}')
    expect([asked.status, codeOf(asked)]).toEqual([403, 'read-only'])
  })

  it('gets no leave to read', async () => {
    const preflight = { origin: 'http://evil.test', 'access-control-request-method': 'GET' }
    const reply = await asking(LIST, preflight, 'OPTIONS')
    expect(reply.status).toBe(405)
    for (const one of [reply, await asking(LIST), await asking('/')])
      expect(Object.keys(one.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
  })

  it('may lead to the page, and not put it in a frame', async () => {
    const visit = {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
    }
    expect((await asking('/', visit)).status).toBe(200)
    expect((await asking('/', { ...visit, 'sec-fetch-dest': 'iframe' })).status).toBe(403)
    expect((await asking(LIST, visit)).status).toBe(403)
    expect((await asking('/assets/main-Ab3dEf9h.js', { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  })

  it('of our own is heard', async () => {
    const ours = { origin: `http://127.0.0.1:${served.server.port}`, 'sec-fetch-site': 'same-origin' }
    expect((await asking(LIST, ours)).status).toBe(200)
  })
})

describe('a path', () => {
  const CLIMBS = [
    '/../../etc/passwd',
    '/assets/../../../etc/passwd',
    '/assets/../index.html',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/assets/..%2f..%2f..%2fetc%2fpasswd',
    '/assets/%2e%2e%2fnotes.txt',
    '/%252e%252e%252fetc%252fpasswd',
    '/%25252e%25252e%25252fetc/passwd',
    '/..\\..\\etc\\passwd',
    '/..%5c..%5cetc%5cpasswd',
    '/assets/%255c..%255cx',
    '/index.html%00.js',
    '/%00',
    '/%2500',
    '/assets/%0d%0aset-cookie:x',
    '//etc/passwd',
    '//evil.test/',
    '/./index.html',
    '/.%2e/x',
    '/%c0%ae%c0%ae/etc/passwd',
    '/%',
    '/%zz',
  ]

  it('does not climb, in any spelling', async () => {
    for (const prefix of ['', '/api/v1/sessions', '/api/runs/x', '/assets'])
      for (const climb of CLIMBS) {
        const reply = await asking(prefix + climb)
        expect(reply.status, prefix + climb).toBeGreaterThanOrEqual(400)
        expect(codeOf(reply), prefix + climb).toBe('unsafe-path')
      }
  })

  it('that is too long is not looked at', async () => {
    expect((await asking(`/api/v1/${'x'.repeat(17_000)}`)).status).toBeGreaterThanOrEqual(414)
  })

  it('names a file of the page, or nothing', async () => {
    for (const path of [
      '/notes.txt',
      '/assets',
      '/assets/',
      '/assets/nope.js',
      '/index.htm',
      '/package.json',
      '/etc/passwd.txt',
    ]) {
      const reply = await asking(path)
      expect(reply.text.includes('of no type') || reply.text === 'export {}', path).toBe(false)
    }
    const script = await asking('/assets/main-Ab3dEf9h.js')
    expect([script.status, script.text, script.headers['cache-control']]).toEqual([
      200,
      'export {}',
      'public, max-age=31536000, immutable',
    ])
  })

  it('of a view gives the page, which finds its files from there', async () => {
    for (const path of ['/', '/sessions/x', '/cost', '/index.html']) {
      const reply = await asking(path)
      expect([reply.status, reply.text], path).toEqual([
        200,
        '<script type="module" src="/assets/main-Ab3dEf9h.js"></script>',
      ])
      const etag = reply.headers.etag ?? ''
      expect((await asking(path, { 'if-none-match': etag })).status).toBe(304)
    }
  })
})

describe('a method', () => {
  it('is one that reads, or is refused', async () => {
    for (const method of ['PUT', 'DELETE', 'PATCH', 'TRACE', 'OPTIONS', 'PROPFIND'])
      for (const path of [LIST, '/', '/api/v1/sync']) {
        const reply = await asking(path, {}, method)
        expect([reply.status, reply.headers.allow], `${method} ${path}`).toEqual([405, 'GET, HEAD, POST'])
      }
    const json = { 'content-type': 'application/json' }
    expect((await asking(LIST, json, 'POST', '{}')).status).toBe(405)
    expect((await asking('/', json, 'POST', '{}')).status).toBe(405)
  })

  it('that asks only for headers gets them, and what it needs is the same', async () => {
    for (const path of [LIST, '/', '/api/v1/live']) {
      const reply = await asking(path, {}, 'HEAD')
      expect([reply.status, reply.text], path).toEqual([200, ''])
    }
    expect((await ask(served.server.port, { path: LIST, method: 'HEAD' })).status).toBe(401)
  })

  it('that would change protocols does not', async () => {
    const { port } = served.server
    const token = `Host: 127.0.0.1:${port}\r\nAuthorization: Bearer ${served.server.token}\r\n`
    const socket = 'Connection: Upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Version: 13\r\n'
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'
    for (const path of ['/api/v1/live', '/', LIST])
      expect(await raw(port, `GET ${path} HTTP/1.1\r\n${token}${socket}${key}\r\n`), path).toMatch(
        /^HTTP\/1.1 400 /,
      )
    // Programs offer the next HTTP of their own accord: they are answered in this one.
    const offered = await asking(LIST, {
      connection: 'upgrade, http2-settings',
      upgrade: 'h2c',
      'http2-settings': '',
    })
    expect([offered.status, offered.headers.upgrade]).toEqual([200, undefined])
    const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
    for (const bytes of ['CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n', preface])
      expect(await raw(port, bytes)).not.toMatch(/ (?:101|200) /)
  })
})

describe('too much', () => {
  it('of a body is refused before it came, and cut off', async () => {
    const headers = { 'content-type': 'application/json', 'content-length': String(1024 ** 3) }
    const { port, token } = served.server
    const lines = Object.entries({ host: `127.0.0.1:${port}`, authorization: `Bearer ${token}`, ...headers })
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
    expect(await raw(port, `POST /api/v1/sync HTTP/1.1\r\n${head}\r\n{`)).toMatch(/^HTTP\/1.1 413/)
  })

  it('of a body that does not say its length is cut off as well', async () => {
    const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }
    const reply = await asking('/api/v1/sync', headers, 'POST', 'x'.repeat(MOST_BODY + 1))
    expect(reply.status).toBe(411)
    expect((await asking(LIST, { 'transfer-encoding': 'chunked' }, 'GET', 'x')).status).toBe(400)
  })

  it('of headers is refused', async () => {
    const reply = await asking(LIST, { 'x-much': 'x'.repeat(20_000) })
    expect(reply.status).toBe(431)
  })

  it('of headers by number is refused: what is beyond them is not seen', async () => {
    const many = Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`x-${at}`, 'x']))
    expect((await asking(LIST, { ...many, origin: 'http://evil.test' })).status).toBe(431)
  })

  it('is refused before it is sent where somebody asks first', async () => {
    const { port, token } = served.server
    const ask = (length: number): string =>
      `POST /api/v1/sync HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\nExpect: 100-continue\r\n\r\n`
    expect(await raw(port, ask(1024 ** 3))).toMatch(/^HTTP\/1.1 413 /)
    expect(await raw(port, ask(2), 300)).toMatch(/^HTTP\/1.1 100 /)
  })

  it('in one request is not two: what could be read either way is refused', async () => {
    const { port, token } = served.server
    const head = `POST /api/v1/sync HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`
    const smuggled = `GET ${LIST} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n\r\n`
    for (const framing of [
      'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      'Content-Length: 4\r\nContent-Length: 5\r\n\r\n{}  ',
      'Transfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n',
      'Content-Length: +2\r\n\r\n{}',
      'X: y\r\n Content-Length: 2\r\n\r\n{}',
      'X: y\nContent-Length: 2\r\n\r\n{}',
    ]) {
      const answers = await raw(port, head + framing + smuggled, 500)
      expect(answers, framing).toMatch(/^HTTP\/1.1 4/)
      expect(answers, framing).not.toMatch(/ 200 /)
    }
  })

  it('that is not HTTP is told so, and nothing else', async () => {
    const answer = await raw(served.server.port, '\x16\x03\x01\x02\x00hello\r\n\r\n')
    expect(answer).toMatch(/^HTTP\/1.1 400/)
    expect(answer).toContain('content-security-policy')
  })
})

describe('too slow', () => {
  it('a head or a body is not waited for', async () => {
    const { port, token } = served.server
    const host = `Host: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n`
    const [head, body] = await Promise.all([
      raw(port, `GET ${LIST} HTTP/1.1\r\n${host}`),
      raw(
        port,
        `POST /api/v1/nope HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: 10\r\n\r\n{`,
        4000,
      ),
    ])
    expect(head).toMatch(/^HTTP\/1.1 408/)
    expect(body).toMatch(/^HTTP\/1.1 4/)
  })

  it('a drop at a time makes it no longer', async () => {
    const { port, token } = served.server
    const host = `Host: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n`
    const post = `POST /api/v1/sync HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n`
    // The limits of this server are 600 and 900 ms, looked at every 600. Whoever drips goes on until the server ends it.
    await Promise.all([
      dripping(port, '', 'GET / HTTP/1.1\r\nX-Much: '),
      dripping(port, `GET ${LIST} HTTP/1.1\r\n${host}`, 'X-Some: more\r\n'.repeat(100)),
      dripping(port, post, ' '.repeat(1000)),
    ])
  })

  it('somebody who says nothing is sent away', async () => {
    await ended(served.server.port)
  })

  it('many at once keep nobody else waiting', async () => {
    const { port } = served.server
    const slow = Array.from({ length: 200 }, () => net.connect(port, '127.0.0.1'))
    for (const socket of slow) socket.on('error', () => {}).write('GET / HTTP/1.1\r\nX-')
    expect((await asking('/api/v1/health')).status).toBe(200)
    await Promise.all(slow.map((socket) => new Promise((resolve) => socket.once('close', resolve).resume())))
  })
})

describe('a stranger', () => {
  it('gets the page, which has nothing in it, and not one answer', async () => {
    const { port } = served.server
    expect((await ask(port, { path: '/' })).status).toBe(200)
    for (const path of [
      '/health',
      '/sessions',
      '/search?q=x',
      '/cost',
      '/stats',
      '/live',
      '/openapi.json',
      '/nope',
    ])
      for (const authorization of [
        '',
        'Bearer',
        'Bearer x',
        `Bearer ${served.server.token}x`,
        `Basic ${served.server.token}`,
      ]) {
        const reply = await ask(port, { path: `/api/v1${path}`, headers: { authorization } })
        expect([reply.status, codeOf(reply)], `${path} ${authorization}`).toEqual([401, 'no-token'])
      }
    for (const path of [
      '/api/runs',
      '/API/v1/sessions',
      '/%61pi/v1/sessions',
      `${LIST}?token=${served.server.token}`,
    ])
      expect((await ask(port, { path })).status, path).toBe(401)
  })

  it('comes with no cookie, whatever is in it', async () => {
    const { port, token } = served.server
    for (const value of [token, await enter()])
      for (const name of ['hansard', `hansard-${port}`, 'hansard-pass', 'pass'])
        expect((await ask(port, { path: LIST, headers: { cookie: `${name}=${value}` } })).status).toBe(401)
  })
})

/** What the page does with the key of its address. */
async function enter(): Promise<string> {
  const { text } = await ask(served.server.port, { path: keyPath() })
  return JSON.parse(text).pass
}
const keyPath = (url = served.server.newUrl()): string => `/key${new URL(url).search}`

describe('the address that is printed', () => {
  it('gives one page a pass, which is no cookie and not the token', async () => {
    const { port, token } = served.server
    const path = keyPath()
    const first = await ask(port, { path })
    expect([first.status, first.headers['set-cookie']]).toEqual([200, undefined])
    const { pass } = JSON.parse(first.text)
    expect(first.text).not.toContain(token)
    expect((await ask(port, { path: LIST, headers: { authorization: `Bearer ${pass}` } })).status).toBe(200)
    // Pictures, downloads and events send no headers. A pass is no part of the question.
    expect((await ask(port, { path: `${LIST}?pass=${pass}` })).status).toBe(200)
    expect((await ask(port, { path: `${LIST}?limit=1&pass=${pass}&q=login` })).text).toContain('"total":1')
    const second = await ask(port, { path })
    expect([second.status, codeOf(second)]).toEqual([401, 'no-token'])
  })

  it('gives a pass that is good for a day, at one port, with one token', () => {
    const token = 't'.repeat(43)
    let at = 1e12
    const open = (given = token, port = 4747) =>
      createTokens(
        given,
        () => port,
        () => at,
      )
    const tokens = open()
    const pass = tokens.redeem(tokens.newKey()) ?? ''
    const isKnown = (by: Tokens, given = pass): boolean =>
      by.isKnown({ authorization: `Bearer ${given}` }, '/')
    const [until = '', ...mac] = pass.split('-')
    const later = [(Number.parseInt(until, 36) + 1e9).toString(36), ...mac].join('-')
    expect([isKnown(tokens), isKnown(open())]).toEqual([true, true])
    expect([isKnown(open(token, 4748)), isKnown(open('u'.repeat(43)))]).toEqual([false, false])
    for (const made of [later, until, `${until}-`, mac.join('-'), `-${mac.join('-')}`, ''])
      expect(isKnown(tokens, made), made).toBe(false)
    at += 24 * 3600 * 1000 - 1
    expect(isKnown(tokens)).toBe(true)
    at += 1
    expect(isKnown(tokens)).toBe(false)
  })

  it('is followed by a new one', async () => {
    const before = used.length
    await enter()
    expect((await ask(served.server.port, { path: keyPath(used[before]) })).status).toBe(200)
  })

  it('is not used up by who only looks at it, or comes from elsewhere', async () => {
    const { port, origin } = served.server
    const url = served.server.newUrl()
    const path = keyPath(url)
    await ask(port, { path: url.slice(origin.length) })
    await ask(port, { path, method: 'HEAD' })
    expect((await ask(port, { path, headers: { host: 'evil.test' } })).status).toBe(403)
    expect((await ask(port, { path, headers: { 'sec-fetch-site': 'same-site' } })).status).toBe(403)
    expect((await ask(port, { path })).status).toBe(200)
  })

  it('opens nothing when it is made up', async () => {
    for (const token of ['', 'x', served.server.token])
      expect((await ask(served.server.port, { path: `/key?token=${token}` })).status).toBe(401)
  })
})

describe('every answer', () => {
  it('lets a browser run nothing but the page', async () => {
    for (const reply of [
      await asking(LIST),
      await asking('/'),
      await asking('/api/v1/nope'),
      await asking('/../x'),
      await ask(served.server.port, { path: LIST }),
    ]) {
      const policy = reply.headers['content-security-policy'] ?? ''
      expect(policy).toContain("default-src 'none'; script-src 'self'")
      expect(policy).not.toMatch(/unsafe|\*|https?:/)
      expect(reply.headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
      })
      expect(reply.headers['x-powered-by'] ?? reply.headers.server).toBeUndefined()
    }
  })
})

describe('the server', () => {
  it('keeps its token where only its owner reads it, and has it again the next time', async () => {
    const path = join(served.archive.home, TOKEN_FILE)
    expect(fs.statSync(path).mode & 0o777).toBe(0o600)
    const next = await startServer(served.archive, { port: 0, follow: false })
    expect(next.token).toBe(served.server.token)
    await next.close()
  })

  it('listens where other machines reach it only when that is meant', async () => {
    await expect(startServer(served.archive, { port: 0, host: '0.0.0.0' })).rejects.toMatchObject({
      code: 'not-permitted',
    })
    const open = await startServer(served.archive, { port: 0, host: '0.0.0.0', expose: true, follow: false })
    const headers = { authorization: `Bearer ${open.token}` }
    expect((await ask(open.port, { path: LIST, headers: { ...headers, host: 'evil.test' } })).status).toBe(
      403,
    )
    expect((await ask(open.port, { path: LIST, headers })).status).toBe(200)
    expect((await ask(open.port, { path: LIST })).status).toBe(401)
    await open.close()
  })

  it('says so when its port is taken', async () => {
    await expect(startServer(served.archive, { port: served.server.port })).rejects.toMatchObject({
      code: 'not-permitted',
      hint: expect.stringContaining('--port') as string,
    })
  })
})

/** `head` at once and then `rest` byte by byte; milliseconds until the server had enough of it. */
function dripping(port: number, head: string, rest: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1')
    socket.write(head)
    let at = 0
    const drip = setInterval(() => socket.write(rest[at++ % rest.length] ?? ' '), 20)
    const end = (): void => {
      clearInterval(drip)
      socket.destroy()
      resolve()
    }
    socket.on('error', end).on('close', end).resume()
  })
}

/** Says nothing, until the server ends it. */
const ended = (port: number): Promise<void> =>
  new Promise(
    (resolve) =>
      void net
        .connect(port, '127.0.0.1')
        .on('error', () => {})
        .once('close', () => resolve())
        .resume(),
  )

/** Bytes as they are; what came back until the server ended it, or until it was waited long enough. */
function raw(port: number, bytes: string, patienceMs = 3000): Promise<string> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1')
    let text = ''
    const end = (): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(text)
    }
    const timer = setTimeout(end, patienceMs)
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
    socket.on('error', end).on('close', end)
    socket.write(bytes)
  })
}
