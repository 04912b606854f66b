/**
 * Replay's promise, tried: what was recorded comes back byte for byte, with its status, its headers and its breaks, from every API,
 * streamed and whole, errors and what was asked again after them included; and nobody else is asked.
 */
import fs from 'node:fs'
import http, { type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { startProxy } from '../src/capture/proxy/proxy.ts'
import { toUpstreams } from '../src/capture/proxy/upstreams.ts'
import { openRecording } from '../src/playback/recording.ts'
import { serveRecording } from '../src/playback/server.ts'
import type { Json } from '../src/transcript/json.ts'
import type { Proof } from './byte-proofs.ts'

export type Question = { readonly path: string; readonly body: Json }

/** What a client gets. */
export type Heard = {
  readonly status: number
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined }
  readonly body: Buffer
  readonly isBroken: boolean
}

const RUN = 'run-replay-proof'

export async function proveReplay(calls: number): Promise<Proof> {
  const home = fs.mkdtempSync(join(os.tmpdir(), 'replay-proof-'))
  const broken: string[] = []
  const questions = Array.from({ length: calls }, (_, n) => questionOf(n))
  const provider = await startProvider()
  const proxy = await startProxy({ upstreams: upstreamsAt(provider.url), home, runId: RUN })
  const recorded: Heard[] = []
  for (const question of questions) recorded.push(await ask(proxy.url, question))
  await proxy.close()
  const asked = provider.asked()
  await provider.close()

  const recording = await openRecording(RUN, home)
  const server = await serveRecording(recording)
  for (const [n, question] of questions.entries()) {
    const again = await ask(server.url, question)
    const problem = differenceOf(recorded[n] as Heard, again)
    if (problem !== undefined) broken.push(`call ${n} (${KINDS[n % KINDS.length]}): ${problem}`)
  }
  const { counts, regenerated, unasked } = server.report()
  if (regenerated > 0 || unasked > 0) broken.push(`${regenerated} were made again, ${unasked} not asked for`)
  await server.close()
  recording.close()
  fs.rmSync(home, { recursive: true, force: true })
  return {
    name: 'replayed byte for byte',
    tried: calls,
    counts: {
      'asked of the provider': asked,
      exact: counts['exact'] ?? 0,
      bytes: recorded.reduce((sum, { body }) => sum + body.length, 0),
    },
    broken,
  }
}

function upstreamsAt(url: string) {
  return toUpstreams([`anthropic=${url}`, `openai=${url}`, `google=${url}`])
}

/** One after the other; each conversation of ten goes on with what it was told. */
const KINDS = [
  'stream',
  'whole',
  'chat',
  'responses',
  'gemini',
  'too-many',
  'again',
  'overloaded',
  'error-in-stream',
  'cut',
  'packed',
] as const
type Kind = (typeof KINDS)[number]

const IN_ALL = 'https://example.test'

export function questionOf(n: number): Question {
  const kind = KINDS[n % KINDS.length] as Kind
  // What is asked again is the same as before.
  const name = kind === 'again' ? n - 1 : n
  const history = Array.from({ length: Math.floor(n / KINDS.length) % 10 }, (_, at) => [
    { role: 'user', content: `question ${kind} ${at} é ${IN_ALL}` },
    { role: 'assistant', content: `said ${kind} ${at}` },
  ]).flat()
  const said = `question ${name} of ${kind === 'again' ? 'too-many' : kind}, please`
  if (kind === 'chat')
    return {
      path: '/openai/v1/chat/completions',
      body: { model: 'm', stream: true, messages: [...history, { role: 'user', content: said }] },
    }
  if (kind === 'responses')
    return {
      path: '/openai/v1/responses',
      body: { model: 'm', stream: true, input: [...history, { role: 'user', content: said }] },
    }
  if (kind === 'gemini')
    return {
      path: '/google/v1beta/models/g:streamGenerateContent?alt=sse',
      body: { contents: [{ role: 'user', parts: [{ text: said }] }] },
    }
  const isStream = kind === 'stream' || kind === 'error-in-stream' || kind === 'cut'
  return {
    path: '/anthropic/v1/messages',
    body: {
      model: 'm',
      max_tokens: 9,
      stream: isStream,
      messages: [...history, { role: 'user', content: said }],
    },
  }
}

