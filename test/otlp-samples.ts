/** Exports as OTLP's JSON has them, for tests: spans and log records with attributes given as plain values. */
import type { Json, JsonObject } from '../src/transcript/json.ts'

export type SpanSample = {
  readonly trace?: string
  readonly id: string
  readonly parent?: string
  readonly name?: string
  /** Seconds after a fixed moment. */
  readonly from?: number
  readonly to?: number
  readonly attributes?: JsonObject
  readonly events?: readonly { readonly name: string; readonly attributes: JsonObject }[]
  readonly error?: string
}

/** 2026-09-01T10:00:00Z, in seconds. */
const BEGAN = 1_788_256_800n

export const hex = (id: string, digits: number): string =>
  Buffer.from(id).toString('hex').padStart(digits, '0').slice(-digits)

export const nanos = (seconds: number): string =>
  (BEGAN * 1_000_000_000n + BigInt(Math.round(seconds * 1000)) * 1_000_000n).toString()

export function attributesOf(values: JsonObject): Json[] {
  return Object.entries(values).map(([key, value]) => ({ key, value: anyValue(value) }))
}

function anyValue(value: Json): Json {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number')
    return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
  if (Array.isArray(value)) return { arrayValue: { values: value.map(anyValue) } }
  return value === null ? {} : { kvlistValue: { values: attributesOf(value as JsonObject) } }
}

export function tracesOf(spans: readonly SpanSample[], resource: JsonObject = {}): JsonObject {
  return {
    resourceSpans: [
      {
        resource: { attributes: attributesOf({ 'service.name': 'shop', ...resource }) },
        scopeSpans: [{ scope: { name: 'test' }, spans: spans.map(toSpan) }],
      },
    ],
  }
}

function toSpan({ trace = 'one', id, parent, from = 0, to = from + 1, ...rest }: SpanSample): Json {
  const { name = id, attributes = {}, events = [], error } = rest
  return {
    traceId: hex(trace, 32),
    spanId: hex(id, 16),
    ...(parent !== undefined && { parentSpanId: hex(parent, 16) }),
    name,
    kind: 3,
    startTimeUnixNano: nanos(from),
    endTimeUnixNano: nanos(to),
    attributes: attributesOf(attributes),
    events: events.map((event) => ({
      timeUnixNano: nanos(from),
      name: event.name,
      attributes: attributesOf(event.attributes),
    })),
    status: error === undefined ? {} : { code: 2, message: error },
  }
}

export type LogSample = {
  readonly trace?: string
  readonly span?: string
  readonly name: string
  readonly body?: JsonObject
  readonly attributes?: JsonObject
  readonly at?: number
}

export function logsOf(logs: readonly LogSample[]): JsonObject {
  return {
    resourceLogs: [
      {
        resource: { attributes: attributesOf({ 'service.name': 'shop' }) },
        scopeLogs: [
          {
            logRecords: logs.map(({ trace = 'one', span, name, body, attributes = {}, at = 0 }) => ({
              timeUnixNano: nanos(at),
              traceId: hex(trace, 32),
              ...(span !== undefined && { spanId: hex(span, 16) }),
              eventName: name,
              ...(body !== undefined && { body: anyValue(body) }),
              attributes: attributesOf(attributes),
            })),
          },
        ],
      },
    ],
  }
}

export const said = (role: string, text: string): JsonObject => ({
  role,
  parts: [{ type: 'text', content: text }],
})

/** A call by today's conventions. `asked` and `answered` are lists of messages. */
export function chat(
  asked: readonly Json[],
  answered: Json,
  [input, output]: readonly [number, number],
  more: JsonObject = {},
): JsonObject {
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'gpt-5-mini',
    'gen_ai.input.messages': asked,
    'gen_ai.output.messages': [answered],
    'gen_ai.usage.input_tokens': input,
    'gen_ai.usage.output_tokens': output,
    ...more,
  }
}
