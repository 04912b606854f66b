/**
 * Requests repeat the whole history: a line of a tape holds only what its request says beyond the one before it in the same lane, and
 * reading puts whole requests together again. The order of an object's keys is not kept, and everything else is.
 */
import { asArray, asObject, isObject, type Json, type JsonObject } from '../transcript/json.ts'
import { isSame } from './same-json.ts'
import type { TapeRequestJson } from './tape.ts'

export type RequestFacts = Pick<TapeRequestJson['request'], 'api' | 'path' | 'headers'> & {
  readonly body: Json
}

/** `lane`: whose request it is. A session's lanes have a tape of their own. */
export type TapePlace = { readonly session: string; readonly lane: string }

export type RequestPacker = {
  /** The line for a call. What it holds of earlier calls is bounded: a lane that is forgotten begins anew. */
  pack(place: TapePlace, call: string, request: RequestFacts): TapeRequestJson
  /** The line could not be written: nothing goes on with it. */
  forget(place: TapePlace): void
}

/** Characters of all lanes' newest requests, as they would be written. */
const MOST_HELD = 32 * 1024 * 1024

export function createRequestPacker(budget = MOST_HELD): RequestPacker {
  const lanes = new Map<
    string,
    { readonly call: string; readonly fields: JsonObject; readonly size: number }
  >()
  let held = 0
  const nameOf = ({ session, lane }: TapePlace): string => `${session} ${lane}`
  const forget = (name: string): void => {
    held -= lanes.get(name)?.size ?? 0
    lanes.delete(name)
  }
  return {
    forget: (place) => forget(nameOf(place)),
    pack(place, call, { body, ...facts }) {
      const name = nameOf(place)
      const base = lanes.get(name)
      const fields = isObject(body) ? flat(body) : undefined
      const delta = fields && base && deltaOf(base.fields, fields)
      const line: TapeRequestJson = {
        v: 1,
        call,
        request: {
          ...facts,
          lane: place.lane,
          ...(delta && base && { base: base.call, kept: delta.kept, same: delta.same }),
          body: delta?.body ?? body,
        },
      }
      // What is not repeated is about as much as the one before had.
      const size = (delta === undefined ? 0 : (base?.size ?? 0)) + sizeOf(line.request.body)
      forget(name)
      if (fields !== undefined && size <= budget) {
        lanes.set(name, { call, fields, size })
        held += size
      }
      for (const oldest of lanes.keys()) {
        if (held <= budget) break
        forget(oldest)
      }
      return line
    },
  }
}

export type RequestReader = {
  /** The whole body of the next line; undefined where the one that it goes on with is not there. */
  read(line: TapeRequestJson): Json | undefined
}

/** Lines in the order in which they were written. Items that were not written again are the same objects again. */
export function createRequestReader(): RequestReader {
  const lanes = new Map<string, { readonly call: string; readonly fields: JsonObject }>()
  return {
    read({ call, request }) {
      const { lane, base, kept = [], same = {}, body } = request
      if (base === undefined) {
        if (isObject(body)) lanes.set(lane, { call, fields: flat(body) })
        return body
      }
      const known = lanes.get(lane)
      const written = asObject(body)
      if (known?.call !== base || written === undefined) return undefined
      const fields: Record<string, Json> = Object.create(null) as Record<string, Json>
      for (const field of kept)
        if (Object.hasOwn(known.fields, field)) fields[field] = known.fields[field] as Json
      for (const [field, value] of Object.entries(written)) {
        const count = Object.hasOwn(same, field) ? same[field] : undefined
        const items = Object.hasOwn(known.fields, field) ? asArray(known.fields[field]) : undefined
        fields[field] =
          count === undefined ? value : [...(items ?? []).slice(0, count), ...(asArray(value) ?? [])]
      }
      lanes.set(lane, { call, fields })
      return deep(fields)
    },
  }
}

function deltaOf(
  base: JsonObject,
  next: JsonObject,
): { readonly kept: string[]; readonly same: Record<string, number>; readonly body: JsonObject } {
  const kept: string[] = []
  const same: Record<string, number> = Object.create(null) as Record<string, number>
  const body: Record<string, Json> = Object.create(null) as Record<string, Json>
  for (const field of Object.keys(next)) {
    const before = Object.hasOwn(base, field) ? base[field] : undefined
    const value = next[field] as Json
    if (before !== undefined && isSame(before, value)) {
      kept.push(field)
      continue
    }
    const [items, known] = [asArray(value), asArray(before)]
    const count = items && known ? sameItems(known, items) : 0
    if (count > 0) same[field] = count
    body[field] = count > 0 && items ? items.slice(count) : value
  }
  return { kept, same, body }
}

function sameItems(known: readonly Json[], items: readonly Json[]): number {
  const most = Math.min(known.length, items.length)
  let at = 0
  while (at < most && isSame(known[at] as Json, items[at] as Json)) at += 1
  return at
}

/** Google's Code Assist puts the whole request into one field. */
const ENVELOPE = 'request'

function flat(body: JsonObject): JsonObject {
  const inner = asObject(body[ENVELOPE])
  if (inner === undefined) return body
  const fields: Record<string, Json> = Object.create(null) as Record<string, Json>
  for (const [name, value] of Object.entries(body)) if (name !== ENVELOPE) fields[name] = value
  for (const [name, value] of Object.entries(inner)) fields[`${ENVELOPE}/${name}`] = value
  return fields
}

function deep(fields: JsonObject): JsonObject {
  const names = Object.keys(fields)
  if (!names.some((name) => name.startsWith(`${ENVELOPE}/`))) return fields
  const inner: Record<string, Json> = Object.create(null) as Record<string, Json>
  const body: Record<string, Json> = Object.create(null) as Record<string, Json>
  for (const name of names) {
    const value = fields[name] as Json
    if (name.startsWith(`${ENVELOPE}/`)) inner[name.slice(ENVELOPE.length + 1)] = value
    else body[name] = value
  }
  body[ENVELOPE] = inner
  return body
}

/** About how many characters a value has: enough to keep a budget by, without writing it. */
function sizeOf(value: Json): number {
  let size = 0
  const stack: Json[] = [value]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (typeof next === 'string') size += next.length + 16
    else if (typeof next !== 'object' || next === null) size += 8
    else {
      size += 32
      for (const one of Array.isArray(next) ? next : Object.values(next)) stack.push(one)
    }
  }
  return size
}
