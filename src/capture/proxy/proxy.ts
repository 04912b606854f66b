/**
 * The recording proxy: a provider's address on this machine. What it is asked goes to one of a fixed list of upstreams and comes back
 * byte for byte; what passed is recorded afterwards, and a recorder that fails changes nothing for the agent.
 */
import http, { type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Upstream } from '../../sources/redirection.ts'
import type { Session } from '../../transcript/session.ts'
import { refusalOf } from '../../wire/local-requests.ts'
import { createReporter } from '../report.ts'
import { framingProblem } from './connection-headers.ts'
import { createDelays, type DelaySummary } from './delay.ts'
import { createForwarder, type Watch } from './forward.ts'
import { openRecording, type RecordingOptions } from './recording.ts'
import { toRoute } from './upstreams.ts'

export type ProxyOptions = RecordingOptions & {
  readonly upstreams: ReadonlyMap<string, Upstream>
  /** 0 for one that is free. */
  readonly port?: number
}

export type Proxy = {
  readonly url: string
  readonly port: number
  /** What it costs, as it counts it itself. */
  delays(): DelaySummary
  /** Ends what is open, and every session. */
  close(): Promise<readonly Session[]>
}

/** Answers to whoever wants to know that it is there. */
const HEALTH = '/hansard/health'
/** And to whoever wants to know what it costs. */
const DELAYS = '/hansard/delays'

export async function startProxy({ upstreams, port = 0, ...options }: ProxyOptions): Promise<Proxy> {
  const delays = createDelays()
  const forwarder = createForwarder(delays)
  const report = createReporter(options.onFailure)
  const server = http.createServer({ keepAliveTimeout: 65_000, requestTimeout: 0 }, (request, response) => {
    const refusal = refusalOf(request)
    if (refusal !== undefined) return refuse(response, refusal.status, refusal.message)
    // Codex falls back to HTTP at once. Other upgrades (`h2c`) are optional: the answer comes without.
    if (/websocket/i.test(request.headers.upgrade ?? '')) return refuse(response, 426, 'no WebSocket here')
    if (request.url === HEALTH) return void response.writeHead(200).end('ok\n')
    if (request.url === DELAYS) return void response.writeHead(200, JSON_HEAD).end(said(delays.summary()))
    const route = toRoute(upstreams, request.url ?? '')
    if (route === undefined) return refuse(response, 404, 'no upstream for this path')
    const problem = framingProblem(request)
    if (problem !== undefined) return refuse(response, 400, problem)
    forwarder.forward(request, response, route, guarded(recording.watch(request, route), report.guard))
  })
  server.timeout = 0
  // Node.js would drop headers past the 2,000th, also one that frames the body. Their bytes are limited.
  server.maxHeadersCount = 0
  server.on('connect', (_, socket) => void socket.end('HTTP/1.1 405 Method Not Allowed\r\n\r\n'))
  server.on('clientError', (_, socket) => void socket.destroy())
  await listen(server, port)
  const recording = openRecording(options)
  await recording.ready
  const bound = (server.address() as AddressInfo).port
  return {
    url: `http://127.0.0.1:${bound}`,
    port: bound,
    delays: delays.summary,
    async close() {
      await new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
      forwarder.close()
      // Those that were open break off.
      await new Promise((done) => void setImmediate(done))
      return recording.close()
    },
  }
}

const JSON_HEAD = { 'content-type': 'application/json' }

function said(summary: DelaySummary): string {
  return `${JSON.stringify({ unit: 'µs', ...summary })}\n`
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

/** Closes the connection: what is left of a refused body must not be read as a request. */
function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { connection: 'close' }).end(`hansard: ${message}\n`)
}

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
