/**
 * Secrets out of a JSON value: every string, every key, and values whose key says what they are. Objects and arrays come back
 * as they are when nothing in them changed.
 */
import { types } from 'node:util'
import { HansardError } from '../errors.ts'
import type { Json, JsonObject } from '../transcript/json.ts'
import { judgeChild, type Child } from './containers.ts'
import { isPairs, judgeNext } from './lists.ts'
import { FAINT_LENGTH, kindOf, secrecyOf, type Secrecy } from './names.ts'
import { isRedacted } from './placeholder.ts'
import { isStandIn, looksSecret } from './values.ts'
import type { Replace } from './text.ts'
import { vendorOf } from './vendor-keys.ts'

export type Ways = {
  /** All rules. */
  readonly text: (text: string) => string
  /** Known values only: for what is random by nature. */
  readonly exact: (text: string) => string
  /** All rules, and the result can still be a file's name. */
  readonly id: (text: string) => string
  readonly replace: Replace
  /** Keys found to hold no secret: most objects have the keys of the one before. */
  readonly cleanKeys: Set<string>
}

/** How one field of a record that we know is looked at; the others are looked at as any JSON. */
export type Way = (value: Json, ways: Ways, depth: number) => Json
export type Fields = ReadonlyMap<string, Way>

const MOST_KEYS = 2_000

/** Deeper than anything that people or programs mean; safe for the stack. */
const DEEPEST = 400

/** Signatures and encrypted reasoning: any rule that found a key in them would be wrong. */
const OPAQUE = new Set([
  'signature',
  'thoughtSignature',
  'thought_signature',
  'encrypted_content',
  'encryptedContent',
])

const SCHEME = /^(?:bearer|basic|token|digest|apikey|negotiate)\s+/i
const BLOB = /^sha256:[0-9a-f]{64}$/

/**
 * `name` is the key under which the value stands, when it has one; the items of a list stand under the list's. `fields` are
 * those of a record that we know.
 */
export function walk(
  value: Json,
  name: string | undefined,
  ways: Ways,
  depth: number,
  fields?: Fields,
): Json {
  if (typeof value === 'string') return redactString(value, name, ways)
  // Never written, except one that is called `toJSON`: what that says has to be looked at here.
  if (typeof value === 'function') return undefined as never
  if (typeof value !== 'object' || value === null) return value
  if (depth >= DEEPEST) {
    throw new HansardError('too-large', `nested deeper than ${DEEPEST} levels`)
  }
  if (Array.isArray(value)) return walkList(value, name, ways, depth)
  const written = asWritten(value)
  if (written !== value) return walk(written, name, ways, depth + 1, fields)
  return walkObject(value as JsonObject, name, ways, depth, fields)
}

/** What will be written of an object: some say so themselves, and not what their properties say. */
function asWritten(value: unknown): Json {
  if (types.isStringObject(value)) return String(value)
  const says = (value as { readonly toJSON?: unknown }).toJSON
  return (typeof says === 'function' ? says.call(value) : value) as Json
}

function walkList(list: readonly Json[], name: string | undefined, ways: Ways, depth: number): Json {
  const pairs = isPairs(list)
  return mapItems(list, (item, i) => {
    if (pairs) return walkPair(item as readonly [string, Json], ways, depth + 1)
    const before = list[i - 1]
    if (typeof item !== 'string' || typeof before !== 'string') return walk(item, name, ways, depth + 1)
    const next = judgeNext(before, item)
    if (next === undefined) return redactString(item, name, ways)
    return item.slice(0, next.from) + redactNamed(item.slice(next.from), next, ways)
  })
}

/** `['x-api-key', '…']` in a list of such: as good as a key and its value. */
function walkPair(pair: readonly [string, Json], ways: Ways, depth: number): Json {
  return mapItems(pair, (item, i) => walk(item, i === 0 ? undefined : pair[0], ways, depth + 1))
}

