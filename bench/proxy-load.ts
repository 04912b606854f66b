/**
 * What asks the proxy, and how it is timed. `ask` is a client as agents have one; `rate` speaks to bare sockets, so that on a machine of
 * two processors nearly all of them is left for what is measured.
 */
import http from 'node:http'
import net from 'node:net'

export type Way = { readonly url: string; readonly headers?: Readonly<Record<string, string>> }

/** By name. */
export type Ways = Readonly<Record<string, Way>>

export type Asked = { readonly firstMs: number; readonly ms: number; readonly bytes: number }

/** Calls that were made, by the address that they went to. */
export const made = new Map<string, number>()

const agent = new http.Agent({ keepAlive: true, maxSockets: 1000 })
let serial = 0

type AskOptions = {
  /** Tells the conversations apart; each question is new. */
  readonly agentAt?: number
  /** Chunks of the answer; 0 for one that comes whole. */
  readonly chunks?: number
  /** Milliseconds between them. */
  readonly every?: number
  /** Milliseconds behind the beat of the provider, which all its streams share; without it, from when it was asked. */
  readonly phase?: number
  readonly onChunk?: (chunk: Buffer) => void
}

export function ask(
  { url, headers }: Way,
  size: number,
  { agentAt = 0, chunks = 0, every = 0, phase, onChunk }: AskOptions = {},
): Promise<Asked> {
  const body = bodyOf(size, chunks > 0)
  count(url, 1)
  return new Promise((resolve, reject) => {
    const began = performance.now()
    let firstMs: number | undefined
    let bytes = 0
    const request = http.request(
      `${url}/v1/messages`,
      {
        method: 'POST',
        agent,
        headers: {
          ...headers,
          ...(chunks > 0 && { 'x-stream': chunks }),
          ...(every > 0 && { 'x-every': every }),
          ...(phase !== undefined && { 'x-phase': phase }),
          ...ownHeaders(agentAt),
          'content-length': Buffer.byteLength(body),
        },
      },
      (response) => {
        if (response.statusCode !== 200) reject(new Error(`${url} answers ${response.statusCode}`))
        response.on('data', (chunk: Buffer) => {
          firstMs ??= performance.now() - began
          bytes += chunk.length
          onChunk?.(chunk)
        })
        response.on('end', () =>
          resolve({ firstMs: firstMs ?? Number.NaN, ms: performance.now() - began, bytes }),
        )
        response.on('error', reject)
      },
    )
    request.on('error', reject)
    request.end(body)
  })
}

const AT_ONCE = 50

/** Requests a second, over as many connections as there are at once. Answers say how long they are. */
export async function rate(way: Way, calls: number): Promise<number> {
  const { hostname, port, pathname } = new URL(way.url)
  const path = `${pathname === '/' ? '' : pathname}/v1/messages`
  let left = calls
  count(way.url, calls)
  const began = performance.now()
  const work = (agentAt: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = net.connect(Number(port), hostname)
      const own = Object.entries(ownHeaders(agentAt)).map(([name, value]) => `${name}: ${value}\r\n`)
      const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\n${own.join('')}`
      const next = (): void => {
        if (left === 0) return void socket.end(resolve)
        left -= 1
        const body = bodyOf(2000, false)
        socket.write(`${head}content-length: ${body.length}\r\n\r\n${body}`)
      }
      let got = ''
      socket.setNoDelay(true)
      socket.on('connect', next)
      socket.on('error', reject)
      socket.on('data', (chunk) => {
        got += chunk.toString('latin1')
        const end = got.indexOf('\r\n\r\n')
        const length = end === -1 ? undefined : /content-length: (\d+)/i.exec(got)?.[1]
        if (length === undefined || got.length < end + 4 + Number(length)) return
        got = ''
        next()
      })
    })
  await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => work(n + 1)))
  return (calls / (performance.now() - began)) * 1000
}

function count(url: string, calls: number): void {
  const { origin } = new URL(url)
  made.set(origin, (made.get(origin) ?? 0) + calls)
}

/** As an agent asks. */
function bodyOf(size: number, stream: boolean): string {
  serial += 1
  return JSON.stringify({
    model: 'claude-sonnet-4-5',
    max_tokens: 1000,
    stream,
    tools: [{ name: 'Bash', input_schema: { type: 'object' } }],
    messages: [{ role: 'user', content: `${serial} ${'x'.repeat(size)}` }],
  })
}

function ownHeaders(agentAt: number): Record<string, string> {
  return {
    'user-agent': 'claude-cli/2.1.0',
    'x-claude-code-session-id': `00000000-0000-4000-8000-${String(agentAt).padStart(12, '0')}`,
  }
}
