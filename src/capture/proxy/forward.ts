/**
 * One request, passed on byte for byte. What arrives is written to the other side in the same turn, before anybody else sees it: no
 * re-encoding, no waiting, no time limits of our own. A reader that is slow holds up the writer behind it and nothing else; a side that
 * breaks off makes the other break off too. Whoever watches gets the same bytes afterwards, and cannot get in the way.
 */
import http, { type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import https from 'node:https'
import { toPairs, toUpstream, withoutConnection } from './connection-headers.ts'
import type { Delays } from './delay.ts'
import { createRelay, type Relay } from './relay.ts'
import type { Route } from './upstreams.ts'

/** What is told of a call as it goes by, in this order. `request` and `chunk` must not keep what they are given beyond the call. */
export type Watch = {
  readonly request: (chunk: Buffer) => void
  /** All of the request has been passed on. */
  readonly asked: () => void
  readonly response: (answer: IncomingMessage) => void
  readonly chunk: (chunk: Buffer) => void
  readonly ended: () => void
  /** Instead of `ended`: who broke off, and why. */
  readonly broken: (by: 'client' | 'upstream', reason: string) => void
}

export type Forwarder = {
  forward(request: IncomingMessage, response: ServerResponse, route: Route, watch: Watch): void
  /** Connections that are kept for the next request. */
  close(): void
}

/** A connection that was kept may have been closed at the other end: one that is a few seconds old hardly ever was. */
const KEPT_MS = 4000
const NOTHING = Buffer.alloc(0)
/** Of a request, before whoever sends it has to wait: to stop and to start again takes longer than most requests have bytes. */
const MOST_UNSENT = 512 * 1024
/** Of a request, held to ask again on a new connection when a kept one turned out to be gone. */
const MOST_HELD = 1024 * 1024

/** `delays`: of the parts of answers. */
export function createForwarder(delays: Delays): Forwarder {
  const options = { keepAlive: true, maxSockets: Infinity, maxFreeSockets: 256, timeout: KEPT_MS }
  const agents = { 'http:': new http.Agent(options), 'https:': new https.Agent(options) }
  const ask = (request: IncomingMessage, { upstream, path }: Route, isFresh: boolean): ClientRequest => {
    const { url } = upstream
    const isSecure = url.protocol === 'https:'
    return (isSecure ? https : http).request({
      agent: isFresh ? false : agents[isSecure ? 'https:' : 'http:'],
      // Of an IPv6 address the brackets belong to the URL.
      hostname: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port,
      method: request.method,
      path,
      setHost: false,
      headers: toUpstream(request.rawHeaders, url.host) as unknown as Record<string, string>,
    })
  }
  return {
    forward(request, response, route, watch) {
      pass({ request, response, watch, delays, ask: (isFresh) => ask(request, route, isFresh) })
    },
    close() {
      agents['http:'].destroy()
      agents['https:'].destroy()
    },
  }
}

type Passing = {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly watch: Watch
  readonly delays: Delays
  readonly ask: (isFresh: boolean) => ClientRequest
}

function pass({ request, response, watch, delays, ask }: Passing): void {
  let held: Buffer[] | undefined = []
  let heldBytes = 0
  let isAsked = false
  let isAnswered = false
  let isOver = false
  let sent = ask(false)
  /** What the upstream's socket gave last, and who takes it as it comes. */
  let read: Buffer = NOTHING
  let readAt = 0
  let relay: Relay | undefined
  /** What has come of the answer, and not been told. */
  let tellRest = (): void => {}

  const over = (tell: () => void): void => {
    if (isOver) return
    tellRest()
    isOver = true
    held = undefined
    tell()
  }
  const onError = (error: Error): void => {
    // Of an answer that has begun, its own end says how it went: what an upstream sends after it is nobody's.
    if (isOver || isAnswered) return
    // Nobody can tell a request that was never read from one that was, but on a kept connection that closed it was not.
    if (sent.reusedSocket && isGone(error) && held !== undefined) return again(held)
    response.destroy()
    over(() => watch.broken('upstream', error.message))
  }
  /** Before an answer: that it takes a while, and what to load meanwhile. Node.js has answered `expect` itself. */
  const onInformation = ({ statusCode, headers }: http.InformationEvent): void => {
    if (isOver || request.httpVersion === '1.0') return
    if (statusCode === 102) return response.writeProcessing()
    const { link, ...others } = headers
    if (statusCode !== 103 || link === undefined) return
    try {
      response.writeEarlyHints({ ...(others as Record<string, string | string[]>), link })
    } catch {
      // A hint that Node.js does not take for one. The answer comes without.
    }
  }
  const onAnswer = (answer: IncomingMessage): void => {
    isAnswered = true
    held = undefined
    response.sendDate = false
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, withoutConnection(answer.rawHeaders))
    // With the body where that is there already, else before it: a model may think for minutes, and clients time the head.
    let isBegun = false
    setImmediate(() => {
      if (isOver) return
      if (!isBegun) response.flushHeaders()
      tell()
    })
    /** What one read of the socket gave: in one piece it takes a fraction of the work, and leaves in the same turn as each by itself would. */
    let parts: Buffer[] = []
    /** What has been passed on, and is told when it is with the socket. */
    let passed: Buffer[] = []
    let isTold = false
    const passOn = (): void => {
      if (parts.length === 0) return
      const [first] = parts
      const whole = parts.length === 1 && first !== undefined ? first : Buffer.concat(parts)
      if (!response.write(whole)) answer.pause()
      delays.add(performance.now() - readAt)
      // Behind Node.js, which gives it to the socket in a tick of its own.
      if (passed.length === 0) process.nextTick(tell)
      passed = passed.length === 0 ? parts : [...passed, ...parts]
      parts = []
    }
    const tell = (): void => {
      if (isOver) return
      if (!isTold) watch.response(answer)
      isTold = true
      const all = passed
      passed = []
      for (const chunk of all) watch.chunk(chunk)
    }
    tellRest = () => {
      passed = [...passed, ...parts]
      tell()
    }
    relay = createRelay({
      answer,
      response,
      read,
      self: onRead,
      written: () => delays.add(performance.now() - readAt),
      tell(part) {
        isBegun = true
        if (isTold) watch.chunk(part)
        else passed.push(part)
      },
    })
    if (relay === undefined)
      answer.on('data', (chunk: Buffer) => {
        isBegun = true
        if (parts.push(chunk) === 1) process.nextTick(passOn)
      })
    response.on('drain', () => answer.resume())
    /** Broken off here as it was there, never ended as if it were whole, and after what came before. */
    const breakOff = (reason: string): void => {
      response.flushHeaders()
      setImmediate(() => response.destroy())
      over(() => watch.broken('upstream', reason))
    }
    answer.on('end', () => {
      passOn()
      if (relay?.isOver() === false) return breakOff('its chunks did not end where it did')
      if (relay === undefined && answer.rawTrailers.length > 0)
        response.addTrailers(toPairs(answer.rawTrailers))
      response.end()
      over(() => watch.ended())
    })
    answer.on('error', (error) => {
      passOn()
      breakOff(error.message)
    })
  }
  const onRead = (bytes: Buffer): void => {
    read = bytes
    readAt = performance.now()
    relay?.pass(bytes)
  }
  const listen = (): void => {
    const own = sent
    own.on('socket', (socket) => {
      // Before the parser of Node.js, which takes the framing off.
      socket.prependListener('data', onRead)
      own.once('close', () => socket.off('data', onRead))
    })
    own.on('information', onInformation)
    own.on('response', onAnswer)
    own.on('error', (error) => own === sent && onError(error))
    own.on('drain', () => request.resume())
  }
  const again = (chunks: readonly Buffer[]): void => {
    sent = ask(true)
    listen()
    for (const chunk of chunks) sent.write(chunk)
    if (isAsked) sent.end()
  }

  listen()
  request.on('data', (chunk: Buffer) => {
    if (!sent.write(chunk) && sent.writableLength > MOST_UNSENT) request.pause()
    heldBytes += chunk.length
    if (heldBytes > MOST_HELD) held = undefined
    else held?.push(chunk)
    watch.request(chunk)
  })
  request.on('end', () => {
    isAsked = true
    sent.end()
    watch.asked()
  })
  response.on('close', () => {
    if (response.writableFinished) return
    // Nobody waits for the answer any more: the upstream need not go on either.
    sent.destroy()
    over(() => watch.broken('client', 'the client closed the connection'))
  })
}

/** What a connection that was closed meanwhile looks like. */
function isGone(error: Error): boolean {
  const code = 'code' in error ? error.code : undefined
  return code === 'ECONNRESET' || code === 'EPIPE' || error.message === 'socket hang up'
}
