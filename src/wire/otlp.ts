/**
 * What an OTLP export holds, whether it came as JSON or as protobuf: spans and log records with their attributes as values. Names of
 * attributes are anybody's: they are keys of maps, and never of plain objects. What has no valid id is counted, and left out.
 */
import {
  asArray,
  asNumber,
  asObject,
  asString,
  isObject,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import { areAttributes, restOf, type Takes } from './otlp-rest.ts'

/** In the order they were sent; of a name that is said twice the last counts. */
export type Attributes = ReadonlyMap<string, Json>

export type OtlpSpan = {
  /** 32 hex digits. */
  readonly traceId: string
  /** 16 hex digits. */
  readonly spanId: string
  readonly parentId?: string
  readonly name: string
  readonly startedAt?: string
  readonly endedAt?: string
  /** Milliseconds. */
  readonly durationMs?: number
  readonly attributes: Attributes
  readonly events: readonly OtlpEvent[]
  readonly isError: boolean
  readonly statusMessage?: string
  readonly resource: Attributes
  /** The instrumentation that made it. */
  readonly scope?: string
  /** What else it says: links, its kind, fields of other shapes. */
  readonly rest?: JsonObject
}

export type OtlpEvent = { readonly name: string; readonly at?: string; readonly attributes: Attributes }

export type OtlpLog = OtlpEvent & {
  readonly traceId?: string
  readonly spanId?: string
  readonly body?: Json
  readonly resource: Attributes
}

export type Export<T> = {
  readonly items: readonly T[]
  /** Without an id, or no object at all. */
  readonly malformed: number
}

/** Undefined for what is no export of spans. */
export function readSpans(body: Json): Export<OtlpSpan> | undefined {
  return readExport(body, 'resourceSpans', ['scopeSpans', 'instrumentationLibrarySpans'], 'spans', toSpan)
}

/** Undefined for what is no export of log records. */
export function readLogs(body: Json): Export<OtlpLog> | undefined {
  return readExport(body, 'resourceLogs', ['scopeLogs'], 'logRecords', toLog)
}

type Context = {
  readonly resource: Attributes
  readonly scope: string | undefined
  /** What the groups around it say beyond these. */
  readonly rest: JsonObject
}

function readExport<T>(
  body: Json,
  outer: string,
  middle: readonly string[],
  inner: string,
  read: (raw: JsonObject, context: Context) => T | undefined,
): Export<T> | undefined {
  const groups = isObject(body) ? (body[outer] ?? []) : undefined
  if (!Array.isArray(groups)) return undefined
  const items: T[] = []
  let malformed = 0
  for (const group of objectsIn(groups)) {
    const resource = toAttributes(asObject(group['resource'])?.['attributes'])
    const around = restOf(group, GROUP)
    for (const scoped of middle.flatMap((name) => objectsIn(group[name]))) {
      const scope = asString(asObject(scoped['scope'])?.['name'])
      const rest = { ...around, ...restOf(scoped, SCOPED) }
      for (const raw of asArray(scoped[inner]) ?? []) {
        const item = isObject(raw) ? read(raw, { resource, scope, rest }) : undefined
        if (item === undefined) malformed += 1
        else items.push(item)
      }
    }
  }
  return { items, malformed }
}

function toSpan(raw: JsonObject, { resource, scope, rest: around }: Context): OtlpSpan | undefined {
  const traceId = toId(raw['traceId'], 32)
  const spanId = toId(raw['spanId'], 16)
  if (traceId === undefined || spanId === undefined) return undefined
  const parentId = toId(raw['parentSpanId'], 16)
  const status = asObject(raw['status'])
  const statusMessage = asString(status?.['message'])
  const [start, end] = [toNanos(raw['startTimeUnixNano']), toNanos(raw['endTimeUnixNano'])]
  const startedAt = fromNanos(start)
  const endedAt = fromNanos(end)
  const isError = status?.['code'] === 2 || status?.['code'] === 'STATUS_CODE_ERROR'
  const rest = { ...around, ...restOf(raw, SPAN) }
  return {
    traceId,
    spanId,
    ...(parentId !== undefined && { parentId }),
    name: asString(raw['name']) ?? '',
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
    ...(start !== undefined &&
      end !== undefined &&
      end >= start && { durationMs: Number((end - start) / 1_000_000n) }),
    attributes: toAttributes(raw['attributes']),
    events: objectsIn(raw['events']).map((event) => ({
      name: asString(event['name']) ?? '',
      ...atOf(event['timeUnixNano']),
      attributes: toAttributes(event['attributes']),
    })),
    isError,
    ...(statusMessage !== undefined && statusMessage !== '' && { statusMessage }),
    resource,
    ...(scope !== undefined && scope !== '' && { scope }),
    ...(Object.keys(rest).length > 0 && { rest }),
  }
}

const isText = (value: Json): boolean => typeof value === 'string'
const isList = (value: Json): boolean => Array.isArray(value)
const isTime = (value: Json): boolean => fromNanos(toNanos(value)) !== undefined
const areAll =
  (taken: Takes) =>
  (value: Json): boolean =>
    isObject(value) && restOf(value, taken) === undefined

const LISTS = { scopeSpans: isList, scopeLogs: isList, instrumentationLibrarySpans: isList }
const GROUP: Takes = { resource: areAll({ attributes: areAttributes }), ...LISTS }
const SCOPED: Takes = { scope: areAll({ name: isText }), spans: isList, logRecords: isList }
const EVENT: Takes = { name: isText, timeUnixNano: isTime, attributes: areAttributes }
const SPAN: Takes = {
  traceId: (value) => toId(value, 32) !== undefined,
  spanId: (value) => toId(value, 16) !== undefined,
  parentSpanId: (value) => toId(value, 16) !== undefined || value === '0000000000000000',
  name: isText,
  startTimeUnixNano: isTime,
  endTimeUnixNano: isTime,
  attributes: areAttributes,
  events: (value) => Array.isArray(value) && (value as readonly Json[]).every(areAll(EVENT)),
  status: areAll({ code: (value) => typeof value === 'number' || isText(value), message: isText }),
}

function toLog(raw: JsonObject, { resource }: Context): OtlpLog {
  const traceId = toId(raw['traceId'], 32)
  const spanId = toId(raw['spanId'], 16)
  const attributes = toAttributes(raw['attributes'])
  const body = toValue(raw['body'], DEEPEST)
  // Before the field there was an attribute.
  const name = asString(raw['eventName']) || asString(attributes.get('event.name')) || ''
  const at = atOf(raw['timeUnixNano'])
  return {
    name,
    ...(at.at === undefined ? atOf(raw['observedTimeUnixNano']) : at),
    attributes,
    ...(traceId !== undefined && { traceId }),
    ...(spanId !== undefined && { spanId }),
    ...(body !== undefined && { body }),
    resource,
  }
}

function objectsIn(list: Json | undefined): readonly JsonObject[] {
  return (asArray(list) ?? []).filter(isObject)
}

/** Hex, as OTLP has it, or base64, as protobuf's JSON would. All zeros is none. */
function toId(value: Json | undefined, digits: 16 | 32): string | undefined {
  if (typeof value !== 'string') return undefined
  const isHex = value.length === digits && /^[0-9a-f]+$/i.test(value)
  const isBase64 = value.length === Math.ceil(digits / 6) * 4 && /^[\w+/]+={0,2}$/.test(value)
  const id = isHex ? value.toLowerCase() : isBase64 ? Buffer.from(value, 'base64').toString('hex') : ''
  return id.length === digits && !/^0+$/.test(id) ? id : undefined
}

function toAttributes(list: Json | undefined): Attributes {
  const attributes = new Map<string, Json>()
  for (const pair of objectsIn(list)) {
    const key = asString(pair['key'])
    const value = toValue(pair['value'], DEEPEST)
    if (key !== undefined && value !== undefined) attributes.set(key, value)
  }
  return attributes
}

/** Values in values: past this they stay as they were sent. */
const DEEPEST = 64

function toValue(any: Json | undefined, depth: number): Json | undefined {
  if (!isObject(any)) return undefined
  if (depth === 0) return any
  const { stringValue, boolValue, intValue, doubleValue, arrayValue, kvlistValue, bytesValue } = any
  if (typeof stringValue === 'string') return stringValue
  if (typeof boolValue === 'boolean') return boolValue
  if (intValue !== undefined) return toInteger(intValue)
  if (doubleValue !== undefined) return asNumber(doubleValue) ?? asString(doubleValue)
  if (isObject(arrayValue))
    return (asArray(arrayValue['values']) ?? []).map((one) => toValue(one, depth - 1) ?? null)
  if (isObject(kvlistValue)) {
    const object = Object.create(null) as Record<string, Json>
    for (const pair of objectsIn(kvlistValue['values'])) {
      const key = asString(pair['key'])
      if (key !== undefined) object[key] = toValue(pair['value'], depth - 1) ?? null
    }
    return object
  }
  return asString(bytesValue)
}

/** Text in JSON, for it may be longer than a number can say. */
function toInteger(value: Json): Json | undefined {
  if (typeof value === 'number') return value
  if (typeof value !== 'string' || !/^-?\d{1,20}$/.test(value)) return undefined
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

function toNanos(value: Json | undefined): bigint | undefined {
  if (typeof value === 'number' && Number.isFinite(value) && value > 0) return BigInt(Math.trunc(value))
  if (typeof value !== 'string' || !/^\d{1,20}$/.test(value)) return undefined
  const nanos = BigInt(value)
  return nanos === 0n ? undefined : nanos
}

const LAST_SECOND = 253_402_300_799n

/** As an instant, to the nanosecond; undefined past the year 9999. */
function fromNanos(nanos: bigint | undefined): string | undefined {
  if (nanos === undefined) return undefined
  const seconds = nanos / 1_000_000_000n
  if (seconds > LAST_SECOND) return undefined
  const fraction = (nanos % 1_000_000_000n).toString().padStart(9, '0')
  const whole = new Date(Number(seconds) * 1000).toISOString().slice(0, 19)
  return `${whole}.${shortened(fraction)}Z`
}

/** 3, 6 or 9 digits, as instants have. */
function shortened(fraction: string): string {
  if (fraction.endsWith('000000')) return fraction.slice(0, 3)
  return fraction.endsWith('000') ? fraction.slice(0, 6) : fraction
}

function atOf(nanos: Json | undefined): { readonly at?: string } {
  const at = fromNanos(toNanos(nanos))
  return at === undefined ? {} : { at }
}
