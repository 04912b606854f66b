/**
 * What a provider answers, put together while it arrives: streamed or whole, packed or not, an answer or an error. Nothing in it throws,
 * and what it holds is bounded.
 */
import { parseJson, type Json } from '../../transcript/json.ts'
import { createReassembly, parseMessage } from '../../wire/apis.ts'
import { createHeldBytes } from '../../wire/held-bytes.ts'
import type { WireMessage, WireOptions } from '../../wire/message.ts'
import { envelopeOf, type CallApi } from '../../wire/call-apis.ts'
import type { Headers } from './client.ts'
import { createDecoding } from '../../sources/decoding.ts'
import type { OwnShelf } from './shelves.ts'

export type AnswerHead = { readonly status: number; readonly headers: Headers }

export type Answer = {
  readonly message: WireMessage
  /** Why the copy could not be read to its end, where the client may well have. */
  readonly problem?: string
}

export type AnswerReader = {
  /** The chunk may be used again by whoever gave it. */
  push(chunk: Buffer): void
  /** What has come, once it is unpacked. */
  end(): Promise<Answer>
  /** What has been unpacked so far, for whoever cannot wait. */
  now(): Answer
  /** The same while more comes. Undefined of what comes whole, which is nothing before its end. */
  soFar(): WireMessage | undefined
}

/** As the providers call it. */
const REQUEST_IDS = ['request-id', 'x-request-id', 'x-amzn-requestid']
/** An answer that came whole is held to its end; far above what providers send. */
const MOST_BODY = 64 * 1024 * 1024

/** `shelf`: for what has come of an answer that is not over. */
export function createAnswerReader(
  api: CallApi,
  { status, headers }: AnswerHead,
  shelf?: OwnShelf,
): AnswerReader {
  const requestId = REQUEST_IDS.map((name) => headerOf(headers, name)).find((id) => id !== undefined)
  const options: WireOptions = {
    ...(requestId !== undefined && { requestId }),
    ...(shelf && { shelf }),
  }
  const type = headerOf(headers, 'content-type') ?? ''
  const isStream = /text\/event-stream|vnd\.amazon\.eventstream/.test(type)
  const body = isStream ? readStream(api, options) : readWhole(api, status, options)
  const decoding = createDecoding(headerOf(headers, 'content-encoding'), body.take)
  return {
    push: (chunk) => decoding.push(chunk),
    async end() {
      try {
        const problem = await decoding.end()
        return { message: body.end(), ...(problem !== undefined && { problem }) }
      } finally {
        shelf?.clear()
      }
    },
    now: () => ({ message: body.end() }),
    soFar: () => body.soFar?.(),
  }
}

export function headerOf(headers: Headers, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : value?.[0]
}

type Body = {
  readonly take: (chunk: Buffer) => void
  readonly end: () => WireMessage
  readonly soFar?: () => WireMessage
}

function readStream(api: CallApi, options: WireOptions): Body {
  const envelope = envelopeOf(api)
  const events = envelope.events()
  const message = createReassembly(envelope.api, options)
  return {
    take(chunk) {
      for (const event of events.push(chunk)) message.push(event)
    },
    end() {
      for (const event of events.end()) message.push(event)
      return message.end()
    },
    soFar: () => message.end(),
  }
}

function readWhole(api: CallApi, status: number, options: WireOptions): Body {
  const held = createHeldBytes()
  let isTooLong = false
  return {
    take(chunk) {
      isTooLong ||= held.length + chunk.length > MOST_BODY
      if (isTooLong) held.clear()
      else held.append(chunk, 0, chunk.length)
    },
    end() {
      const text = held.take()
      const value: Json = parseJson(text) ?? text
      const envelope = envelopeOf(api)
      const message = parseMessage(envelope.api, envelope.response(value), options)
      if (isTooLong) return { ...message, complete: false, error: { message: 'an answer of over 64 MB' } }
      // A gateway's error is often no JSON, and an error of any shape is none of the model's words.
      if (status < 400 || message.error !== undefined) return message
      return { ...message, complete: false, error: { message: shortened(text) || `status ${status}` } }
    },
  }
}

const MOST_SAID = 2000

function shortened(text: string): string {
  return text.length > MOST_SAID ? `${text.slice(0, MOST_SAID)}…` : text
}
