/**
 * The recording proxy: a provider's address on this machine. What it is asked goes to one of a fixed list of upstreams and comes back
 * byte for byte; what passed is recorded afterwards, and a recorder that fails changes nothing for the agent.
 */
import http, { type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseJson, type Json } from '../../transcript/json.ts'
import type { Session } from '../../transcript/session.ts'
import { createHeldBytes } from '../../wire/held-bytes.ts'
import { createCallLog, type CallLogOptions, type OpenCall, type Parts } from '../calls/call-log.ts'
import { createDecoding } from '../../sources/decoding.ts'
import { headerOf } from '../calls/answer.ts'
import { createReporter } from '../report.ts'
import { createForwarder, type Watch } from './forward.ts'
import type { Upstream } from '../../sources/redirection.ts'
import { toRoute, type Route } from './upstreams.ts'

export type ProxyOptions = CallLogOptions & {
  readonly upstreams: ReadonlyMap<string, Upstream>
  /** 0 for one that is free. */
  readonly port?: number
  readonly parts?: Parts
}

export type Proxy = {
  readonly url: string
  readonly port: number
  /** Ends what is open, and every session. */
  close(): Promise<readonly Session[]>
}

/** Of one request, held until it is parsed; a longer one is passed on and not read. */
const MOST_BODY = 64 * 1024 * 1024
/** Answers to whoever wants to know that it is there. */
const HEALTH = '/hansard/health'

export async function startProxy({ upstreams, port = 0, parts, ...recording }: ProxyOptions): Promise<Proxy> {
  const calls = createCallLog(recording, parts)
  const forwarder = createForwarder()
  const report = createReporter(recording.onFailure)
  const server = http.createServer({ keepAliveTimeout: 65_000, requestTimeout: 0 }, (request, response) => {
    if (!isLocal(request)) return void response.writeHead(403).end('hansard: this host is not ours\n')
    if (request.url === HEALTH) return void response.writeHead(200).end('ok\n')
    const route = toRoute(upstreams, request.url ?? '')
    if (route === undefined) return void response.writeHead(404).end('hansard: no upstream for this path\n')
    forwarder.forward(request, response, route, guarded(watchCall(request, route, calls.begin), report.guard))
  })
  server.timeout = 0
  // A proxy of the other kind, and protocols that we cannot see through.
  server.on('connect', (_, socket) => void socket.end('HTTP/1.1 405 Method Not Allowed\r\n\r\n'))
  server.on('upgrade', (_, socket) => void socket.end('HTTP/1.1 501 Not Implemented\r\n\r\n'))
  server.on('clientError', (_, socket) => void socket.destroy())
  await listen(server, port)
  const bound = (server.address() as AddressInfo).port
  return {
    url: `http://127.0.0.1:${bound}`,
    port: bound,
    async close() {
      await new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
      forwarder.close()
      return calls.end()
    },
  }
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject)
      resolve()
    })
  })
}

/** A page in a browser can make a name of its own mean this machine: then it is not the name that was asked for. */
function isLocal({ headers }: IncomingMessage): boolean {
  const host = (headers.host ?? '').replace(/:\d+$/, '')
  return host === '127.0.0.1' || host === 'localhost' || host === '[::1]'
}

function watchCall(
  request: IncomingMessage,
  { api, model, upstream }: Route,
  begin: ReturnType<typeof createCallLog>['begin'],
): Watch {
  if (api === undefined || request.method !== 'POST') return UNWATCHED
  let chunks: Buffer[] | undefined = []
  let bytes = 0
  /** What happened before the call was begun, in order. */
  let waiting: ((call: OpenCall) => void)[] | undefined = []
  let call: OpenCall | undefined
  const tell = (what: (call: OpenCall) => void): void => {
    if (call === undefined) waiting?.push(what)
    else what(call)
  }
  const open = async (): Promise<void> => {
    const body = await unpacked(chunks ?? [], headerOf(request.headers, 'content-encoding'))
    chunks = undefined
    call = begin({
      api,
      body,
      headers: request.headers,
      upstream: upstream.name,
      ...(request.url !== undefined && { path: request.url }),
      ...(model !== undefined && { model }),
    })
    for (const what of waiting ?? []) what(call)
    waiting = undefined
  }
  return {
    request(chunk) {
      bytes += chunk.length
      if (bytes > MOST_BODY) chunks = undefined
      chunks?.push(chunk)
    },
    asked() {
      // When what was asked is on its way.
      setImmediate(() => void open())
    },
    response(answer) {
      const head = { status: answer.statusCode ?? 0, headers: answer.headers }
      tell((one) => one.response(head))
    },
    chunk: (part) => tell((one) => one.chunk(part)),
    ended: () => tell((one) => one.ended()),
    broken: (by, reason) => tell((one) => one.broken(by, reason)),
  }
}

/** Null for what is no JSON, and for what was too long to be held. */
async function unpacked(chunks: readonly Buffer[], encoding: string | undefined): Promise<Json> {
  if (encoding === undefined) return parseJson(Buffer.concat(chunks).toString()) ?? null
  const held = createHeldBytes()
  const decoding = createDecoding(encoding, (chunk) => held.append(chunk, 0, chunk.length))
  for (const chunk of chunks) decoding.push(chunk)
  await decoding.end()
  return parseJson(held.take()) ?? null
}

const UNWATCHED: Watch = { request() {}, asked() {}, response() {}, chunk() {}, ended() {}, broken() {} }

type Guard = ReturnType<typeof createReporter>['guard']

function guarded(watch: Watch, guard: Guard): Watch {
  return {
    request: guard('a request', watch.request),
    asked: guard('a request', watch.asked),
    response: guard('an answer', watch.response),
    chunk: guard('a part of an answer', watch.chunk),
    ended: guard('an answer', watch.ended),
    broken: guard('an answer', watch.broken),
  }
}