/** Answers by what it is asked, each time another way. */
async function startProvider(): Promise<{ readonly url: string; asked(): number; close(): Promise<void> }> {
  const seen = new Map<string, number>()
  let asked = 0
  const server: Server = http.createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      const [, n = '0', kind = 'whole'] = /question (\d+) of ([\w-]+), please/.exec(text) ?? []
      const times = (seen.get(n) ?? 0) + 1
      seen.set(n, times)
      asked += 1
      void answer(response, kind as Kind, Number(n), times)
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: () => asked,
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

async function answer(response: ServerResponse, kind: Kind, n: number, times: number): Promise<void> {
  response.setHeader('x-request-id', `req_${n}`)
  if (kind === 'too-many' && times === 1)
    return whole(
      response,
      429,
      { error: { type: 'rate_limit_error', message: 'wait' } },
      { 'retry-after': '1' },
    )
  if (kind === 'overloaded')
    return whole(response, 529, { type: 'error', error: { type: 'overloaded_error', message: `busy ${n}` } })
  if (kind === 'whole' || kind === 'too-many') return whole(response, 200, message(n))
  if (kind === 'packed') {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
    return void response.end(gzipSync(JSON.stringify(message(n))))
  }
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
  const bytes = Buffer.from(streamOf(kind, n))
  // Also in the middle of characters, and of lines.
  const size = 37 + (n % 91)
  const isCut = kind === 'cut'
  const end = isCut ? Math.floor(bytes.length / 2) : bytes.length
  for (let at = 0; at < end; at += size) {
    response.write(bytes.subarray(at, Math.min(at + size, end)))
    if (n % 3 === 0) await new Promise((done) => setImmediate(done))
  }
  if (isCut) setTimeout(() => response.destroy(), 5)
  else response.end()
}

function whole(
  response: ServerResponse,
  status: number,
  body: Json,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

function message(n: number): Json {
  return {
    id: `msg_${n}`,
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'text', text: `answer ${n} ü` }],
    stop_reason: 'end_turn',
    usage: { input_tokens: n, output_tokens: 2 },
  }
}

function streamOf(kind: Kind, n: number): string {
  const words = Array.from({ length: 5 }, (_, at) => `wörd-${n}-${at} `)
  const line = (name: string, data: Json): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
  const bare = (data: Json): string => `data: ${JSON.stringify(data)}\n\n`
  if (kind === 'chat')
    return `${words.map((content) => bare({ id: `c${n}`, choices: [{ index: 0, delta: { content } }] })).join('')}data: [DONE]\n\n`
  if (kind === 'gemini')
    return words
      .map((text) => bare({ candidates: [{ content: { role: 'model', parts: [{ text }] } }] }))
      .join('')
  if (kind === 'responses') {
    const output = [
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: words.join('') }] },
    ]
    return line('response.completed', {
      type: 'response.completed',
      response: { id: `r${n}`, status: 'completed', output },
    })
  }
  const started = {
    type: 'message_start',
    message: { id: `m${n}`, model: 'm', role: 'assistant', content: [], usage: { input_tokens: n } },
  }
  const block = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }
  const deltas = words.map((text) =>
    line('content_block_delta', {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text },
    }),
  )
  const error = line('error', { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } })
  const end = `${line('message_delta', { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } })}${line('message_stop', { type: 'message_stop' })}`
  return `${line('message_start', started)}${line('content_block_start', block)}${deltas.join('')}${kind === 'error-in-stream' ? error : end}`
}

export function ask(url: string, { path, body }: Question): Promise<Heard> {
  return new Promise((resolve, reject) => {
    const request = http.request(
      `${url}${path}`,
      { method: 'POST', headers: { 'content-type': 'application/json' } },
      (response) => {
        const chunks: Buffer[] = []
        const over = (isBroken: boolean): void =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks),
            isBroken,
          })
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => over(false))
        response.on('error', () => over(true))
      },
    )
    request.on('error', reject)
    request.end(JSON.stringify(body))
  })
}

/** Of one connection, and what a replay says of itself. */
const NOT_COMPARED = /^(date|connection|keep-alive|transfer-encoding|content-length|x-hansard-.*)$/

function differenceOf(then: Heard, now: Heard): string | undefined {
  if (then.status !== now.status)
    return `status ${then.status} became ${now.status}: ${now.body.toString().slice(0, 300)}`
  if (!then.body.equals(now.body)) return `${then.body.length} bytes became ${now.body.length}`
  if (then.isBroken !== now.isBroken) return now.isBroken ? 'it breaks off' : 'it does not break off'
  const kept = (headers: Heard['headers']): string =>
    JSON.stringify(
      Object.entries(headers)
        .filter(([name]) => !NOT_COMPARED.test(name))
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    )
  return kept(then.headers) === kept(now.headers)
    ? undefined
    : `headers ${kept(then.headers)} became ${kept(now.headers)}`
}
