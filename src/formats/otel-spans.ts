/**
 * Files of spans as spans, whoever exported them: OTLP's JSON (one export, or one on each line), Jaeger's, and Phoenix's list. What is no
 * span comes back as it is.
 */
import { fromMillis, millisBetween, parseInstant } from '../transcript/instant.ts'
import {
  asArray,
  asNumber,
  asObject,
  asString,
  isObject,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import type { Damage } from '../transcript/damage.ts'
import type { SourceFile } from '../transcript/source.ts'
import { readSpans, type Attributes, type OtlpSpan } from '../wire/otlp.ts'
import { documentOf } from './file-format.ts'
import type { Head } from './head-records.ts'
import { readInOrder } from './in-order.ts'
import { passing } from './let-go.ts'
import { readBareList, readListDocument } from './list-document.ts'
import type { Place } from './placing.ts'
import { untoldIn } from './unsaid.ts'

export type SpanPiece =
  | { readonly span: OtlpSpan; readonly place: Place }
  /** What is no span. */
  | { readonly value: Json; readonly place: Place }
  | { readonly damage: Damage }

export type Exporter = 'otlp' | 'jaeger' | 'phoenix'

/** By the first of its records; undefined for what no exporter wrote. */
export function exporterOf(
  head: Head,
): { readonly exporter: Exporter; readonly isLines: boolean } | undefined {
  const document = documentOf(head)
  const isLines = document === undefined || (isObject(document) && head.records.length > 1)
  const first = isLines ? head.records[0] : document
  if (isObject(first) && ('resourceSpans' in first || 'resourceLogs' in first))
    return { exporter: 'otlp', isLines }
  const elements = asArray(document) ?? (isLines ? head.records : undefined)
  if (elements?.filter(isObject).some(isPhoenix) === true) return { exporter: 'phoenix', isLines }
  const traces = isObject(document) ? (asArray(document['data']) ?? []) : []
  const isJaeger = traces.some(
    (trace) => isObject(trace) && 'traceID' in trace && Array.isArray(trace['spans']),
  )
  return isJaeger ? { exporter: 'jaeger', isLines } : undefined
}

function isPhoenix({ context, attributes, span_kind }: JsonObject): boolean {
  return (
    isObject(context) &&
    'trace_id' in context &&
    'span_id' in context &&
    (isObject(attributes) || span_kind !== undefined)
  )
}

export async function* readSpanFile(file: SourceFile, head: Head): AsyncGenerator<readonly SpanPiece[]> {
  const { exporter = 'otlp', isLines = true } = exporterOf(head) ?? {}
  const toPieces = PARTS[exporter]
  if (isLines) return yield* readSpanLines(file, toPieces)
  const read =
    exporter === 'phoenix'
      ? await readBareList(file)
      : await readListDocument(file, exporter === 'otlp' ? 'resourceSpans' : 'data', { isForLines: true })
  // A line may be longer than what is looked at to tell them apart.
  if (read.isLines) return yield* readSpanLines(file, toPieces)
  const { members, damage, sizeBytes, elements, count = 0 } = read
  yield damage.map((one) => ({ damage: one }))
  const place = { file: file.path, number: count === 0 ? 1 : 0, byteOffset: 0, byteLength: sizeBytes }
  if (Object.keys(members).length > 0) yield [{ value: members, place }]
  let number = 0
  for await (const some of elements()) {
    yield* passing(
      some.flatMap(({ value, byteOffset, byteLength }) => {
        number += 1
        const body = exporter === 'otlp' && value !== undefined ? { resourceSpans: [value] } : (value ?? null)
        return toPieces(body, { file: file.path, number, byteOffset, byteLength })
      }),
    )
  }
}

async function* readSpanLines(file: SourceFile, toPieces: ToPieces): AsyncGenerator<readonly SpanPiece[]> {
  for await (const steps of readInOrder(file)) {
    yield* passing(
      steps.flatMap((step): readonly SpanPiece[] => {
        if ('damage' in step) return [{ damage: step.damage }]
        const { value, number, byteOffset, byteLength } = step.record
        return toPieces(value, { file: file.path, number, byteOffset, byteLength })
      }),
    )
  }
}

type ToPieces = (value: Json, place: Place) => readonly SpanPiece[]

const PARTS: Readonly<Record<Exporter, ToPieces>> = {
  otlp(value, place) {
    const read = isObject(value) && 'resourceSpans' in value ? readSpans(value) : undefined
    if (read === undefined || read.items.length === 0) return [{ value, place }]
    const spans = read.items.map((span) => ({ span, place }))
    // What has no valid id is somewhere in it.
    return read.malformed > 0 ? [...spans, { value, place }] : spans
  },
  jaeger: (value, place) => fromJaeger(value, place),
  phoenix: (value, place) => [
    isObject(value) && isPhoenix(value) ? { span: fromPhoenix(value), place } : { value, place },
  ],
}

function fromJaeger(trace: Json, place: Place): readonly SpanPiece[] {
  const spans = isObject(trace) ? asArray(trace['spans']) : undefined
  if (!isObject(trace) || spans === undefined) return [{ value: trace, place }]
  const processes = asObject(trace['processes'])
  return spans.map((value) => {
    const traceId = isObject(value) ? asString(value['traceID']) : undefined
    const spanId = isObject(value) ? asString(value['spanID']) : undefined
    if (!isObject(value) || traceId === undefined || spanId === undefined) return { value, place }
    const parent = (asArray(value['references']) ?? [])
      .filter(isObject)
      .find(({ refType }) => refType === 'CHILD_OF')
    const parentId = asString(parent?.['spanID']) ?? asString(value['parentSpanID'])
    const micros = asNumber(value['startTime'])
    const lasted = asNumber(value['duration'])
    const attributes = tagsOf(value['tags'])
    const owner = asObject(processes?.[asString(value['processID']) ?? ''])
    const startedAt = micros === undefined ? undefined : fromMillis(micros / 1000)
    const endedAt =
      micros === undefined || lasted === undefined ? undefined : fromMillis((micros + lasted) / 1000)
    const statusMessage = asString(attributes.get('otel.status_description'))
    const span: OtlpSpan = withRest(value, {
      traceId,
      spanId,
      ...(parentId !== undefined && parentId !== '' && { parentId }),
      name: asString(value['operationName']) ?? '',
      ...(startedAt !== undefined && { startedAt }),
      ...(endedAt !== undefined && { endedAt }),
      ...(lasted !== undefined && { durationMs: Math.round(lasted / 1000) }),
      attributes,
      events: (asArray(value['logs']) ?? []).filter(isObject).map(({ fields }) => {
        const told = tagsOf(fields)
        return { name: asString(told.get('event')) ?? '', attributes: told }
      }),
      isError: attributes.get('error') === true || attributes.get('otel.status_code') === 'ERROR',
      ...(statusMessage !== undefined && { statusMessage }),
      resource: tagsOf(owner?.['tags']),
    })
    return { span, place }
  })
}

function tagsOf(tags: Json | undefined): Attributes {
  const attributes = new Map<string, Json>()
  for (const tag of (asArray(tags) ?? []).filter(isObject)) {
    const key = asString(tag['key'])
    if (key !== undefined && tag['value'] !== undefined) attributes.set(key, tag['value'])
  }
  return attributes
}

function fromPhoenix(value: JsonObject): OtlpSpan {
  const context = asObject(value['context'])
  const startedAt = parseInstant(value['start_time'])
  const endedAt = parseInstant(value['end_time'])
  const durationMs = millisBetween(startedAt, endedAt)
  const attributes = new Map<string, Json>()
  flatten(value['attributes'], '', attributes, DEPTH)
  const kind = asString(value['span_kind'])
  if (kind !== undefined && kind !== 'UNKNOWN' && !attributes.has('openinference.span.kind'))
    attributes.set('openinference.span.kind', kind)
  const parentId = asString(value['parent_id'])
  const statusMessage = asString(value['status_message'])
  return withRest(value, {
    traceId: asString(context?.['trace_id']) ?? '',
    spanId: asString(context?.['span_id']) ?? '',
    ...(parentId !== undefined && { parentId }),
    name: asString(value['name']) ?? '',
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
    ...(durationMs !== undefined && durationMs >= 0 && { durationMs }),
    attributes,
    events: (asArray(value['events']) ?? []).filter(isObject).map((event) => {
      const told = new Map<string, Json>()
      flatten(event['attributes'], '', told, DEPTH)
      return { name: asString(event['name']) ?? '', attributes: told }
    }),
    isError: value['status_code'] === 'ERROR',
    ...(statusMessage !== undefined && statusMessage !== '' && { statusMessage }),
    resource: new Map(),
  })
}

/** With what the exporter says beyond the span. */
function withRest(raw: JsonObject, span: OtlpSpan): OtlpSpan {
  const { attributes, events, resource: _, ...told } = span
  const said = {
    ...told,
    attributes: Object.fromEntries(attributes),
    keys: [...attributes.keys()],
    events: events.map((event) => [
      event.name,
      Object.fromEntries(event.attributes),
      ...event.attributes.keys(),
    ]),
  }
  const rest = untoldIn(raw, WORDS, said)
  return rest === undefined ? span : { ...span, rest }
}

/** Names of Jaeger's and Phoenix's fields, and values that spans say in their own way. */
const WORDS: ReadonlySet<string> = new Set(
  `traceID spanID operationName references refType CHILD_OF startTime duration tags key type string bool int64 float64 value logs fields
  processID parentSpanID context trace_id span_id name parent_id start_time end_time attributes span_kind status_code status_message events OK
  UNSET ERROR UNKNOWN`.split(/\s+/),
)

/** Levels down to which attributes are names with dots in them, or objects in objects. */
const DEPTH = 12

function flatten(value: Json | undefined, prefix: string, into: Map<string, Json>, depth: number): void {
  if (value === undefined) return
  const isNested = isObject(value) || (Array.isArray(value) && value.some(isObject))
  if (!isNested || depth === 0) {
    if (prefix !== '') into.set(prefix, value)
    return
  }
  for (const [key, one] of Object.entries(value))
    flatten(one as Json, prefix === '' ? key : `${prefix}.${key}`, into, depth - 1)
}
