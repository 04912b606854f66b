/**
 * Secrets out of a JSON value: every string, every key, and values whose key says what they are. Objects and arrays come back
 * as they are when nothing in them changed.
 */
import { HansardError } from '../errors.ts'
import { isObject, type Json, type JsonObject } from '../transcript/json.ts'
import { kindOf, secrecyOf } from './names.ts'
import { isRedacted } from './placeholder.ts'
import { isStandIn, looksSecret } from './values.ts'
import { vendorOf, type Replace } from './text.ts'

type Ways = {
  /** All rules. */
  readonly text: (text: string) => string
  /** Known values only: for what is random by nature. */
  readonly exact: (text: string) => string
  readonly replace: Replace
  /** Keys found to hold no secret: most objects have the keys of the one before. */
  readonly cleanKeys: Set<string>
}

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

export function redactJson(value: Json, ways: Ways): Json {
  return walk(value, undefined, ways, 0)
}

/** `name` is the key under which the value stands, when it has one; the items of a list stand under the list's. */
function walk(value: Json, name: string | undefined, ways: Ways, depth: number): Json {
  if (typeof value === 'string') return redactString(value, name, ways)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= DEEPEST) {
    throw new HansardError('too-large', `nested deeper than ${DEEPEST} levels`)
  }
  if (Array.isArray(value)) {
    let changed: Json[] | undefined
    for (let i = 0; i < value.length; i += 1) {
      const item = value[i] as Json
      const redacted = walk(item, name, ways, depth + 1)
      if (redacted === item) continue
      changed ??= [...value]
      changed[i] = redacted
    }
    return changed ?? value
  }
  return isObject(value) ? walkObject(value, ways, depth) : value
}

function walkObject(object: JsonObject, ways: Ways, depth: number): JsonObject {
  const keys = Object.keys(object)
  const opaque = isBase64Data(object)
  // `{ name: 'Authorization', value: '…' }`: the way some programs write headers and variables.
  const named = typeof object['value'] === 'string' ? (object['name'] ?? object['key']) : undefined
  let changed: [string, Json][] | undefined
  for (let i = 0; i < keys.length; i += 1) {
    const key = keys[i] as string
    const value = object[key] as Json
    const name = key === 'value' && typeof named === 'string' ? named : key
    const redactedKey = redactKey(key, ways)
    const redacted =
      typeof value === 'string' && (OPAQUE.has(key) || (opaque && key === 'data'))
        ? ways.exact(value)
        : walk(value, name, ways, depth + 1)
    if (redactedKey === key && redacted === value && changed === undefined) continue
    changed ??= keys.slice(0, i).map((before) => [before, object[before] as Json])
    changed.push([redactedKey, redacted])
  }
  // `fromEntries` makes an own property of `__proto__` too, where an assignment would not.
  return changed === undefined ? object : Object.fromEntries(changed)
}

function redactKey(key: string, { text, cleanKeys }: Ways): string {
  if (key.length < 8 || cleanKeys.has(key)) return key
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
  if (name === undefined || secrecy === undefined || value === '') return ways.text(value)
  const known = ways.exact(value)
  if (isRedacted(known)) return known
  const scheme = SCHEME.exec(value)?.[0] ?? ''
  const secret = value.slice(scheme.length)
  const isSecret =
    secrecy === 'strong' ? !isStandIn(secret) : looksSecret(secret, { quoted: true, strong: false })
  if (!isSecret) return ways.text(known)
  return scheme + ways.replace(vendorOf(secret) ?? kindOf(name), secret)
}
