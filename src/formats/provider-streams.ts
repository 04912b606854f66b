/**
 * Answers out of a capture of providers' streams, one after the other. A stream is told by its events, whatever API they are of; it is over
 * when it says so, or when another begins. Memory is one answer, within the limits of `src/wire`.
 */
import { asArray, asObject, asString, isObject, type Json, type JsonObject } from '../transcript/json.ts'
import { createReassembly } from '../wire/apis.ts'
import { eventValue, isStreamEnd, type Reassembly, type WireApi } from '../wire/message.ts'
import type { SseEvent } from '../wire/sse.ts'
import type { Place, Said } from './placing.ts'
import { fromAnswer } from './provider-entries.ts'

/** Where an event stands. */
export type Extent = Omit<Place, 'file'>

/** An answer, with the bytes of all events that it was put together from. */
export type Streamed = { readonly said: Said; readonly extent: Extent }

export type Streams = {
  /** Answers that this event ends; undefined for an event that is of no API. */
  take(event: SseEvent, extent: Extent): readonly Streamed[] | undefined
  end(): readonly Streamed[]
}

type Open = {
  readonly api: WireApi
  readonly reassembly: Reassembly
  readonly id: string | undefined
  extent: Extent
  isOver: boolean
}

export function createStreams(): Streams {
  let open: Open | undefined
  const close = (): readonly Streamed[] => {
    if (open === undefined) return []
    const { reassembly, extent } = open
    open = undefined
    return [{ said: fromAnswer(reassembly.end()), extent }]
  }
  return {
    take(event, extent) {
      const value = eventValue(event)
      if (value === undefined || isStreamEnd(event)) {
        if (open === undefined) return undefined
        open.isOver ||= value !== undefined
        open.reassembly.push(event)
        open.extent = upTo(open.extent, extent)
        return []
      }
      const found = isObject(value) ? eventApi(value) : undefined
      const api = found ?? open?.api
      if (api === undefined) return undefined
      const id = isObject(value) ? idOf(value) : undefined
      const isNext = open !== undefined && found !== undefined && isAnother(open, found, id, value)
      const closed = isNext ? close() : []
      open ??= { api, reassembly: createReassembly(api), id, extent, isOver: false }
      open.reassembly.push(event)
      open.extent = upTo(open.extent, extent)
      open.isOver ||= isObject(value) && isLast(value)
      return closed
    },
    end: close,
  }
}

/** Whose event it is; undefined for what no API sends. */
export function eventApi(value: JsonObject): WireApi | undefined {
  const type = asString(value['type'])
  if (type !== undefined && ANTHROPIC.has(type)) return 'anthropic-messages'
  if (type?.startsWith('response.') === true) return 'openai-responses'
  const inner = asObject(value['response']) ?? value
  const [candidate] = asArray(inner['candidates']) ?? []
  if (isObject(candidate) || (isObject(inner['usageMetadata']) && 'modelVersion' in inner)) return 'gemini'
  const choices = asArray(value['choices'])
  if (choices === undefined || !('object' in value || 'model' in value)) return undefined
  // A completion that came whole is no stream.
  return choices.every((choice) => isObject(choice) && !('message' in choice)) ? 'openai-chat' : undefined
}

const ANTHROPIC: ReadonlySet<string> = new Set([
  'message_start',
  'message_delta',
  'message_stop',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
])

/** A second beginning before the end is a gateway's retry, and the same stream. */
function isAnother(
  { api, id, isOver }: Open,
  found: WireApi,
  next: string | undefined,
  value: Json,
): boolean {
  if (api !== found) return true
  if (api === 'anthropic-messages' || api === 'openai-responses')
    return isOver && BEGINS.has(asString(asObject(value)?.['type']) ?? '')
  return isOver
    ? next === undefined || next !== id || api === 'openai-chat'
    : next !== undefined && id !== undefined && next !== id
}

const BEGINS: ReadonlySet<string> = new Set(['message_start', 'response.created', 'response.queued'])

function isLast({ type }: JsonObject): boolean {
  return (
    type === 'message_stop' ||
    (typeof type === 'string' && /^response\.(?:completed|failed|incomplete|cancelled)$/.test(type))
  )
}

/** Of Chat's chunks and Gemini's, which have it in each. Azure's first has an empty one. */
function idOf(value: JsonObject): string | undefined {
  return asString(value['id']) || asString(value['responseId']) || undefined
}

function upTo(from: Extent, { byteOffset, byteLength }: Extent): Extent {
  return { ...from, byteLength: byteOffset + byteLength - from.byteOffset }
}
