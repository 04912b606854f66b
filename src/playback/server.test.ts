import fs from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createRecorded, type Recorded } from '../../test/recorded.ts'
import { ask, type Question } from '../../test/replay-proofs.ts'
import { parseJson, type Json } from '../transcript/json.ts'
import { createReassembly } from '../wire/apis.ts'
import { envelopeOf, type CallApi } from '../wire/call-apis.ts'
import type { ReplayServer, ServeOptions } from './server.ts'

let recorded: Recorded

beforeEach(async () => {
  recorded = await createRecorded(
    (_, response) =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(MESSAGE)),
  )
})
afterEach(() => recorded.close())

const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [
    { type: 'text', text: 'hello' },
    { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'ls' } },
  ],
  stop_reason: 'tool_use',
  usage: { input_tokens: 11, output_tokens: 7 },
}
const question = (content: Json, more: { readonly [name: string]: Json } = {}): Question => ({
  path: '/anthropic/v1/messages',
  body: { model: 'm', max_tokens: 9, messages: [{ role: 'user', content }], ...more },
})

/** Asks through the recorder; the session that came of it. */
async function record(...questions: readonly Question[]): Promise<string> {
  const session = await recorded.record(async (url) => {
    for (const one of questions) await ask(url, one).catch(() => undefined)
  })
  return session?.id ?? ''
}

const replay = (id: string, options?: ServeOptions): Promise<ReplayServer> => recorded.replay(id, options)

const bodyOf = (heard: { readonly body: Buffer }): Json | undefined => parseJson(heard.body.toString())
const tapeOf = (id: string): string => join(recorded.home, 'sessions', id, 'tape.jsonl')

describe('a recording that is served', () => {
  it('says how each answer was found', async () => {
    const id = await record(question('at 2026-01-01'), question('more words'))
    const server = await replay(id)
    const [exact, normalised] = [
      await ask(server.url, question('at 2026-01-01')),
      await ask(server.url, question('more words')),
    ]
    expect(exact.headers).toMatchObject({ 'x-hansard-match': 'exact', 'x-hansard-from': 'recording' })
    expect(bodyOf(exact)).toEqual(MESSAGE)
    expect(normalised.headers['x-hansard-match']).toBe('exact')
    const again = await replay(id)
    expect((await ask(again.url, question('at 2026-01-02'))).headers).toMatchObject({
      'x-hansard-match': 'normalised',
      'x-hansard-by': 'dates',
    })
    expect((await ask(again.url, question('other words'))).headers['x-hansard-match']).toBe('positional')
    expect(again.report()).toMatchObject({ calls: 2, counts: { normalised: 1, positional: 1 }, unasked: 0 })
  })

  it('compares after redaction, so that a secret in a request is the secret that was recorded', async () => {
    const secret = `sk-ant-api03-${'k'.repeat(80)}`
    const id = await record(question(`use ${secret}`))
    expect(fs.readFileSync(tapeOf(id), 'utf8')).not.toContain(secret.slice(0, 40))
    const server = await replay(id, { loosest: 'exact' })
    expect((await ask(server.url, question(`use ${secret}`))).headers['x-hansard-match']).toBe('exact')
    const other = await ask(server.url, question(`use sk-ant-api03-${'q'.repeat(80)}`))
    expect(other.status).toBe(400)
    expect(JSON.stringify(server.report())).not.toContain('qqqqqqqqqq')
  })

  it('frames its answers as they were, at once or when they came', async () => {
    const frames = ['event: ping\nda', 'ta: {"type":"ping"}\n', '\n', 'data: é'.slice(0, 7), '\n\n']
    recorded.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      frames.forEach((frame, at) => setTimeout(() => response.write(frame), at * 30))
      setTimeout(() => response.end(), frames.length * 30)
    }
    const id = await record(question('x', { stream: true }))
    const fast = await replay(id)
    expect(await framesOf(fast.url, question('x', { stream: true }))).toEqual(frames)
    const slow = await replay(id, { speed: 'recorded' })
    const began = performance.now()
    expect(await framesOf(slow.url, question('x', { stream: true }))).toEqual(frames)
    expect(performance.now() - began).toBeGreaterThan(90)
  })

  it('breaks off where the connection did, also before anything came', async () => {
    recorded.answer = (_, response) => void response.destroy()
    const id = await record(question('x'))
    const server = await replay(id)
    await expect(ask(server.url, question('x'))).rejects.toThrow(/hang up|reset/)
  })
})

