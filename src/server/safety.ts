/**
 * The door that every request comes through before any route sees it: is it meant for this server, does it come from this server's
 * own page or from a program with the token, is its path a plain one. Says no with a reason; builds nothing from what it is given.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { isOfAnotherOrigin } from '../wire/local-requests.ts'
import { decodedOnce, decodings } from '../wire/safe-path.ts'
import { isOfOtlp, isProtobuf, MOST_OTLP_BODY } from './otlp-answers.ts'

export type Asked = {
  readonly method: string
  /** As it stands in the first line of the request. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  /** How often the request says `Host`. */
  readonly hosts: number
  /** It has more headers than are looked at: what is in the others is not known. */
  readonly hasTooMany?: boolean
}

export type Refusal = {
  readonly status: 400 | 401 | 403 | 405 | 411 | 413 | 414 | 431
  readonly code: string
  readonly message: string
  readonly hint?: string
  readonly headers?: { readonly [name: string]: string }
}

export type Door = {
  /** `127.0.0.1:4747`, `localhost:4747`, in lower case: names under which this server may be asked. */
  readonly hosts: ReadonlySet<string>
  /** Whether the request carries the token, or a page's pass. */
  readonly isKnown: (headers: IncomingHttpHeaders, url: string) => boolean
}

/** Bytes of what a request may carry. */
export const MOST_BODY = 1024 * 1024
const LONGEST_URL = 16 * 1024

export function refuse(asked: Asked, door: Door): Refusal | undefined {
  return (
    refuseHeaders(asked) ??
    refuseHost(asked, door) ??
    refusePath(asked.url) ??
    refuseMethod(asked) ??
    refuseOrigin(asked, door) ??
    refuseBody(asked) ??
    refuseStranger(asked, door)
  )
}

/** No other protocol is spoken here: pages open sockets to other servers without asking anybody. */
function refuseHeaders({ headers, hasTooMany = false }: Asked): Refusal | undefined {
  if (hasTooMany)
    return { status: 431, code: 'too-large', message: 'there are too many headers', headers: CLOSE }
  if (!/websocket/i.test(headers.upgrade ?? '')) return undefined
  return {
    status: 400,
    code: 'invalid-argument',
    message: 'there are no sockets here',
    hint: 'GET /api/v1/live tells what happens',
    headers: CLOSE,
  }
}

/** A name that somebody else has made to point here is not ours: without this, their page could read everything. */
function refuseHost({ headers, hosts }: Asked, door: Door): Refusal | undefined {
  if (hosts === 1 && door.hosts.has((headers.host ?? '').toLowerCase())) return undefined
  const [ours = ''] = door.hosts
  return {
    status: 403,
    code: 'wrong-host',
    message: 'this server does not go by that name',
    hint: `ask for http://${ours}/`,
  }
}

/** Plain paths only, also once decoded, and decoded again: whoever looks at them later sees what was checked here. */
function refusePath(url: string): Refusal | undefined {
  if (url.length > LONGEST_URL) return { status: 414, code: 'too-large', message: 'the address is too long' }
  const path = url.split('?', 1)[0] ?? ''
  if (path.startsWith('/') && isPlain(path)) return undefined
  return {
    status: 400,
    code: 'unsafe-path',
    message: 'the path is not a plain one',
    hint: 'paths have no empty parts, dots alone, backslashes or control characters, encoded or not',
  }
}

function isPlain(path: string): boolean {
  const all = decodings(path)
  // A hidden slash makes parts that no route has seen.
  const parts = path.split('/').length
  // oxlint-disable-next-line no-control-regex
  const isBad = /[\\\u0000-\u001f\u007f]|\/\/|(?:^|\/)\.{1,2}(?:\/|$)/
  return all?.every((text) => !isBad.test(text) && text.split('/').length === parts) ?? false
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST'])

function refuseMethod({ method }: Asked): Refusal | undefined {
  if (METHODS.has(method)) return undefined
  return {
    status: 405,
    code: 'not-permitted',
    message: 'this server is read, and asked with GET',
    headers: { allow: 'GET, HEAD, POST' },
  }
}

/** Other pages have no say here, on other ports of this machine neither. Programs send neither header. */
function refuseOrigin(asked: Asked, door: Door): Refusal | undefined {
  if (!isOfAnotherOrigin(asked.headers, (origin) => isOurs(origin, door)) || isVisit(asked)) return undefined
  return {
    status: 403,
    code: 'cross-origin',
    message: 'another page may not ask this server',
    hint: "open this server's own page, or ask from a program",
  }
}

function isOurs(origin: string, { hosts }: Door): boolean {
  return origin.startsWith('http://') && hosts.has(origin.slice('http://'.length).toLowerCase())
}

/** A link that is followed to the page, which has nothing in it: what it shows it has to ask for. */
function isVisit({ method, url, headers }: Asked): boolean {
  return (
    method === 'GET' &&
    headers.origin === undefined &&
    !isOfApi(url) &&
    headers['sec-fetch-mode'] === 'navigate' &&
    headers['sec-fetch-dest'] === 'document'
  )
}

/** Its API has words of its own, also for what is refused. */
export const isOfFlowStudio = (url: string): boolean => /^\/api\/(?!v1(?:[/?]|$))/.test(url)

function refuseBody({ method, url, headers }: Asked): Refusal | undefined {
  const isExport = isOfOtlp(url)
  const most = isExport ? MOST_OTLP_BODY : MOST_BODY
  const length = headers['content-length']
  const hasBody = headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
  if (length !== undefined && Number(length) > most)
    return {
      status: 413,
      code: 'too-large',
      message: `a request may carry ${most} bytes`,
      headers: CLOSE,
    }
  if (method !== 'POST' && hasBody)
    return { status: 400, code: 'invalid-argument', message: 'a question has no body', headers: CLOSE }
  // Without its length, how much it is would be known when it is too late. Exports are counted as they come.
  if (headers['transfer-encoding'] !== undefined && !isExport)
    return { status: 411, code: 'invalid-argument', message: 'what is sent says its length', headers: CLOSE }
  // A form on another page can send anything but these.
  const type = headers['content-type']
  const isTyped = /^application\/json(?:;|$)/.test(type ?? '') || (isExport && isProtobuf(type))
  // What asks Flow Studio to execute something is told that nothing is: it often sends nothing.
  const isEmpty = !hasBody && isOfFlowStudio(url)
  if (method === 'POST' && !isTyped && !isEmpty)
    return {
      status: 400,
      code: 'invalid-argument',
      message: 'what is sent is JSON',
      hint: isExport
        ? 'content-type: application/json, or application/x-protobuf'
        : 'content-type: application/json',
    }
  return undefined
}

/** What is still coming is not waited for. */
const CLOSE = { connection: 'close' }

/** The page's own files are the same for everybody. All else is for who has the token. */
function refuseStranger({ url, headers }: Asked, door: Door): Refusal | undefined {
  if (!isOfApi(url) || door.isKnown(headers, url)) return undefined
  return {
    status: 401,
    code: 'no-token',
    message: 'this needs the token of this server',
    hint: 'open the address that hansard serve printed, or send the token as Authorization: Bearer',
    headers: { 'www-authenticate': 'Bearer' },
  }
}

/** By the path as it is routed: nothing in it is hidden any more. */
function isOfApi(url: string): boolean {
  const path = decodedOnce(url.split('?', 1)[0] ?? '') ?? url
  return /^\/api(?:\/|$)/i.test(path) || isOfOtlp(path)
}
