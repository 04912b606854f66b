/** A request as it arrives: read whole, within bounds, unpacked and parsed. */
import type { IncomingMessage } from 'node:http'
import { createDecoding } from '../sources/decoding.ts'
import type { Json } from '../transcript/json.ts'
import { createBodyReader, type BodyReader } from '../wire/growing-body.ts'

export type LiveRequest = {
  readonly method: string
  /** Without its query. */
  readonly path: string
  readonly url: string
  /** Undefined for what is no JSON. */
  readonly body: Json | undefined
  readonly bytes: Buffer
}

/** Of one request; clients send less. */
const MOST_BODY = 64 * 1024 * 1024

/** Undefined for one that is too long, or that breaks off. */
export async function readRequest(
  request: IncomingMessage,
  reader: BodyReader = createBodyReader(),
): Promise<LiveRequest | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      length += chunk.length
      if (length > MOST_BODY) return undefined
      chunks.push(chunk)
    }
  } catch {
    return undefined
  }
  const url = request.url ?? '/'
  const bytes = Buffer.concat(chunks)
  const encoding = request.headers['content-encoding']
  const plain = encoding === undefined ? bytes : await unpacked(bytes, encoding)
  return {
    method: request.method ?? 'GET',
    path: url.split('?', 1)[0] as string,
    url,
    body: reader.read(plain),
    bytes,
  }
}

async function unpacked(bytes: Buffer, encoding: string): Promise<Buffer> {
  const parts: Buffer[] = []
  const decoding = createDecoding(encoding, (chunk) => parts.push(Buffer.from(chunk)))
  decoding.push(bytes)
  await decoding.end()
  return Buffer.concat(parts)
}