describe('what is not in the recording', () => {
  it.each([
    ['/anthropic/v1/messages', { messages: [] }, { type: 'error', error: { type: 'invalid_request_error' } }],
    ['/openai/v1/chat/completions', { messages: [] }, { error: { type: 'invalid_request_error' } }],
    ['/openai/v1/responses', { input: [] }, { error: { type: 'invalid_request_error' } }],
    [
      '/google/v1beta/models/g:generateContent',
      { contents: [] },
      { error: { code: 400, status: 'INVALID_ARGUMENT' } },
    ],
    ['/bedrock/model/b/converse', { messages: [] }, { __type: 'ValidationException' }],
  ])('%s: is an error of that provider, which nobody asks again', async (path, body, shape) => {
    const server = await replay(await record(question('x')))
    const heard = await ask(server.url, { path, body })
    expect(heard.status).toBe(400)
    expect(heard.headers['x-should-retry']).toBe('false')
    expect(bodyOf(heard)).toMatchObject(shape)
    expect(heard.body.toString()).toContain('hansard replay why')
  })

  it('names the nearest, and where it differs', async () => {
    const server = await replay(await record(question('fix the build')), { loosest: 'normalised' })
    const heard = await ask(server.url, question('fix the tests'))
    expect(heard.body.toString()).toContain('messages[0].content was')
    expect(server.report().served[0]).toMatchObject({
      how: 'miss',
      reason: 'not-allowed',
      differences: [{ path: 'messages[0].content', recorded: 'fix the build', live: 'fix the tests' }],
    })
  })

  it('is any path that is no call, another host, another protocol, and a proxy', async () => {
    const server = await replay(await record(question('x')))
    const get = (path: string, headers = {}) =>
      fetch(`${server.url}${path}`, { headers }).then(async (one) => [one.status, await one.text()] as const)
    expect(await get('/anthropic/v1/models')).toEqual([404, expect.stringContaining('not_found_error')])
    expect((await ask(server.url, { path: '/anthropic/v1/messages/count_tokens', body: {} })).status).toBe(
      404,
    )
    expect(await get('/hansard/health')).toEqual([200, 'ok\n'])
    expect(await raw(server.port, 'GET / HTTP/1.1\r\nhost: evil.example\r\n\r\n')).toMatch(/^HTTP\/1.1 403/)
    expect(await raw(server.port, 'CONNECT a.example:443 HTTP/1.1\r\nhost: a\r\n\r\n')).toMatch(
      /^HTTP\/1.1 405/,
    )
    const upgrade =
      'GET /v1/responses HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'
    expect(await raw(server.port, upgrade)).toMatch(/^HTTP\/1.1 426/)
  })
})

describe('a recording that is not whole', () => {
  it('that a crash cut off has what came before, and says what has no answer', async () => {
    const id = await record(question('one'), question('two'))
    const lines = fs.readFileSync(tapeOf(id), 'utf8').split('\n')
    // The last answer: half of it was written, and its entry was not.
    fs.writeFileSync(tapeOf(id), `${lines.slice(0, 1).join('\n')}\n${lines[1]?.slice(0, 40)}`)
    for (const name of fs.readdirSync(join(recorded.home, 'sessions', id)))
      if (name.startsWith('journal')) {
        const journal = join(recorded.home, 'sessions', id, name)
        const kept = fs.readFileSync(journal, 'utf8').split('\n')
        fs.writeFileSync(
          journal,
          `${kept
            .slice(
              0,
              kept.findIndex((line) => line.includes('"role":"assistant"')),
            )
            .join('\n')}\n`,
        )
      }
    const server = await replay(id)
    expect((await ask(server.url, question('one'))).body.toString()).toContain('no answer to it')
    expect(server.report().served).toMatchObject([{ how: 'miss', reason: 'no-answer' }])
  })

  it('whose headers HTTP has no way to say is answered without them', async () => {
    const id = await record(question('one'))
    const text = fs.readFileSync(tapeOf(id), 'utf8')
    const planted = '"headers":[["x y","a"],["x-split","a\\r\\nset-cookie: b"],["x-fine","c"],'
    fs.writeFileSync(tapeOf(id), text.replace('"headers":[[', `${planted}[`))
    const heard = await ask((await replay(id)).url, question('one'))
    expect([heard.status, heard.headers['x-fine'], heard.headers['set-cookie']]).toEqual([
      200,
      'c',
      undefined,
    ])
  })

  it('whose lines are nonsense is read around them', async () => {
    const id = await record(question('one'), question('two'))
    const text = fs.readFileSync(tapeOf(id), 'utf8')
    fs.writeFileSync(tapeOf(id), `nonsense\n{"v":1,"call":"x","request":{}}\n${text}[[[`)
    const server = await replay(id)
    expect((await ask(server.url, question('two'))).headers['x-hansard-match']).toBe('exact')
    expect(server.report().damaged).toBe(2)
  })
})

