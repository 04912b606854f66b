/**
 * The app on a port: bound to one address, within limits of size and time, every request through the door. The page exchanges the key
 * in its address for a pass here, and no route sees a pass.
 */
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { fromSystemError, HansardError, systemCode } from '../errors.ts'
import type { App } from './context.ts'
import { SECURITY_HEADERS } from './headers.ts'
import { isOfOtlp, statusBody } from './otlp-answers.ts'
import { isOfFlowStudio, refuse, type Door, type Refusal } from './safety.ts'
import { PASS, type Tokens } from './session-token.ts'

export type ListenOptions = {
  readonly host: string
  /** 0: any that is free. */
  readonly port: number
  /** Names under which this server may be asked, without port. */
  readonly names: readonly string[]
  /** Given the port, at which passes are good. */
  readonly tokens: (port: () => number) => Tokens
  /** A key was used: who wants to open another browser needs a new one. */
  readonly onKeyUsed?: () => void
  readonly limits?: Partial<Limits>
}

/** Milliseconds, and bytes. */
export type Limits = {
  readonly headersMs: number
  readonly requestMs: number
  readonly idleMs: number
  readonly headerBytes: number
  readonly connections: number
}

const LIMITS: Limits = {
  headersMs: 10_000,
  requestMs: 30_000,
  idleMs: 5000,
  headerBytes: 16 * 1024,
  connections: 4096,
}

const MOST_HEADERS = 100

export type Listening = {
  readonly port: number
  readonly origin: string
  readonly tokens: Tokens
  /** Ends all connections. */
  close(): Promise<void>
}

export async function listen(app: App, options: ListenOptions): Promise<Listening> {
  const limits = { ...LIMITS, ...options.limits }
  let port = options.port
  const tokens = options.tokens(() => port)
  const names = new Set<string>()
  const door: Door = { hosts: names, isKnown: (headers, url) => tokens.isKnown(headers, url) }
  const routed = getRequestListener(app.fetch, { overrideGlobalObjects: false })
  const isLetIn = (request: IncomingMessage, response: ServerResponse): boolean => {
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value)
    const refusal = refuse(askedBy(request), door)
    if (refusal !== undefined) sayNo(request, response, refusal)
    else if (!takeKey(request, response, tokens, options.onKeyUsed)) {
      request.url = withoutPass(request.url ?? '')
      return true
    }
    return false
  }
  const server = http.createServer(
    {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      keepAliveTimeout: limits.idleMs,
      maxHeaderSize: limits.headerBytes,
      connectionsCheckingInterval: Math.min(1000, limits.headersMs),
      // A lone name in a header is how requests are smuggled.
      insecureHTTPParser: false,
      requireHostHeader: false,
    },
    (request, response) => {
      if (isLetIn(request, response)) void routed(request, response)
    },
  )
  // Who asks first whether to send the rest is told before sending it.
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    if (!isLetIn(request, response)) return
    response.writeContinue()
    void routed(request, response)
  })
  server.maxHeadersCount = MOST_HEADERS
  server.maxConnections = limits.connections
  server.on('clientError', sayMalformed)
  await bind(server, options)
  // The address of a server that listens to one is never a pipe's name.
  port = (server.address() as AddressInfo).port
  for (const name of options.names) names.add(`${name.toLowerCase()}:${port}`)
  return {
    port,
    origin: `http://${options.names[0] ?? options.host}:${port}`,
    tokens,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function bind(server: http.Server, { host, port }: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      const isTaken = systemCode(error) === 'EADDRINUSE'
      const what = `${host}:${port}`
      reject(
        isTaken
          ? new HansardError('not-permitted', `${what} is in use`, {
              hint: 'choose another with --port, or 0 for any',
            })
          : fromSystemError(error, what),
      )
    })
    server.listen({ host, port }, resolve)
  })
}

function askedBy({ method = '', url = '', headers, rawHeaders }: IncomingMessage) {
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length
  // Node.js leaves out what is beyond: an `Origin` may have been among it.
  return { method, url, headers, hosts, hasTooMany: rawHeaders.length >= MOST_HEADERS * 2 }
}

function sayNo(request: IncomingMessage, response: ServerResponse, refusal: Refusal): void {
  const { status, code, message, hint, headers } = refusal
  const more = hint === undefined ? {} : { hint }
  const { type, bytes: body } = isOfOtlp(request.url ?? '')
    ? statusBody(
        request.headers['content-type'],
        status,
        hint === undefined ? message : `${message}: ${hint}`,
      )
    : {
        type: 'application/json; charset=utf-8',
        bytes: JSON.stringify(
          isOfFlowStudio(request.url ?? '')
            ? { error: message, code, ...more }
            : { error: { code, message, ...more } },
        ),
      }
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    ...headers,
  })
  response.end(request.method === 'HEAD' ? undefined : body)
  if (headers?.['connection'] !== 'close') return void request.resume()
  // Said before the line is cut: who still sends would else hear nothing.
  response.on('finish', () => setTimeout(() => request.destroy(), 100).unref())
}

/** The page asks for its pass with the key of its address; true when that was asked. */
function takeKey(
  request: IncomingMessage,
  response: ServerResponse,
  tokens: Tokens,
  onUsed: (() => void) | undefined,
): boolean {
  const [path, query] = (request.url ?? '').split('?', 2)
  if (path !== '/key' || request.method !== 'GET') return false
  const pass = tokens.redeem(new URLSearchParams(query).get('token') ?? '')
  if (pass === undefined) sayNo(request, response, USED_UP)
  else {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ [PASS]: pass }))
    onUsed?.()
  }
  return true
}

function withoutPass(url: string): string {
  const [path = '', query] = url.split('?', 2)
  if (query === undefined || !query.includes(PASS)) return url
  const rest = new URLSearchParams(query)
  rest.delete(PASS)
  return rest.size === 0 ? path : `${path}?${rest.toString()}`
}

const USED_UP: Refusal = {
  status: 401,
  code: 'no-token',
  message: 'this address was used before',
  hint: 'hansard serve prints a new one whenever one is used',
}

/** What is not HTTP, is too long, or takes too long. */
function sayMalformed(error: Error, socket: Socket): void {
  const code = systemCode(error)
  const [status, said] =
    code === 'HPE_HEADER_OVERFLOW'
      ? ['431 Request Header Fields Too Large', 'the headers are too long']
      : code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ['408 Request Timeout', 'the request took too long']
        : ['400 Bad Request', 'this is not a request']
  if (!socket.writable) return void socket.destroy()
  const body = JSON.stringify({ error: { code: 'invalid-argument', message: said } })
  const headers = Object.entries(SECURITY_HEADERS).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(
    `HTTP/1.1 ${status}\r\n${headers.join('')}connection: close\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
}
