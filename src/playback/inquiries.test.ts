import fs from 'node:fs'
import http, { type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createRecorded, type Recorded } from '../../test/recorded.ts'
import { parseJson, type Json } from '../transcript/json.ts'
import type { ReplayServer, ServeOptions } from './server.ts'

type Heard = {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly body: Json | undefined
}
type Asked = {
  readonly method?: string
  readonly path: string
  readonly body?: Json
  readonly headers?: object
}

let recorded: Recorded

beforeEach(async () => {
  recorded = await createRecorded((request, response, body) => {
    const { url = '' } = request
    if (url.includes('count')) return send(response, { input_tokens: body.length })
    return send(response, url.includes('models') ? { data: [{ id: `model of ${url}` }] } : MESSAGE)
  })
})
afterEach(() => recorded.close())

const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'hello' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 11, output_tokens: 7 },
}
const CALL: Asked = {
  path: '/anthropic/v1/messages',
  body: { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] },
}
const count = (content: string): Asked => ({
  path: '/anthropic/v1/messages/count_tokens',
  body: { model: 'm', messages: [{ role: 'user', content }] },
})
const models = (query = ''): Asked => ({ method: 'GET', path: `/openai/v1/models${query}` })

function send(response: ServerResponse, value: Json): void {
  response.writeHead(200, { 'content-type': 'application/json', 'request-id': String(Math.random()) })
  response.end(JSON.stringify(value))
}

function ask(url: string, { method = 'POST', path, body, headers = {} }: Asked): Promise<Heard> {
  return new Promise((resolve, reject) => {
    const request = http.request(`${url}${path}`, { method, headers: { ...headers } }, (response) => {
      let said = ''
      response.on('data', (chunk) => (said += String(chunk)))
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: parseJson(said) }),
      )
    })
    request.on('error', reject)
    request.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

async function record(...asked: readonly Asked[]): Promise<string> {
  const session = await recorded.record(async (url) => {
    for (const one of asked) await ask(url, one)
  })
  expect(session?.totals).toMatchObject({ calls: 1, usage: { input: 11, output: 7 } })
  return session?.id ?? ''
}

const replay = (id: string, options?: ServeOptions): Promise<ReplayServer> => recorded.replay(id, options)

const linesOf = (id: string): string[] =>
  fs
    .readFileSync(join(recorded.home, 'sessions', id, 'tape.jsonl'), 'utf8')
    .trim()
    .split('\n')

describe('questions about models and tokens', () => {
  it('are on the tape, before the first call and after it, and are no entries', async () => {
    const gemini = { path: '/google/v1beta/models/g:countTokens', body: { contents: [] } }
    const id = await record(models(), count('one'), CALL, count('two'), gemini, {
      method: 'GET',
      path: '/google/v1beta/models',
    })
    const server = await replay(id)
    for (const [asked, body] of [
      [models(), { data: [{ id: 'model of /v1/models' }] }],
      [count('two'), { input_tokens: JSON.stringify(count('two').body).length }],
      [count('one'), { input_tokens: JSON.stringify(count('one').body).length }],
      [gemini, { input_tokens: JSON.stringify(gemini.body).length }],
      [{ method: 'GET', path: '/google/v1beta/models' }, { data: [{ id: 'model of /v1beta/models' }] }],
      // Again, and where nobody said whose it is.
      [models(), { data: [{ id: 'model of /v1/models' }] }],
      [{ method: 'GET', path: '/v1/models' }, { data: [{ id: 'model of /v1/models' }] }],
    ] as const) {
      const heard = await ask(server.url, asked)
      expect([heard.status, heard.body]).toEqual([200, body])
      expect(heard.headers).toMatchObject({ 'x-hansard-match': 'exact', 'x-hansard-from': 'recording' })
    }
    const call = await ask(server.url, CALL)
    expect(call.headers['x-hansard-match']).toBe('exact')
    expect(server.report()).toMatchObject({
      calls: 8,
      counts: { other: 7, exact: 1 },
      recorded: 1,
      unasked: 0,
    })
    const journal = fs
      .readdirSync(join(recorded.home, 'sessions', id))
      .find((name) => name.startsWith('journal'))
    expect(fs.readFileSync(join(recorded.home, 'sessions', id, journal ?? ''), 'utf8')).not.toContain(
      'count_tokens',
    )
  })

  it('are answered by position where they are not the same, and say so', async () => {
    const id = await record(CALL, count('on 2026-01-01'), count('two'))
    const server = await replay(id)
    const dated = await ask(server.url, count('on 2026-02-02'))
    expect(dated.headers).toMatchObject({ 'x-hansard-match': 'normalised', 'x-hansard-by': 'dates' })
    const other = await ask(server.url, count('something else'))
    expect(other.headers['x-hansard-match']).toBe('positional')
    expect(other.body).toEqual({ input_tokens: JSON.stringify(count('two').body).length })
    expect(server.report().served.map(({ matched }) => matched)).toEqual(['normalised', 'positional'])
    const strict = await replay(id, { loosest: 'exact' })
    expect((await ask(strict.url, count('something else'))).status).toBe(404)
  })

  it('are an error of the provider’s where they were not asked, nor is one page given for another', async () => {
    const id = await record(CALL, models('?limit=2&key=AIza-no-secret-here'))
    expect(linesOf(id).join('\n')).not.toContain('AIza')
    const server = await replay(id)
    expect((await ask(server.url, models('?limit=2&key=other'))).headers['x-hansard-match']).toBe('exact')
    const page = await ask(server.url, models('?limit=2&after=x'))
    expect([page.status, page.headers['x-hansard-match']]).toEqual([404, 'miss'])
    expect(page.body).toMatchObject({ error: { type: 'invalid_request_error' } })
    const counted = await ask(server.url, count('one'))
    expect([counted.status, counted.body]).toMatchObject([
      404,
      { type: 'error', error: { type: 'not_found_error' } },
    ])
    expect(server.report().served.at(-1)).toMatchObject({ how: 'other', reason: 'not-a-call' })
  })

  it('that are answered the same again and again are written once', async () => {
    const id = await record(CALL, ...Array.from({ length: 20 }, () => models()), count('a'), models())
    expect(linesOf(id).filter((line) => line.includes('"inquiry"'))).toHaveLength(2)
  })

  it('are not on the tape where there is a secret in what they say, packed or not', async () => {
    const secret = `sk-ant-api03-${'k'.repeat(80)}`
    recorded.answer = (request, response) => {
      if (request.url?.includes('models') !== true) return send(response, MESSAGE)
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
      response.end(gzipSync(JSON.stringify({ data: [secret] })))
    }
    const id = await record(CALL, models())
    const lines = linesOf(id)
    expect(lines.filter((line) => line.includes('"inquiry"'))).toHaveLength(1)
    expect(lines.filter((line) => line.includes('"status"'))).toHaveLength(1)
    expect((await ask((await replay(id)).url, models())).status).toBe(404)
  })
})
