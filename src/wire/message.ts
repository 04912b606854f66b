/**
 * One answer of a provider, whichever API spoke and whether it streamed: the same answer streamed and not gives the same
 * blocks and counts, however the stream was cut into chunks. Nothing in it throws; what was not understood is kept beside.
 */
import type { Json, JsonObject } from '../transcript/json.ts'
import { asObject, asString, isObject, parseJson, toJson } from '../transcript/json.ts'
import type { Usage } from '../transcript/usage.ts'
import type { Iteration } from './anthropic-usage.ts'
import type { Budget, Shelf } from './limits.ts'
import type { SplitBlocks } from './split.ts'
import type { SseEvent } from './sse.ts'

/** Others are named by frameworks that have read their answers for us. */
export type Provider = 'anthropic' | 'openai' | 'google' | (string & {})
export type WireApi = 'anthropic-messages' | 'openai-chat' | 'openai-responses' | 'gemini'

export type WireMessage = SplitBlocks & {
  readonly provider: Provider
  readonly messageId?: string
  readonly requestId?: string
  /** The model that answered, not the one that was asked for. */
  readonly model?: string
  readonly role: 'assistant'
  /**
   * `partial` when the stream was cut before the last report. `unavailable`, without counts, when an answer came and no
   * report did. Absent when there was only an error.
   */
  readonly usage?: Usage
  /** Each sampling of the call, where the provider says that there were several. `usage` does not cover all of them. */
  readonly iterations?: readonly Iteration[]
  readonly stopReason?: string
  /** The tier that was billed: the response's, not the request's. */
  readonly serviceTier?: string
  readonly error?: WireError
  /** True when the answer came to its own end. */
  readonly complete: boolean
  /** Other answers in the same response: further choices, or a message the stream began and then gave up. */
  readonly alternatives?: readonly Alternative[]
  /** Fields of the message that this type has no place for, under the provider's names. */
  readonly fields?: JsonObject
  /** Events we did not understand, verbatim and in order; a string where an event was not JSON. */
  readonly unknown: readonly Json[]
  /** Characters that came and were not kept, because the message was over a limit. */
  readonly dropped?: number
}

/** True when an answer stops where it was cut: by whoever broke it off, or by a limit. */
export function isCutOff({ complete, stopReason }: Pick<WireMessage, 'complete' | 'stopReason'>): boolean {
  return !complete || (stopReason !== undefined && /max.?(?:output.?)?tokens|^length$/i.test(stopReason))
}

export type WireError = { readonly message: string; readonly code?: string }

export type Alternative = SplitBlocks & {
  readonly messageId?: string
  readonly stopReason?: string
  readonly usage?: Usage
}

export type Reassembly = {
  push(event: SseEvent): void
  /** The message as far as it has come. May be asked for early, and again. */
  end(): WireMessage
}

export type WireOptions = {
  /** From the response's headers: `request-id`, `x-request-id`. */
  readonly requestId?: string
  /** Characters kept of the message. For tests. */
  readonly limit?: number
  readonly shelf?: Shelf
}

/** What reading a response says about it as a whole, whichever the API. */
export type Outcome = {
  readonly requestId: string | undefined
  readonly error: WireError | undefined
  readonly complete: boolean
  readonly unknown: readonly Json[]
  readonly dropped: number
}

export function toOutcome({
  requestId,
  error,
  complete,
  unknown,
  dropped,
}: Outcome): Pick<WireMessage, 'requestId' | 'error' | 'complete' | 'unknown' | 'dropped'> {
  return {
    ...(requestId !== undefined && { requestId }),
    ...(error !== undefined && { error }),
    complete,
    unknown,
    ...(dropped > 0 && { dropped }),
  }
}

/** The value of an event's data. Undefined for an event without any: a comment, a name alone. */
export function eventValue(event: SseEvent): Json | undefined {
  if (event.value !== undefined) return event.value
  if (event.data === '') return undefined
  return parseJson(event.data) ?? event.data
}

/** What OpenAI's streams end with, which is no JSON. */
export const isStreamEnd = (event: SseEvent): boolean =>
  event.value === undefined && event.data.trim() === '[DONE]'

/** Keeps events verbatim, as far as the message's budget goes. */
export function keepUnknown(unknown: Json[], budget: Budget, event: SseEvent, value: Json): void {
  if (budget.take(event.data.length)) unknown.push(value)
}

/** `{error: {message, type | code | status}}` or the inner object itself, as all providers spell it. */
export function toWireError(raw: Json | undefined): WireError | undefined {
  if (typeof raw === 'string') return { message: raw }
  if (!isObject(raw)) return undefined
  const inner = asObject(raw['error']) ?? raw
  const message =
    asString(inner['message']) ?? asString(raw['error']) ?? asString(inner['type']) ?? toJson(inner)
  const code = [inner['code'], inner['status'], inner['type']].find((one) => typeof one === 'string')
  return { message, ...(typeof code === 'string' && { code }) }
}

/** The fields that have a value, in a null-prototype object; undefined when none has. Later objects win. */
export function saidFields(...objects: readonly (JsonObject | undefined)[]): JsonObject | undefined {
  let said: Record<string, Json> | undefined
  for (const object of objects) {
    for (const key of Object.keys(object ?? {})) {
      const value = object?.[key]
      if (value === undefined || value === null) continue
      said ??= Object.create(null) as Record<string, Json>
      said[key] = value
    }
  }
  return said
}
