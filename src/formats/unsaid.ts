/**
 * What a record says and its entry does not, so that nothing is lost whichever shape a field has: keys that a reader does not know, known
 * ones whose value is not what it takes there, and lists and objects of which anything is missing in the entry. Linear in the record.
 */
import { isObject, parseJson, type Json, type JsonObject } from '../transcript/json.ts'
import type { Takes } from './left-over.ts'
import type { Said } from './placing.ts'

type Inside = ((value: Json) => boolean) & { readonly words: ReadonlySet<string> }

/**
 * For a field whose parts the reader turns into blocks and the like: it is taken when each text in it stands in the entry. `words` are the
 * names of its parts, and what they are called, which entries say in their own way.
 */
export function inside(words: string): (value: Json) => boolean {
  const known = new Set(words.split(/\s+/))
  return Object.assign(() => true, { words: known })
}

/** Undefined when everything was said. */
export function unsaid(record: JsonObject, taken: Takes, said: Partial<Said>): JsonObject | undefined {
  let left: Record<string, Json> | undefined
  let told: Told | undefined
  for (const key of Object.keys(record)) {
    const value = record[key] as Json
    if (value === null) continue
    const isTaken = taken.get(key)
    if (isTaken?.(value) === true) {
      if (!isInside(isTaken)) continue
      told ??= toldBy(said)
      if (isTold(value, isTaken.words, told, DEPTH)) continue
    }
    left ??= Object.create(null) as Record<string, Json>
    left[key] = value
  }
  return left
}

/** The entry, with what its record says beyond it as metadata. `record` names events. */
export function withUnsaid(said: Said, record: JsonObject, taken: Takes): Said {
  const left = unsaid(record, taken, said)
  return left === undefined ? said : { ...said, metadata: { ...left, ...said.metadata } }
}

export type Keeping = (record: JsonObject, said: readonly Said[], facts: () => object) => readonly Said[]

/**
 * For readers that take records apart in their own ways: whatever of a record neither its entries say nor what is known of the session goes
 * into the first entry's metadata, so that a field of another shape than any seen is not lost. `words` are the names of fields, and the
 * values that entries say in their own way; numbers and flags under such a name are taken to be said.
 */
export function createKeeping(words: string): Keeping {
  const known = new Set(words.split(/\s+/))
  /** Texts that the session said, as far as any record had them. */
  const facts = new Set<string>()
  return (record, said, factsNow) => {
    const [first, ...rest] = said
    if (first === undefined) return said
    const told = toldBy({ said } as Partial<Said>)
    let left = untold(record, known, told, facts)
    if (left === undefined) return said
    for (const text of toldBy(factsNow()).texts) if (facts.size < MOST_FACTS) facts.add(text)
    left = untold(record, known, told, facts)
    if (left === undefined) return said
    const { metadata } = first
    const isTaken = metadata !== undefined && Object.keys(left).some((key) => Object.hasOwn(metadata, key))
    return [
      { ...first, metadata: isTaken ? { ...metadata, unread: left } : { ...left, ...metadata } },
      ...rest,
    ]
  }
}

const MOST_FACTS = 1000

/** What of a record is not said; undefined when all of it is. */
export const untoldIn = (
  record: JsonObject,
  words: ReadonlySet<string>,
  said: object,
): JsonObject | undefined => untold(record, words, toldBy(said), new Set())

function untold(
  record: JsonObject,
  words: ReadonlySet<string>,
  told: Told,
  facts: ReadonlySet<string>,
): JsonObject | undefined {
  let left: Record<string, Json> | undefined
  for (const key of Object.keys(record)) {
    const value = record[key] as Json
    const isNamed = words.has(key) || told.keys.has(key)
    const isFact = typeof value === 'string' && facts.has(value)
    if (value === null || (isNamed && isFact)) continue
    const part = isNamed ? untoldPart(value, words, told, DEPTH) : value
    if (part === undefined) continue
    left ??= Object.create(null) as Record<string, Json>
    left[key] = part
  }
  return left
}

/** Only what is not told of it; in lists null stands for elements that are. Undefined when all of it is. */
function untoldPart(value: Json, words: ReadonlySet<string>, told: Told, depth: number): Json | undefined {
  if (isTold(value, words, told, depth)) return undefined
  if (depth === 0 || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const parts = (value as readonly Json[]).map((one) => untoldPart(one, words, told, depth - 1) ?? null)
    return parts
  }
  const left = Object.create(null) as Record<string, Json>
  for (const [key, one] of Object.entries(value)) {
    const part = words.has(key) || told.keys.has(key) ? untoldPart(one, words, told, depth - 1) : one
    if (part !== undefined) left[key] = part
  }
  return left
}

const isInside = (taken: (value: Json) => boolean): taken is Inside => 'words' in taken

/** Deeper than this nothing is looked for, and the field is kept whole. */
const DEPTH = 32

type Told = { readonly texts: ReadonlySet<string>; readonly keys: ReadonlySet<string> }

function toldBy(said: Partial<Said>): Told {
  const texts = new Set<string>()
  const keys = new Set<string>()
  const stack: unknown[] = [said]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (typeof next === 'string') texts.add(next)
    else if (Array.isArray(next)) for (const one of next as readonly unknown[]) stack.push(one ?? '')
    else if (isObject(next)) {
      for (const key of Object.keys(next)) {
        keys.add(key)
        stack.push(next[key] ?? '')
      }
    }
  }
  return { texts, keys }
}

function isTold(value: Json, words: ReadonlySet<string>, told: Told, depth: number): boolean {
  if (typeof value === 'string') {
    if (value === '' || words.has(value) || told.texts.has(value)) return true
    // `tool-<name>`, as UI messages call the parts of a tool.
    if (value.startsWith('tool-') && told.texts.has(value.slice('tool-'.length))) return true
    const data = value.startsWith('data:') ? value.indexOf(';base64,') : -1
    if (data > 0 && told.texts.has(value.slice(data + ';base64,'.length))) return true
    // Arguments are JSON in a text, and the entry holds what they say.
    const inner = value.startsWith('{') || value.startsWith('[') ? parseJson(value) : undefined
    return inner !== undefined && depth > 0 && isTold(inner, words, told, depth - 1)
  }
  if (typeof value !== 'object' || value === null) return true
  if (depth === 0) return false
  if (Array.isArray(value)) return value.every((one) => isTold(one, words, told, depth - 1))
  return Object.entries(value).every(
    ([key, one]) => (words.has(key) || told.keys.has(key)) && isTold(one, words, told, depth - 1),
  )
}
