/**
 * Any field that is too large for a line, kept apart: its value as JSON in a blob, and in its place the beginning of a text or
 * nothing. What comes back is exactly what was there.
 */
import { cutText, isApart, type Apart, type BlobRef } from '../transcript/block.ts'
import { isObject, parseJson, toJson } from '../transcript/json.ts'
import type { Blobs } from './blob-store.ts'

export type WriteBlob = Pick<Blobs, 'write'>
export type ReadBlob = (ref: BlobRef) => Promise<Buffer | undefined>

/** Characters of a text that stay in its place. */
const CUT = 1000

/** The object with its large fields apart, but for those named. The same object when it has none. */
export function setApart<T extends object>(
  object: T,
  blobs: WriteBlob,
  { limit, except }: { readonly limit: number; readonly except: ReadonlySet<string> },
): T {
  const apart = new Map<string, BlobRef>()
  const inPlace = new Map<string, unknown>()
  for (const [key, value] of Object.entries(object)) {
    if (except.has(key) || key === 'apart') continue
    const json = largeJson(value, limit)
    if (json === undefined) continue
    apart.set(key, blobs.write(json, 'application/json'))
    inPlace.set(key, beginning(key, value, limit))
  }
  if (apart.size === 0) return object
  const kept = Object.entries(object).flatMap(([key, value]) => {
    const now = inPlace.has(key) ? inPlace.get(key) : value
    return now === undefined ? [] : [[key, now]]
  })
  const all = {
    ...('apart' in object && isApart(object.apart) && object.apart),
    ...Object.fromEntries(apart),
  }
  // Every field is the object's own, or the beginning of it.
  return Object.fromEntries([...kept, ['apart', all]]) as T
}

/** The object with what was apart in its place. What is missing stays apart. */
export async function putBack<T extends { readonly apart?: Apart }>(object: T, read: ReadBlob): Promise<T> {
  const { apart, ...rest } = object
  if (!isApart(apart)) return object
  const fields = new Map<string, unknown>(Object.entries(rest))
  const left: [string, BlobRef][] = []
  for (const [key, ref] of Object.entries(apart)) {
    const value = parseJson((await read(ref))?.toString('utf8') ?? '')
    if (value !== undefined && isAlike(fields.get(key), value)) fields.set(key, value)
    else left.push([key, ref])
  }
  if (left.length > 0) fields.set('apart', Object.fromEntries(left))
  // Fields of the object, each of the kind it was in place.
  return Object.fromEntries(fields) as T
}

/** The value as JSON when it is over the limit, and undefined when it is not. What JSON cannot say is not for a blob. */
export function largeJson(value: unknown, limit: number): Buffer | undefined {
  try {
    if (!mayBeLarge(value, limit) || !isCountable(value)) return undefined
    const bytes = Buffer.from(toJson(value))
    return bytes.length > limit ? bytes : undefined
  } catch {
    return undefined
  }
}

/** Whether a value could be over the limit as JSON: a walk that stops as soon as it could, and takes no depth for granted. */
export function mayBeLarge(value: unknown, limit: number): boolean {
  let size = 0
  const stack: unknown[] = [value]
  try {
    while (stack.length > 0) {
      const next = stack.pop()
      // A character is at most 6 bytes of JSON for each UTF-16 unit: \u0000.
      if (typeof next === 'string') size += next.length * 6 + 2
      // The longest number has 24 digits and signs.
      else if (typeof next !== 'object' || next === null) size += 25
      else {
        size += 2
        for (const [key, child] of Object.entries(next)) {
          size += key.length * 6 + 4
          stack.push(child)
        }
      }
      if (size > limit) return true
    }
    return false
  } catch {
    // A getter that throws hides how much there is.
    return true
  }
}

/** Structure with more values than this is not written: shared parts can make a small one endless as JSON. */
const VALUE_LIMIT = 2_000_000

/** False for what has more values than may be written: every cycle, too. */
function isCountable(value: unknown): boolean {
  const stack: unknown[] = [value]
  for (let seen = 0; stack.length > 0; seen += 1) {
    if (seen > VALUE_LIMIT) return false
    const next = stack.pop()
    if (typeof next === 'object' && next !== null) for (const inner of Object.values(next)) stack.push(inner)
  }
  return true
}

/** What stays where a large value was: as much as its kind needs to be read. */
function beginning(key: string, value: unknown, limit: number): unknown {
  if (typeof value === 'string') return cutText(value, Math.min(CUT, limit))
  if (key === 'raw') return null
  // The provider's own object is what makes a usage large; the counts are what everyone reads.
  if (key === 'usage' && isObject(value)) return { ...value, raw: undefined }
  return undefined
}

/** Hostile bytes may be anything: what takes a value's place is of its kind. */
function isAlike(before: unknown, after: unknown): boolean {
  if (before === undefined) return typeof after === 'object' && after !== null
  if (before === null) return true
  return typeof before === typeof after && Array.isArray(before) === Array.isArray(after)
}
