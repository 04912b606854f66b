/**
 * What OTLP's JSON and the GenAI conventions ask of a line of exported spans, as rules of our own: ids in hex, 64-bit numbers as text, enums
 * as numbers, nothing that is no field; which attributes a span of each operation needs, what type each has, and what a message is made of.
 */
import {
  asArray,
  asObject,
  isObject,
  parseJson,
  toJson,
  type Json,
  type JsonObject,
} from '../src/transcript/json.ts'

/** Every rule that the line breaks, in words. */
export function otlpProblems(line: Json): string[] {
  const found: string[] = []
  const check: Check = (isRight, what) => void (isRight || found.push(what))
  const request = checkObject(line, 'export', 'resourceSpans', check)
  for (const value of listIn(request, 'resourceSpans', check)) {
    const { resource, scopeSpans } = checkObject(
      value,
      'resourceSpans',
      'resource scopeSpans schemaUrl',
      check,
    )
    checkAttributes(checkObject(resource, 'resource', 'attributes droppedAttributesCount', check), check)
    for (const inner of listIn({ scopeSpans: scopeSpans ?? null }, 'scopeSpans', check)) {
      const { scope, spans } = checkObject(inner, 'scopeSpans', 'scope spans schemaUrl', check)
      const { name, version } = checkObject(scope, 'scope', 'name version attributes', check)
      check(typeof name === 'string' && typeof version === 'string', 'scope')
      for (const span of listIn({ spans: spans ?? null }, 'spans', check)) checkSpan(span, check)
    }
  }
  return found
}

/** Rules for all spans of a trace together. */
export function traceProblems(spans: readonly JsonObject[]): string[] {
  const ids = spans.map(({ spanId }) => spanId)
  const byId = new Map(spans.map((span) => [span['spanId'], span]))
  const roots = spans.filter((span) => span['parentSpanId'] === undefined)
  return [
    ...(new Set(ids).size === ids.length ? [] : ['a span id twice']),
    ...(new Set(spans.map(({ traceId }) => traceId)).size <= 1 ? [] : ['more than one trace']),
    ...(roots.length === 1 ? [] : [`${roots.length} roots`]),
    ...spans.flatMap((span) => {
      const above = span['parentSpanId'] === undefined ? undefined : byId.get(span['parentSpanId'])
      if (span['parentSpanId'] === undefined) return []
      if (above === undefined) return ['below no span']
      const isInside =
        timeOf(span, 'start') >= timeOf(above, 'start') && timeOf(span, 'end') <= timeOf(above, 'end')
      return isInside ? [] : ['outside the span above it']
    }),
  ]
}

type Check = (isRight: boolean, what: string) => void

const timeOf = (span: JsonObject, end: 'start' | 'end'): bigint =>
  BigInt(span[`${end}TimeUnixNano`] as string)

function checkSpan(value: Json, check: Check): void {
  const span = checkObject(
    value,
    'span',
    'traceId spanId traceState parentSpanId flags name kind startTimeUnixNano endTimeUnixNano attributes droppedAttributesCount events droppedEventsCount links droppedLinksCount status',
    check,
  )
  checkId(span['traceId'], 32, 'traceId', check)
  checkId(span['spanId'], 16, 'spanId', check)
  if (span['parentSpanId'] !== undefined) checkId(span['parentSpanId'], 16, 'parentSpanId', check)
  check(typeof span['name'] === 'string' && span['name'] !== '', 'name')
  check([0, 1, 2, 3, 4, 5].includes(span['kind'] as number), 'kind')
  const [start, end] = [span['startTimeUnixNano'], span['endTimeUnixNano']]
  const areTimes = isUnsigned(start) && isUnsigned(end)
  check(areTimes && BigInt(start) > 0n && BigInt(end) >= BigInt(start), 'times')
  const { code, ...status } = checkObject(span['status'] ?? {}, 'status', 'code message', check)
  check(code === undefined || [0, 1, 2].includes(code as number), 'status code')
  check(status['message'] === undefined || typeof status['message'] === 'string', 'status message')
  const said = checkAttributes(span, check)
  check(code !== 2 || said.has('error.type'), 'an error without error.type')
  checkOperation(span, said, check)
  for (const [name, one] of said) checkConvention(name, one, check)
}

function checkId(value: Json | undefined, digits: number, what: string, check: Check): void {
  const isHex = typeof value === 'string' && value.length === digits && /^[0-9a-f]+$/.test(value)
  check(isHex && !/^0+$/.test(value), what)
}

const isUnsigned = (value: Json | undefined): value is string =>
  typeof value === 'string' && /^\d{1,20}$/.test(value) && BigInt(value) < 2n ** 64n

function checkAttributes(holder: JsonObject, check: Check): ReadonlyMap<string, JsonObject> {
  const found = new Map<string, JsonObject>()
  for (const pair of listIn(holder, 'attributes', check)) {
    const { key, value } = checkObject(pair, 'attribute', 'key value', check)
    check(typeof key === 'string' && key !== '' && !found.has(key), `an attribute ${toJson(key ?? null)}`)
    checkValue(value, check)
    found.set(key as string, asObject(value) ?? {})
  }
  return found
}

