/** What programs export of their agents, at the server's port: taken as the protocol says, and by nobody else's leave. */
import fs from 'node:fs'
import http from 'node:http'
import { join } from 'node:path'
import { deflateSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../src/transcript/json.ts'
import { LOGS, LOGS_ANSWER, STATUS, TRACES, TRACES_ANSWER } from '../src/wire/otlp-schema.ts'
import { decodeProtobuf, encodeProtobuf, type Schema } from '../src/wire/protobuf.ts'
import { chat, logsOf, said, tracesOf } from './otlp-samples.ts'
import { serveSample, type Served } from './serving.ts'

let served: Served
beforeAll(async () => {
  served = await serveSample({ otlp: {} })
})
afterAll(() => served.close())

type Answer = {
  readonly status: number
  readonly type: string
  readonly headers: http.IncomingHttpHeaders
  readonly body: Buffer
}

/** Chunked when no length is said. */
function post(
  path: string,
  body: Buffer | string,
  headers: http.OutgoingHttpHeaders = {},
  to = served,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = http.request(
      {
        port: to.server.port,
        host: '127.0.0.1',
        agent: false,
        method: 'POST',
        path,
        headers: {
          authorization: `Bearer ${to.server.token}`,
          'content-type': 'application/json',
          ...headers,
        },
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            type: response.headers['content-type'] ?? '',
            headers: response.headers,
            body: Buffer.concat(chunks),
          }),
        )
      },
    )
    request.on('error', reject)
    request.end(body)
  })
}

const json = ({ body }: Answer): Json => JSON.parse(body.toString()) as Json
const proto = ({ body }: Answer, schema: Schema): unknown =>
  JSON.parse(JSON.stringify(decodeProtobuf(body, schema)))
const PROTOBUF = { 'content-type': 'application/x-protobuf' }

/** A call in a trace of its own. */
const call = (trace: string, counts: readonly [number, number] = [10, 2]): JsonObject =>
  tracesOf([
    {
      trace,
      id: 'a',
      attributes: chat([said('user', `What is ${trace}?`)], said('assistant', `It is ${trace}.`), counts),
    },
  ])

async function usageOf(trace: string): Promise<unknown> {
  const { sessions } = await served.json<{
    sessions: readonly { agent: string; prompt?: string; title?: string; usage: unknown; entries: number }[]
  }>(`/api/v1/sessions?q=${encodeURIComponent(`"What is ${trace}"`)}`)
  return sessions.map(({ agent, usage }) => ({ agent, usage }))
}

const one = [{ agent: 'shop', usage: { input: 10, output: 2, quality: 'reported' } }]

describe('an export of spans', () => {
  it.each([
    ['JSON', () => post('/v1/traces', JSON.stringify(call('json')))],
    ['protobuf', () => post('/v1/traces', encodeProtobuf(call('protobuf'), TRACES), PROTOBUF)],
    [
      'packed JSON, in chunks',
      () =>
        post('/v1/traces', gzipSync(JSON.stringify(call('packed'))), {
          'content-encoding': 'gzip',
          'transfer-encoding': 'chunked',
        }),
    ],
    [
      'packed protobuf',
      () =>
        post('/v1/traces', gzipSync(encodeProtobuf(call('small'), TRACES)), {
          ...PROTOBUF,
          'content-encoding': 'gzip',
        }),
    ],
    [
      'deflated protobuf, in chunks',
      () =>
        post('/v1/traces', deflateSync(encodeProtobuf(call('deflated'), TRACES)), {
          ...PROTOBUF,
          'content-encoding': 'deflate',
          'transfer-encoding': 'chunked',
        }),
    ],
  ])('is taken as %s, and answered in the same', async (name, send) => {
    const answer = await send()
    expect(answer.status).toBe(200)
    expect(answer.type).toBe(name.includes('JSON') ? 'application/json' : 'application/x-protobuf')
    expect(name.includes('JSON') ? json(answer) : proto(answer, TRACES_ANSWER)).toEqual({})
    const trace =
      {
        JSON: 'json',
        protobuf: 'protobuf',
        'packed JSON, in chunks': 'packed',
        'packed protobuf': 'small',
        'deflated protobuf, in chunks': 'deflated',
      }[name] ?? ''
    await expect.poll(() => usageOf(trace)).toEqual(one)
  })

  it('is in the journal when it is answered, and counted once however often it comes', async () => {
    for (let times = 0; times < 3; times += 1)
      expect((await post('/v1/traces', JSON.stringify(call('thrice')))).status).toBe(200)
    const sessions = join(served.archive.home, 'sessions')
    const journals = fs
      .readdirSync(sessions)
      .flatMap((id) =>
        fs.readdirSync(join(sessions, id)).map((name) => fs.readFileSync(join(sessions, id, name), 'utf8')),
      )
    expect(journals.filter((text) => text.includes('It is thrice.'))).toHaveLength(1)
    await expect.poll(() => usageOf('thrice')).toEqual(one)
  })

  it('that has spans without ids is taken in part, and says so', async () => {
    const body = call('partial') as { resourceSpans: { scopeSpans: { spans: Json[] }[] }[] }
    body.resourceSpans[0]?.scopeSpans[0]?.spans.push({ name: 'nameless' })
    const why = expect.stringContaining('trace id') as string
    expect(json(await post('/v1/traces', JSON.stringify(body)))).toEqual({
      partialSuccess: { rejectedSpans: 1, errorMessage: why },
    })
    const inProtobuf = await post('/v1/traces', encodeProtobuf(body, TRACES), PROTOBUF)
    expect(proto(inProtobuf, TRACES_ANSWER)).toEqual({
      partialSuccess: { rejectedSpans: 1, errorMessage: why },
    })
  })
})