describe('a recording without a tape', () => {
  const asks: readonly (readonly [CallApi, Question])[] = [
    ['anthropic-messages', question('say hello', { stream: true })],
    [
      'openai-chat',
      {
        path: '/openai/v1/chat/completions',
        body: { model: 'm', stream: true, messages: [{ role: 'user', content: 'say hello' }] },
      },
    ],
    [
      'openai-responses',
      { path: '/openai/v1/responses', body: { model: 'm', stream: true, input: 'say hello' } },
    ],
    [
      'gemini',
      {
        path: '/google/v1beta/models/m:streamGenerateContent',
        body: { contents: [{ role: 'user', parts: [{ text: 'say hello' }] }] },
      },
    ],
    [
      'bedrock-invoke',
      {
        path: '/bedrock/model/us.anthropic.claude-m/invoke-with-response-stream',
        body: { anthropic_version: 'bedrock-2023-05-31', messages: [{ role: 'user', content: 'say hello' }] },
      },
    ],
    [
      'bedrock-converse',
      {
        path: '/bedrock/model/m/converse-stream',
        body: { messages: [{ role: 'user', content: [{ text: 'say hello' }] }] },
      },
    ],
  ]
  it.each(asks)('is made again as a stream of %s, and says so', async (api, asked) => {
    const id = await record(question('say hello'))
    fs.rmSync(tapeOf(id))
    const server = await replay(id)
    const heard = await ask(server.url, asked)
    expect(heard.headers).toMatchObject({
      'x-hansard-from': 'regenerated',
      'x-hansard-match': 'positional',
      'x-hansard-by': 'turn',
    })
    const envelope = envelopeOf(api)
    const events = envelope.events()
    const message = createReassembly(envelope.api)
    for (const event of [...events.push(heard.body), ...events.end()]) message.push(event)
    const { blocks, usage, complete } = message.end()
    expect(blocks).toMatchObject([
      { type: 'text', text: 'hello' },
      { type: 'tool-call', name: 'Bash', callId: 'toolu_1', input: { command: 'ls' } },
    ])
    expect(usage).toMatchObject({ input: 11, output: 7 })
    expect(complete).toBe(true)
    expect(server.report().regenerated).toBe(1)
  })

  it('is made again where its line turns out to be damaged', async () => {
    const id = await record(question('say hello'))
    const [asked, answered = ''] = fs.readFileSync(tapeOf(id), 'utf8').trim().split('\n')
    fs.writeFileSync(tapeOf(id), `${asked}\n${answered.slice(0, -80)}\u0000\n`)
    const heard = await ask((await replay(id)).url, question('say hello'))
    expect(heard.headers).toMatchObject({ 'x-hansard-match': 'exact', 'x-hansard-from': 'regenerated' })
    expect(bodyOf(heard)).toMatchObject({ content: MESSAGE.content })
  })

  it('is made again whole for Bedrock too, and is an error for models whose words are not known', async () => {
    const id = await record(question('say hello'))
    fs.rmSync(tapeOf(id))
    const messages = [{ role: 'user', content: [{ text: 'say hello' }] }]
    const converse = { path: '/bedrock/model/m/converse', body: { messages } }
    expect(bodyOf(await ask((await replay(id)).url, converse))).toMatchObject({
      output: {
        message: {
          role: 'assistant',
          content: [
            { text: 'hello' },
            { toolUse: { toolUseId: 'toolu_1', name: 'Bash', input: { command: 'ls' } } },
          ],
        },
      },
      stopReason: 'tool_use',
      usage: { inputTokens: 11, outputTokens: 7, totalTokens: 18 },
    })
    const invoked = { messages: [{ role: 'user', content: 'say hello' }] }
    const claude = await ask((await replay(id)).url, {
      path: '/bedrock/model/anthropic.claude-m/invoke',
      body: invoked,
    })
    expect(bodyOf(claude)).toMatchObject({ content: MESSAGE.content, stop_reason: 'tool_use' })
    const llama = await ask((await replay(id)).url, {
      path: '/bedrock/model/meta.llama/invoke',
      body: invoked,
    })
    expect([llama.status, bodyOf(llama)]).toMatchObject([400, { __type: 'ValidationException' }])
    expect(JSON.stringify(bodyOf(llama))).toContain('no answer')
  })

  it('is made again whole where that is asked for, and errors as errors', async () => {
    const id = await record(question('say hello'))
    fs.rmSync(tapeOf(id))
    const heard = await ask((await replay(id)).url, question('say hello'))
    expect(bodyOf(heard)).toMatchObject({ content: MESSAGE.content, stop_reason: 'tool_use' })
    recorded.answer = (_, response) =>
      void response
        .writeHead(529)
        .end('{"type":"error","error":{"type":"overloaded_error","message":"busy"}}')
    const failed = await record(question('fail'))
    fs.rmSync(tapeOf(failed))
    const again = await ask((await replay(failed)).url, question('fail'))
    expect([again.status, bodyOf(again)]).toEqual([
      529,
      { type: 'error', error: { type: 'overloaded_error', message: 'busy' } },
    ])
  })
})

function framesOf(url: string, { path, body }: Question): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    const frames: string[] = []
    const request = http.request(`${url}${path}`, { method: 'POST' }, (response) => {
      response.on('data', (chunk: Buffer) => frames.push(chunk.toString()))
      response.on('end', () => resolve(frames))
    })
    request.on('error', reject)
    request.end(JSON.stringify(body))
  })
}

function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1', () => socket.write(text))
    socket.on('data', (chunk) => {
      resolve(chunk.toString())
      socket.destroy()
    })
    socket.on('error', reject)
  })
}