/** One of a protobuf `oneof`: a single field. */
function checkValue(value: Json | undefined, check: Check): void {
  const [[kind, held] = [], ...more] = Object.entries(asObject(value) ?? {})
  check(more.length === 0, 'a value of two types')
  switch (kind ?? '') {
    case 'stringValue':
      return check(typeof held === 'string', 'stringValue')
    case 'boolValue':
      return check(typeof held === 'boolean', 'boolValue')
    case 'doubleValue':
      return check(typeof held === 'number', 'doubleValue')
    case 'intValue': {
      const isInt = typeof held === 'string' && /^-?\d{1,19}$/.test(held)
      return check(isInt && BigInt.asIntN(64, BigInt(held)) === BigInt(held), 'intValue')
    }
    case 'arrayValue':
      for (const one of listIn(asObject(held) ?? {}, 'values', check)) checkValue(one, check)
      return
    default:
      check(false, `a value that is ${kind}`)
  }
}

/** What each operation needs, and how its span is called. */
function checkOperation(span: JsonObject, said: ReadonlyMap<string, JsonObject>, check: Check): void {
  const text = (name: string): Json | undefined => said.get(name)?.['stringValue']
  const operation = text('gen_ai.operation.name')
  if (operation === undefined)
    return check(![...said.keys()].some((key) => /^gen_ai\.(?!conversation)/.test(key)), 'no operation')
  const [kind, named, ...needed] = OPERATIONS.get(operation as string) ?? []
  check(kind !== undefined, `operation ${toJson(operation)}`)
  check(span['kind'] === kind, `${toJson(operation)} of another kind`)
  for (const name of needed)
    check(typeof text(name) === 'string' && text(name) !== '', `${toJson(operation)} without ${name}`)
  const of = text(named ?? '')
  check(
    span['name'] === (of === undefined ? operation : `${operation as string} ${of as string}`),
    'span name',
  )
}

/** Kind, what the span's name ends with, and the attributes that are required. */
const OPERATIONS: ReadonlyMap<string, readonly [number, ...string[]]> = new Map([
  ['chat', [3, 'gen_ai.request.model', 'gen_ai.provider.name']],
  ['invoke_agent', [1, 'gen_ai.agent.name', 'gen_ai.provider.name']],
  ['execute_tool', [1, 'gen_ai.tool.name', 'gen_ai.tool.name']],
])

/** Names of the conventions have the types that they say; no other begins like them. */
function checkConvention(name: string, value: JsonObject, check: Check): void {
  if (!name.startsWith('gen_ai.')) return
  const type = TYPES.find(([names]) => names.split(' ').includes(name.slice('gen_ai.'.length)))?.[1]
  check(type !== undefined, `${name} is no attribute`)
  check(type === undefined || type in value, `${name} of another type`)
  if (type === 'arrayValue')
    for (const one of asArray(asObject(value['arrayValue'])?.['values']) ?? [])
      check(isObject(one) && 'stringValue' in one, `${name} of other than text`)
  if (name === 'gen_ai.provider.name')
    check(
      !/^(google|gemini|bedrock|azure|mistral|xai)$/.test(value['stringValue'] as string),
      'provider by another name',
    )
  if (name === 'gen_ai.input.messages' || name === 'gen_ai.output.messages')
    checkMessages(name, parseJson(value['stringValue'] as string), check)
}

const TYPES: readonly (readonly [string, string])[] = [
  [
    'operation.name provider.name conversation.id request.model response.model response.id agent.name agent.id agent.version agent.description tool.name tool.call.id tool.call.result tool.call.arguments tool.type input.messages output.messages system_instructions',
    'stringValue',
  ],
  [
    'usage.input_tokens usage.output_tokens usage.cache_read.input_tokens usage.cache_creation.input_tokens usage.reasoning.output_tokens',
    'intValue',
  ],
  ['response.finish_reasons', 'arrayValue'],
]

function checkMessages(name: string, value: Json | undefined, check: Check): void {
  check(Array.isArray(value), `${name} is no list`)
  for (const message of asArray(value) ?? []) {
    const { role, parts, finish_reason: reason } = asObject(message) ?? {}
    check(['system', 'user', 'assistant', 'tool'].includes(role as string), `${name} role`)
    check(name === 'gen_ai.input.messages' || typeof reason === 'string', 'finish_reason')
    check(Array.isArray(parts), 'parts')
    for (const part of asArray(parts) ?? []) check(isPart(asObject(part) ?? {}), `a part ${toJson(part)}`)
  }
}

function isPart({ type, content, name, id, uri, modality, mime_type: mime, ...rest }: JsonObject): boolean {
  const isNamed = id === undefined || typeof id === 'string'
  const isMedia = typeof modality === 'string' && (mime === undefined || typeof mime === 'string')
  if (type === 'text' || type === 'reasoning') return typeof content === 'string'
  if (type === 'tool_call') return isNamed && typeof name === 'string'
  if (type === 'tool_call_response') return isNamed && rest['response'] !== undefined
  if (type === 'blob') return isMedia && typeof content === 'string'
  return type === 'uri' && isMedia && typeof uri === 'string' && !uri.startsWith('data:')
}

function checkObject(value: Json | undefined, what: string, fields: string, check: Check): JsonObject {
  check(isObject(value), `${what} is no object`)
  const held = asObject(value) ?? {}
  for (const key of Object.keys(held)) check(fields.split(' ').includes(key), `${what}.${key} is no field`)
  return held
}

function listIn(holder: JsonObject, field: string, check: Check): readonly Json[] {
  check(Array.isArray(holder[field]), `${field} is no list`)
  return asArray(holder[field]) ?? []
}
