/**
 * A usage object of Claude Code's from its bytes, as JSON.parse would have it: one stands in every other line, and it is faster to go
 * over it than to make a text of it first. Undefined for one with anything unusual in it, which JSON.parse reads.
 */
import type { Json, JsonObject } from '../transcript/json.ts'

const NAMES = [
  'input_tokens',
  'output_tokens',
  'cache_creation_input_tokens',
  'cache_read_input_tokens',
  'cache_creation',
  'ephemeral_5m_input_tokens',
  'ephemeral_1h_input_tokens',
  'service_tier',
  'server_tool_use',
  'web_search_requests',
  'web_fetch_requests',
  'inference_geo',
  'iterations',
  'speed',
  'output_tokens_details',
  'thinking_tokens',
] as const
type Name = { readonly place: number; readonly bytes: Buffer }
const BY_LENGTH: Name[][] = []
for (const [place, text] of NAMES.entries())
  (BY_LENGTH[text.length] ??= []).push({ place, bytes: Buffer.from(text) })

const WORDS = ['standard', 'priority', 'batch', 'not_available', 'global', 'us', ''].map((text) => ({
  text,
  bytes: Buffer.from(text),
}))

const [QUOTE, COLON, COMMA, OPEN, CLOSE, LIST, END_LIST, ZERO, NINE, BACKSLASH] = [
  0x22, 0x3a, 0x2c, 0x7b, 0x7d, 0x5b, 0x5d, 0x30, 0x39, 0x5c,
] as const
const NULL = Buffer.from('null')
/** More digits may not be a whole number here. */
const MOST_DIGITS = 15
const MOST_DEPTH = 3
const LONGEST_TEXT = 40

/** Where the reader stands. */
let at = 0
let isOdd = false

/** What begins there, checked to its last byte. */
export function readUsage(bytes: Buffer, from: number): JsonObject | undefined {
  at = from
  isOdd = false
  const value = bytes[from] === OPEN ? readObject(bytes, 0) : undefined
  return isOdd ? undefined : value
}

/** The byte after the one that was read last. */
export function endOfUsage(): number {
  return at
}

/** The count there, and nothing else behind it; -1 for anything else, and for nowhere. */
export function readCountAt(bytes: Buffer, from: number): number {
  const first = from < 0 ? QUOTE : (bytes[from] as number)
  if (first < ZERO || first > NINE) return -1
  at = from
  isOdd = false
  const value = readCount(bytes)
  const next = bytes[at]
  return isOdd || (next !== COMMA && next !== CLOSE) ? -1 : value
}

type Usual = { -readonly [K in (typeof NAMES)[number]]?: Json }

/** Assigned by name: by number, or in a row, takes several times as long. */
function assign(object: Usual, name: number, value: Json): void {
  switch (name) {
    case 0:
      object.input_tokens = value
      break
    case 1:
      object.output_tokens = value
      break
    case 2:
      object.cache_creation_input_tokens = value
      break
    case 3:
      object.cache_read_input_tokens = value
      break
    case 4:
      object.cache_creation = value
      break
    case 5:
      object.ephemeral_5m_input_tokens = value
      break
    case 6:
      object.ephemeral_1h_input_tokens = value
      break
    case 7:
      object.service_tier = value
      break
    default:
      object[NAMES[name] as (typeof NAMES)[number]] = value
  }
}

function readObject(bytes: Buffer, depth: number): JsonObject {
  const object: Usual = {}
  at += 1
  if (bytes[at] === CLOSE) {
    at += 1
    return object
  }
  for (;;) {
    const name = readName(bytes)
    if (name === -1 || bytes[at] !== COLON || depth > MOST_DEPTH) {
      isOdd = true
      return object
    }
    at += 1
    assign(object, name, readValue(bytes, depth))
    const next = bytes[at]
    at += 1
    if (isOdd || next === CLOSE) return object
    if (next !== COMMA) isOdd = true
  }
}

/** The place of one of those that are known, or -1: no name of a stranger's is ever assigned. */
function readName(bytes: Buffer): number {
  if (bytes[at] !== QUOTE) return -1
  const from = at + 1
  let end = from
  while (end < from + LONGEST_TEXT && bytes[end] !== QUOTE) end += 1
  const known = BY_LENGTH[end - from]
  if (known === undefined) return -1
  for (let n = 0; n < known.length; n += 1) {
    const name = known[n] as Name
    if (!isAt(bytes, from, name.bytes)) continue
    at = end + 1
    return name.place
  }
  return -1
}

function readValue(bytes: Buffer, depth: number): Json {
  const first = bytes[at] as number
  if (first >= ZERO && first <= NINE) return readCount(bytes)
  if (first === QUOTE) return readText(bytes)
  if (first === OPEN) return readObject(bytes, depth + 1)
  if (first === LIST && bytes[at + 1] === END_LIST) {
    at += 2
    return []
  }
  if (isAt(bytes, at, NULL)) at += NULL.length
  else isOdd = true
  return null
}

function readCount(bytes: Buffer): number {
  const from = at
  let value = 0
  for (let digit = bytes[at] as number; digit >= ZERO && digit <= NINE; digit = bytes[at] as number) {
    value = value * 10 + (digit - ZERO)
    at += 1
  }
  if (at - from > MOST_DIGITS || (bytes[from] === ZERO && at - from > 1)) isOdd = true
  return value
}

/** Nearly all are one of a few words. */
function readText(bytes: Buffer): string {
  const from = at + 1
  let end = from
  for (let byte = bytes[end] as number; byte !== QUOTE; byte = bytes[end] as number) {
    end += 1
    if (byte !== BACKSLASH && byte >= 0x20 && byte < 0x80 && end < from + LONGEST_TEXT) continue
    isOdd = true
    return ''
  }
  at = end + 1
  const word = WORDS.find(({ bytes: own }) => own.length === end - from && isAt(bytes, from, own))
  return word?.text ?? bytes.toString('latin1', from, end)
}

function isAt(bytes: Buffer, from: number, own: Buffer): boolean {
  for (let n = 0; n < own.length; n += 1) if (bytes[from + n] !== own[n]) return false
  return true
}
