/** Headers of a message without those of its connection (hop-by-hop), in the order and spelling in which they came. */
import type { IncomingMessage } from 'node:http'

/** Headers of one connection (RFC 9110 §7.6.1). Node.js has answered `expect`. */
const OF_A_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'transfer-encoding',
  'upgrade',
  'expect',
])

/** What ends a request's body. Whoever names one of these in `Connection` wants it dropped on the way. */
const FRAMING = ['content-length', 'transfer-encoding', 'host']
const WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD', 'TRACE'])

type Head = Pick<IncomingMessage, 'method' | 'httpVersion' | 'headers'>

/**
 * Why a request's body cannot be framed so that every server reads the same end of it; undefined when it can. Without its framing, an
 * upstream would read the body as the next request, and its answer would go to another client.
 */
export function framingProblem({ method = '', httpVersion, headers }: Head): string | undefined {
  const { connection = '', 'content-length': length, 'transfer-encoding': encoding } = headers
  if (optionsOf(connection).some((name) => FRAMING.includes(name)))
    return 'Connection names what frames the body'
  if (encoding !== undefined && (encoding.toLowerCase() !== 'chunked' || httpVersion !== '1.1'))
    return 'Transfer-Encoding is not chunked'
  if (encoding !== undefined && length !== undefined) return 'both Transfer-Encoding and Content-Length'
  const hasBody = encoding !== undefined || Number(length ?? 0) > 0
  return hasBody && WITHOUT_BODY.has(method) ? `${method} has no body` : undefined
}

/** Order, case and repetition as they came; the body framed as it was. */
export function toUpstream(raw: readonly string[], host: string): string[] {
  const kept = withoutConnection(raw)
  const own = kept.findIndex((name, at) => at % 2 === 0 && name.toLowerCase() === 'host')
  if (own === -1) kept.unshift('Host', host)
  else kept[own + 1] = host
  // Node.js frames by itself only what most methods send.
  if (raw.some((name, at) => at % 2 === 0 && name.toLowerCase() === 'transfer-encoding'))
    kept.push('Transfer-Encoding', 'chunked')
  return kept
}

export function withoutConnection(raw: readonly string[]): string[] {
  const named = new Set<string>()
  for (let at = 0; at < raw.length; at += 2)
    if (raw[at]?.toLowerCase() === 'connection')
      for (const one of optionsOf(raw[at + 1] ?? '')) named.add(one)
  const kept: string[] = []
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] as string
    const lower = name.toLowerCase()
    // A length is never dropped: it frames the body.
    if (OF_A_CONNECTION.has(lower) || (named.has(lower) && lower !== 'content-length')) continue
    kept.push(name, raw[at + 1] as string)
  }
  return kept
}

function optionsOf(connection: string): readonly string[] {
  return connection.split(',').map((one) => one.trim().toLowerCase())
}

export function toPairs(raw: readonly string[]): [string, string][] {
  const pairs: [string, string][] = []
  for (let at = 0; at < raw.length; at += 2) pairs.push([raw[at] as string, raw[at + 1] as string])
  return pairs
}
