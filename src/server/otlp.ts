/**
 * OTLP over HTTP: what programs export of their agents, taken in as `POST /v1/traces` and `/v1/logs`, in JSON or protobuf, packed or
 * not, and answered as the protocol says. What is held of it at once is bounded; who is to wait is told so, and sends it again.
 */
import { promisify } from 'node:util'
import { gunzip, inflate, type ZlibOptions } from 'node:zlib'
import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import type { OtlpSink } from '../capture/otlp/otlp-sink.ts'
import { messageOf } from '../errors.ts'
import { parseJson, type Json, type JsonObject } from '../transcript/json.ts'
import { LOGS, LOGS_ANSWER, TRACES, TRACES_ANSWER } from '../wire/otlp-schema.ts'
import { readLogs, readSpans } from '../wire/otlp.ts'
import { decodeProtobuf, type Schema } from '../wire/protobuf.ts'
import type { App } from './context.ts'
import { isProtobuf, MOST_OTLP_BODY, otlpBody, statusBody } from './otlp-answers.ts'

/** Bytes of an export once it is unpacked. */
const MOST_UNPACKED = 64 * 1024 * 1024
/** Bytes of exports that are on their way in. */
const MOST_HELD = 128 * 1024 * 1024

type Signal = {
  readonly schema: Schema
  readonly answer: Schema
  readonly rejected: string
  /** How many were not taken, and why; undefined for a body that is no such export. */
  readonly take: (sink: OtlpSink, body: Json) => Promise<Taken | undefined>
}

type Taken = { readonly isSafe: boolean; readonly rejected: number; readonly why?: string }

const SIGNALS: { readonly [path: string]: Signal } = {
  '/v1/traces': { schema: TRACES, answer: TRACES_ANSWER, rejected: 'rejectedSpans', take: takeSpans },
  '/v1/logs': { schema: LOGS, answer: LOGS_ANSWER, rejected: 'rejectedLogRecords', take: takeLogs },
}

export function registerOtlp(app: App, sink: OtlpSink | undefined, onError: (error: unknown) => void): void {
  let held = 0
  let last: Promise<unknown> = Promise.resolve()
  /** Unpacked and read one after the other: each may be large. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = last.then(work)
    last = next.catch(() => {})
    return next
  }
  for (const [path, signal] of Object.entries(SIGNALS))
    app.post(path, async (c) => {
      if (sink === undefined)
        return refuse(c, 403, 'this server takes no exports: start it with hansard serve --otlp')
      const size = Math.min(Number(c.req.header('content-length') ?? MOST_OTLP_BODY), MOST_OTLP_BODY)
      if (held + size > MOST_HELD) return refuse(c, 503, 'too much is on its way in')
      held += size
      try {
        const packed = await bodyOf(c)
        if (packed === undefined) return refuse(c, 413, `an export may have ${MOST_OTLP_BODY} bytes`)
        return await inTurn(() => takeExport(c, sink, signal, packed))
      } catch (error) {
        // Who has gone away hears nothing; who is there sends it again.
        if (!(c.env as HttpBindings).incoming.destroyed) onError(error)
        return refuse(c, 503, 'it could not be recorded')
      } finally {
        held -= size
      }
    })
  app.post('/v1/*', (c) =>
    refuse(c, 404, 'only spans and log records of models are kept: set OTEL_METRICS_EXPORTER=none'),
  )
  app.all('/v1/*', (c) => refuse(c, 405, 'exports are sent with POST'))
}

async function takeExport(c: Context, sink: OtlpSink, signal: Signal, packed: Buffer): Promise<Response> {
  const encoding = (c.req.header('content-encoding') ?? 'identity').toLowerCase()
  const unpack = UNPACKED.get(encoding)
  if (unpack === undefined) return refuse(c, 415, 'exports are packed with gzip or deflate, or not at all')
  const bytes = await unpack(packed)
  if (bytes === 'too-large') return refuse(c, 413, `an export may have ${MOST_UNPACKED} bytes once unpacked`)
  const type = c.req.header('content-type')
  const body = isProtobuf(type)
    ? bytes && decodeProtobuf(bytes, signal.schema)
    : bytes && parseJson(bytes.toString('utf8'))
  const taken = body === undefined ? undefined : await signal.take(sink, body)
  if (taken === undefined) return refuse(c, 400, 'this is no export in the form that it says it is')
  // It is kept, and tried again; whoever sends it once more is told when it is there.
  if (!taken.isSafe) return refuse(c, 503, 'the disk would not have it yet')
  const { rejected, why } = taken
  const answer: JsonObject =
    rejected > 0 && why !== undefined
      ? { partialSuccess: { [signal.rejected]: rejected, errorMessage: why } }
      : {}
  return reply(c, 200, otlpBody(type, answer, signal.answer))
}

async function takeSpans(sink: OtlpSink, body: Json): Promise<Taken | undefined> {
  const found = readSpans(body)
  if (found === undefined) return undefined
  const isSafe = await sink.spans(found.items)
  return { isSafe, rejected: found.malformed, why: 'spans without a valid trace id and span id' }
}

async function takeLogs(sink: OtlpSink, body: Json): Promise<Taken | undefined> {
  const found = readLogs(body)
  if (found === undefined) return undefined
  const { isSafe, others } = await sink.logs(found.items)
  const why = 'log records that are no events of GenAI (gen_ai.*) are not kept'
  return { isSafe, rejected: found.malformed + others, why }
}

/** Undefined for one that is too large: the rest of it is let go by, and then the line is cut. */
function bodyOf(c: Context): Promise<Buffer | undefined> {
  const { incoming, outgoing } = c.env as HttpBindings
  const chunks: Buffer[] = []
  let size = 0
  return new Promise((resolve, reject) => {
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= MOST_OTLP_BODY) return void chunks.push(chunk)
      if (size - chunk.length > MOST_OTLP_BODY) return
      chunks.length = 0
      outgoing.once('finish', () => setTimeout(() => incoming.destroy(), 100).unref())
      resolve(undefined)
    })
    incoming.once('end', () => resolve(Buffer.concat(chunks)))
    incoming.once('error', reject)
    incoming.once('close', () => reject(new Error('the export broke off')))
  })
}

type Unpack = (packed: Buffer) => Promise<Buffer | 'too-large' | undefined>

/** Undefined for what is not packed so. */
const unpacking =
  (unpack: (packed: Buffer, options: ZlibOptions) => Promise<Buffer>): Unpack =>
  async (packed) => {
    try {
      return await unpack(packed, { maxOutputLength: MOST_UNPACKED })
    } catch (error) {
      const isTooLarge = error instanceof RangeError || messageOf(error).includes('larger than')
      return isTooLarge ? 'too-large' : undefined
    }
  }

/** By the word for it: exporters for Python can be told to deflate. */
const UNPACKED: ReadonlyMap<string, Unpack> = new Map([
  ['identity', async (packed: Buffer) => packed],
  ['gzip', unpacking(promisify(gunzip))],
  ['deflate', unpacking(promisify(inflate))],
])

type Refused = 400 | 403 | 404 | 405 | 413 | 415 | 503

function refuse(c: Context, status: Refused, message: string): Response {
  const body = statusBody(c.req.header('content-type'), status, message)
  return reply(c, status, body, {
    ...(status === 503 && { 'retry-after': '2' }),
    ...(status === 413 && { connection: 'close' }),
  })
}

function reply(
  c: Context,
  status: 200 | Refused,
  { type, bytes }: ReturnType<typeof otlpBody>,
  headers: Record<string, string> = {},
): Response {
  return c.body(Uint8Array.from(bytes), status, { 'content-type': type, ...headers })
}
