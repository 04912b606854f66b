/** What somebody is about to ask `fetch` for, where it is a call that can be recorded. What is asked is never used up by looking at it. */
import { parseJson, type Json } from '../../transcript/json.ts'
import { createDecoding } from '../../sources/decoding.ts'
import type { CallStart } from '../calls/call.ts'
import type { Headers as PlainHeaders } from '../calls/client.ts'
import { toApi } from '../../wire/call-paths.ts'
import { observeStream } from './observe-stream.ts'

export type WatchedRequest = {
  /** What to call `fetch` with. */
  readonly args: readonly unknown[]
  /** To be asked for after that. */
  readonly start: () => CallStart | Promise<CallStart>
  readonly signal: AbortSignal | undefined
}

type Init = {
  readonly method?: string
  readonly headers?: ConstructorParameters<typeof Headers>[0]
  readonly body?: unknown
  readonly signal?: AbortSignal | null
}

/** Of one request, held until it is parsed; a longer one is passed on and not read. */
const MOST_BODY = 64 * 1024 * 1024

/** Undefined for whatever is no call to an API that we know: it is none of our business. */
export function readRequest(args: readonly unknown[]): WatchedRequest | undefined {
  const [input, given] = args
  const request = input instanceof Request ? input : undefined
  const init: Init = typeof given === 'object' && given !== null ? given : {}
  const url = toUrl(request?.url ?? input)
  const { api, model } = toApi(url?.pathname ?? '')
  const method = init.method ?? request?.method ?? 'GET'
  if (url === undefined || api === undefined || method.toUpperCase() !== 'POST') return undefined
  const headers: PlainHeaders = Object.fromEntries(new Headers(init.headers ?? request?.headers))
  const toStart = (body: Json): CallStart => ({
    api,
    body,
    headers,
    upstream: url.host,
    ...(model !== undefined && { model }),
  })
  const signal = init.signal ?? request?.signal ?? undefined
  const encoding = typeof headers['content-encoding'] === 'string' ? headers['content-encoding'] : undefined
  if (typeof init.body === 'string') {
    const text = init.body
    return { args, signal, start: () => toStart(parseJson(text) ?? null) }
  }
  if (init.body instanceof ReadableStream) {
    const chunks: Buffer[] = []
    const { promise, resolve } = withResolvers()
    const body = observeStream(init.body as ReadableStream<Uint8Array>, {
      chunk: (bytes) => void chunks.push(bytes),
      ended: async () => resolve(),
      failed: resolve,
      canceled: resolve,
    })
    return {
      args: [input, { ...init, body }, ...args.slice(2)],
      signal,
      start: async () => {
        await promise
        return toStart(await unpacked(Buffer.concat(chunks), encoding))
      },
    }
  }
  // Of a request that brings its own body there is a copy before it is used up.
  const copy = init.body === undefined && request ? request.clone() : undefined
  const bytes = (copy ? copy.blob().then(toBytes) : toBytes(init.body)).catch(() => new Uint8Array())
  return { args, signal, start: async () => toStart(await unpacked(Buffer.from(await bytes), encoding)) }
}

function toUrl(input: unknown): URL | undefined {
  if (input instanceof URL) return input
  if (typeof input !== 'string') return undefined
  try {
    return new URL(input)
  } catch {
    return undefined
  }
}

/** Nothing, of a body whose bytes are made on the way: forms and the like are no calls. */
async function toBytes(body: unknown): Promise<Uint8Array> {
  if (body instanceof ArrayBuffer) return new Uint8Array(body.slice())
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength).slice()
  if (body instanceof Blob) return new Uint8Array(await body.arrayBuffer())
  return new Uint8Array()
}

/** Null for what is no JSON, and for what is too long to be read. */
async function unpacked(bytes: Buffer, encoding: string | undefined): Promise<Json> {
  if (bytes.length > MOST_BODY) return null
  if (encoding === undefined) return parseJson(bytes.toString()) ?? null
  const chunks: Buffer[] = []
  const decoding = createDecoding(encoding, (chunk) => void chunks.push(Buffer.from(chunk)))
  decoding.push(bytes)
  await decoding.end()
  return parseJson(Buffer.concat(chunks).toString()) ?? null
}

function withResolvers(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {}
  const promise = new Promise<void>((done) => (resolve = done))
  return { promise, resolve }
}
