/**
 * Whether a provider still answers in the way that it did: not what it says, which is never the same, but how: the status, the model that
 * answered, the kinds of events, the fields. Only what is new counts: an answer may be without a field that another has.
 */
import type { PathDifference } from '../replay/matching/path-diff.ts'
import { asArray, asObject, asString, isObject, parseJson, type Json } from '../transcript/json.ts'
import { envelopeOf, type CallApi } from '../wire/call-apis.ts'

export type AnswerBytes = { readonly status: number; readonly contentType: string; readonly bytes: Buffer }

export type Shape = {
  readonly status: number
  readonly model?: string
  /** Kinds of events; of an answer that came whole, none. */
  readonly events: ReadonlySet<string>
  /** Paths of fields, with the places in lists left out. */
  readonly fields: ReadonlySet<string>
}

/** Fields that are looked at: far more than any API has. */
const MOST_FIELDS = 5000

export function shapeOf(api: CallApi, { status, contentType, bytes }: AnswerBytes): Shape {
  const events = new Set<string>()
  const fields = new Set<string>()
  let model: string | undefined
  const take = (value: Json | undefined): void => {
    const object = asObject(value)
    const message = asObject(object?.['message']) ?? asObject(object?.['response']) ?? object
    model ??= asString(message?.['model']) ?? asString(message?.['modelVersion'])
    if (value !== undefined) walk(value, asString(object?.['type']) ?? '', fields)
  }
  if (/event/.test(contentType)) {
    const parser = envelopeOf(api).events()
    for (const { event, data } of [...parser.push(bytes), ...parser.end()]) {
      const value = parseJson(data)
      events.add(asString(asObject(value)?.['type']) ?? event ?? 'message')
      take(value)
    }
  } else take(parseJson(bytes.toString()))
  return { status, ...(model !== undefined && { model }), events, fields }
}

export function providerDrift(recorded: Shape, live: Shape): readonly PathDifference[] {
  const found: PathDifference[] = []
  if (recorded.status !== live.status)
    found.push({
      path: 'status',
      kind: 'changed',
      recorded: String(recorded.status),
      live: String(live.status),
    })
  if (recorded.model !== live.model && recorded.model !== undefined && live.model !== undefined)
    found.push({ path: 'model', kind: 'changed', recorded: recorded.model, live: live.model })
  // An error has another shape than an answer, which is said already.
  if (found.some(({ path }) => path === 'status')) return found
  for (const event of live.events)
    if (!recorded.events.has(event)) found.push({ path: `event ${event}`, kind: 'only-live', live: event })
  for (const field of live.fields)
    if (!recorded.fields.has(field)) found.push({ path: field, kind: 'only-live', live: 'a new field' })
  return found
}

function walk(value: Json, path: string, fields: Set<string>, depth = 0): void {
  if (depth > 20 || fields.size > MOST_FIELDS) return
  const items = asArray(value)
  if (items !== undefined) for (const item of items) walk(item, `${path}[]`, fields, depth + 1)
  else if (isObject(value)) {
    // Of what a model gives to tools, the fields are the tools'.
    for (const [name, one] of Object.entries(value)) {
      const below = path === '' ? name : `${path}.${name}`
      fields.add(below)
      if (!FOREIGN.has(name)) walk(one, below, fields, depth + 1)
    }
  }
}

const FOREIGN: ReadonlySet<string> = new Set(['input', 'args', 'arguments'])