describe('an export of log records', () => {
  it('has those that tell of models taken, and the others refused', async () => {
    const body = logsOf([
      { span: 'l', name: 'gen_ai.user.message', body: { content: 'What is logged?' } },
      { span: 'l', name: 'gen_ai.choice', body: { message: { content: 'This.' } } },
      { name: 'http.request' },
    ])
    const why = expect.stringContaining('gen_ai') as string
    const answer = await post('/v1/logs', encodeProtobuf(body, LOGS), PROTOBUF)
    expect(proto(answer, LOGS_ANSWER)).toEqual({
      partialSuccess: { rejectedLogRecords: 1, errorMessage: why },
    })
    await expect.poll(() => usageOf('logged')).toHaveLength(1)
  })
})

describe('what is refused', () => {
  const bomb = gzipSync(Buffer.alloc(80 * 1024 * 1024))
  it.each([
    ['metrics', 404, 12, () => post('/v1/metrics', '{}')],
    ['what is not JSON', 400, 3, () => post('/v1/traces', '{"resourceSpans":')],
    ['what is no export', 400, 3, () => post('/v1/traces', '[]')],
    ['what is not packed', 400, 3, () => post('/v1/traces', '{}', { 'content-encoding': 'gzip' })],
    ['what is packed otherwise', 415, 3, () => post('/v1/traces', '{}', { 'content-encoding': 'br' })],
    ['another type', 400, 3, () => post('/v1/traces', '{}', { 'content-type': 'text/plain' })],
    ['no token', 401, 16, () => post('/v1/traces', '{}', { authorization: 'Bearer no' })],
    ['another page', 403, 7, () => post('/v1/traces', '{}', { origin: 'http://evil.test' })],
    ['another name', 403, 7, () => post('/v1/traces', '{}', { host: 'evil.test' })],
    ['a bomb', 413, 8, () => post('/v1/traces', bomb, { 'content-encoding': 'gzip' })],
    [
      'too much at once',
      413,
      8,
      () => post('/v1/traces', '{}', { 'content-length': String(64 * 1024 * 1024) }),
    ],
  ])('is answered with a status: %s', async (_name, status, code, send) => {
    const answer = await send()
    expect(answer.status).toBe(status)
    expect(json(answer)).toEqual({ code, message: expect.any(String) as string })
  })

  it('is answered in protobuf where that was sent', async () => {
    const answer = await post('/v1/traces', Buffer.from([0x0a, 0xff]), PROTOBUF)
    expect(answer.status).toBe(400)
    expect(proto(answer, STATUS)).toEqual({ code: 3, message: expect.any(String) as string })
  })

  it('is too much in chunks that say no length', async () => {
    const answer = await post('/v1/traces', Buffer.alloc(33 * 1024 * 1024, 0x20), {
      'transfer-encoding': 'chunked',
    }).catch((error: unknown) => error as Error)
    // Who still sends when the answer is there may see the connection end.
    if (!(answer instanceof Error)) expect(answer.status).toBe(413)
    expect((await post('/v1/traces', '{}')).status).toBe(200)
  })

  it('is everything, where exports are not asked for', async () => {
    const reading = await serveSample()
    const answer = await post('/v1/traces', JSON.stringify(call('nobody')), {}, reading)
    expect(answer.status).toBe(403)
    expect(json(answer)).toMatchObject({ message: expect.stringContaining('--otlp') as string })
    await reading.close()
  })
})
