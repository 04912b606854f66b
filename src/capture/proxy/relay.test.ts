import fs from 'node:fs'
import net, { type AddressInfo, type Socket } from 'node:net'
import os from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openArchive } from '../../archive/archive.ts'
import { readSession } from '../../archive/read-session.ts'
import { startProxy, type Proxy } from './proxy.ts'
import { toUpstreams } from './upstreams.ts'

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n'
const chunk = (text: string, more = ''): string => `${text.length.toString(16)}${more}\r\n${text}\r\n`
const event = (type: string, rest: object): string => `data: ${JSON.stringify({ type, ...rest })}\n\n`
const message = (words: readonly string[]): string[] => [
  event('message_start', {
    message: { id: 'm', role: 'assistant', content: [], usage: { input_tokens: 1 } },
  }),
  event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  ...words.map((text) => event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })),
  event('content_block_stop', { index: 0 }),
  event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } }),
  event('message_stop', {}),
]

/** What the upstream writes to each request in turn, each piece by itself. */
let answers: (readonly string[])[] = []
/** Connections to it. */
let asked = 0
const upstream = net.createServer((socket) => {
  asked += 1
  socket.setNoDelay(true)
  socket.on('error', () => {})
  socket.on('data', (bytes) => {
    if (bytes.toString('latin1').endsWith(BODY)) void write(socket, answers.shift() ?? [])
  })
})
async function write(socket: Socket, pieces: readonly string[]): Promise<void> {
  for (const piece of pieces) {
    socket.write(piece, 'latin1')
    await new Promise((done) => setTimeout(done, 4))
  }
}

const BODY = '{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"hello"}]}'
const request = (version = '1.1'): string =>
  `POST /v1/messages HTTP/${version}\r\nhost: localhost\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`

const home = fs.mkdtempSync(join(os.tmpdir(), 'relay-'))
let proxy: Proxy
beforeAll(async () => {
  await new Promise<void>((done) => upstream.listen(0, '127.0.0.1', done))
  const { port } = upstream.address() as AddressInfo
  proxy = await startProxy({ upstreams: toUpstreams([`anthropic=http://127.0.0.1:${port}`]), home })
})
afterAll(async () => {
  await proxy.close()
  upstream.close()
  fs.rmSync(home, { recursive: true, force: true })
})

/** A connection to the proxy, and all that came of it until this is in it. */
function connect(): { readonly socket: Socket; readonly until: (text: string) => Promise<string> } {
  const socket = net.connect(proxy.port, '127.0.0.1')
  let got = ''
  socket.on('data', (bytes) => (got += bytes.toString('latin1')))
  return {
    socket,
    async until(text) {
      for (let tries = 0; tries < 2000 && !got.includes(text); tries += 1)
        await new Promise((done) => setTimeout(done, 5))
      expect(got).toContain(text)
      const all = got
      got = ''
      return all
    },
  }
}

const bodyOf = (all: string): string => all.slice(all.indexOf('\r\n\r\n') + 4)

describe('an answer in chunks', () => {
  it('reaches the client with the framing that the upstream gave it, extensions and trailers', async () => {
    const body = [chunk('one', ';a=b'), `${chunk('two')}${chunk('three')}`, '0\r\nx-end: 1\r\n\r\n']
    answers = [[HEAD, ...body]]
    const { socket, until } = connect()
    socket.write(request())
    expect(bodyOf(await until('x-end: 1\r\n\r\n'))).toBe(body.join(''))
    socket.destroy()
  })

  it('ends where it ends: what comes behind it reaches nobody, and both connections are used again', async () => {
    const { socket, until } = connect()
    answers = [
      [HEAD + chunk('one'), `0\r\n\r\n`],
      [HEAD, chunk('two'), '0\r\n\r\n'],
    ]
    const before = asked
    socket.write(request())
    expect(bodyOf(await until('0\r\n\r\n'))).toBe(`${chunk('one')}0\r\n\r\n`)
    await new Promise((done) => setTimeout(done, 30))
    socket.write(request())
    expect(bodyOf(await until('0\r\n\r\n'))).toBe(`${chunk('two')}0\r\n\r\n`)
    expect(asked - before).toBeLessThan(2)
    answers = [[HEAD, `${chunk('three')}0\r\n\r\nHTTP/1.1 200 OK\r\nx-smuggled: 1\r\n\r\n`]]
    socket.write(request())
    expect(bodyOf(await until('0\r\n\r\n'))).toBe(`${chunk('three')}0\r\n\r\n`)
    answers = [[HEAD, chunk('four'), '0\r\n\r\n']]
    socket.write(request())
    expect(await until('four')).not.toContain('smuggled')
    socket.destroy()
  })

  it('is the same in whatever pieces it comes, of the head, of a size, of a chunk', async () => {
    const body = `${chunk('now')}${chunk('run out')}0\r\n\r\n`
    const all = HEAD + body
    for (let cut = 1; cut < all.length; cut += 3) {
      const { socket, until } = connect()
      answers = [[all.slice(0, cut), all.slice(cut, cut + 5), all.slice(cut + 5)]]
      socket.write(request())
      const got = bodyOf(await until('0\r\n\r\n'))
      // Where its head comes in two pieces it is taken apart, and chunks are ours.
      expect(cut < HEAD.length ? got.replaceAll(/[0-9a-f]+\r\n|\r\n/g, '') : got).toBe(
        cut < HEAD.length ? 'nowrun out' : body,
      )
      socket.destroy()
    }
  })

  it('waits behind the one before it where a client asks for both at once', async () => {
    const { socket, until } = connect()
    answers = [
      [HEAD, chunk('one'), chunk('two'), chunk('three'), '0\r\n\r\n'],
      [HEAD, chunk('four'), chunk('five'), '0\r\n\r\n'],
    ]
    socket.write(request() + request())
    const got = await until(`${chunk('five')}0\r\n\r\n`)
    const parts = got.split('0\r\n\r\n')
    const [one, two] = parts[0]?.includes('one') === true ? parts : parts.toReversed()
    expect(bodyOf(one ?? '')).toBe(chunk('one') + chunk('two') + chunk('three'))
    expect(bodyOf(two ?? '')).toBe(chunk('four') + chunk('five'))
    socket.destroy()
  })

  it('comes without framing where the client knows none', async () => {
    const { socket, until } = connect()
    answers = [[HEAD, chunk('one'), chunk('two'), '0\r\n\r\n']]
    socket.write(request('1.0'))
    expect(bodyOf(await until('two'))).toBe('onetwo')
    socket.destroy()
  })

  it('is recorded as it was said, framing and all that is cut put aside', async () => {
    const said = message(['the ', 'whole ', 'of ', 'it'])
    const body = `${said.map((text) => chunk(text)).join('')}0\r\n\r\n`
    const { socket, until } = connect()
    answers = [[HEAD, ...(body.match(/[\s\S]{1,37}/g) ?? [])]]
    socket.write(request())
    await until('0\r\n\r\n')
    socket.destroy()
    const sessions = await proxy.close()
    const texts: unknown[] = []
    for (const { id } of sessions)
      for await (const items of readSession(openArchive(home), id))
        for (const item of items) if (item.type === 'entry') texts.push(...item.entry.blocks)
    expect(texts).toContainEqual(expect.objectContaining({ text: 'the whole of it' }))
  })
})