/** The very same list when no item changed. */
export function mapItems(list: readonly Json[], map: (item: Json, i: number) => Json): Json {
  let changed: Json[] | undefined
  for (let i = 0; i < list.length; i += 1) {
    const item = list[i] as Json
    const mapped = map(item, i)
    if (mapped === item) continue
    changed ??= [...list]
    changed[i] = mapped
  }
  return changed ?? list
}

function walkObject(
  object: JsonObject,
  name: string | undefined,
  ways: Ways,
  depth: number,
  fields: Fields | undefined,
): JsonObject {
  const keys = Object.keys(object)
  const opaque = isBase64Data(object)
  // `{ name: 'Authorization', value: '…' }`: the way some programs write headers and variables.
  const named = typeof object['value'] === 'string' ? (object['name'] ?? object['key']) : undefined
  let changed: [string, Json][] | undefined
  for (let i = 0; i < keys.length; i += 1) {
    const key = keys[i] as string
    const value = object[key] as Json
    const redactedKey = redactKey(key, ways)
    let redacted: Json
    const way = fields?.get(key)
    if (way !== undefined) redacted = way(value, ways, depth + 1)
    else if (typeof value !== 'string') redacted = walk(value, key, ways, depth + 1)
    else if (OPAQUE.has(key) || (opaque && key === 'data')) redacted = ways.exact(value)
    else if (key === 'blob' && BLOB.test(value)) redacted = value
    else {
      const own = key === 'value' && typeof named === 'string' ? named : key
      const child = name === undefined ? undefined : judgeChild(name, own, named !== undefined, value)
      redacted = child === undefined ? redactString(value, own, ways) : redactNamed(value, child, ways)
    }
    if (redactedKey === key && redacted === value && changed === undefined) continue
    changed ??= keys.slice(0, i).map((before) => [before, object[before] as Json])
    changed.push([redactedKey, redacted])
  }
  // `fromEntries` makes an own property of `__proto__` too, where an assignment would not.
  return changed === undefined ? object : Object.fromEntries(changed)
}

function redactKey(key: string, { text, cleanKeys }: Ways): string {
  if (cleanKeys.has(key)) return key
  const redacted = text(key)
  if (redacted === key && key.length <= 64 && cleanKeys.size < MOST_KEYS) cleanKeys.add(key)
  return redacted
}

/** Images and encrypted thinking, as the providers' messages hold them. */
function isBase64Data({ type, data, media_type, mimeType, mediaType }: JsonObject): boolean {
  if (typeof data !== 'string') return false
  return (
    type === 'base64' ||
    type === 'redacted_thinking' ||
    [media_type, mimeType, mediaType].some((t) => typeof t === 'string')
  )
}

function redactString(value: string, name: string | undefined, ways: Ways): string {
  if (value.startsWith('data:')) return ways.exact(value)
  const secrecy = name === undefined ? undefined : secrecyOf(name)
  const isShort = secrecy === 'faint' && value.length < FAINT_LENGTH
  if (name === undefined || secrecy === undefined || isShort) return ways.text(value)
  return redactNamed(value, { name, secrecy }, ways)
}

/** A value whose name, or place, says that it is or may be a secret. */
function redactNamed(
  value: string,
  { name, secrecy }: Child | { name: string; secrecy: Secrecy },
  ways: Ways,
): string {
  const known = ways.exact(value)
  if (value === '' || isRedacted(known)) return known
  const scheme = SCHEME.exec(value)?.[0] ?? ''
  const secret = value.slice(scheme.length)
  const isSecret =
    secrecy === 'strong'
      ? !isStandIn(secret)
      : looksSecret(secret, { quoted: true, trust: secrecy === 'likely' ? 'likely' : 'weak' })
  if (!isSecret) return ways.text(known)
  return scheme + ways.replace(vendorOf(secret) ?? kindOf(name), secret)
}
