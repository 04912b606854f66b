/**
 * Where the parts of a JSON document lie, found without parsing it: in one pass, in linear time, and as far as a cut-off or
 * damaged document goes. What is found is parsed part by part, so one bad turn costs that turn and every part has its offset.
 */
import { parseJson, type Json } from '../../transcript/json.ts'

/** Bytes `from` up to and without `to`. `whole` is false when the document ends inside the value. */
export type Extent = { readonly from: number; readonly to: number; readonly whole: boolean }

export type Members = {
  /** By key; the last one of a key counts, as in `JSON.parse`. */
  readonly members: ReadonlyMap<string, Extent>
  /** True when the closing brace was found. */
  readonly ended: boolean
  /** Behind the last byte looked at. */
  readonly to: number
}

export type Elements = {
  readonly elements: readonly Extent[]
  /** Behind the last byte looked at. */
  readonly to: number
  /** True when there are more elements than anybody writes: the rest was not looked at. */
  readonly tooMany: boolean
  /** False when the document ends, or the brackets stop matching, before the list does. */
  readonly ended: boolean
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const NEWLINE = 0x0a
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d

/** The members of the object that begins at or after `from`; undefined when what begins there is no object. */
export function scanMembers(bytes: Buffer, from: number): Members | undefined {
  let at = skipSpace(bytes, from)
  if (bytes[at] !== OPEN_BRACE) return undefined
  const members = new Map<string, Extent>()
  at += 1
  for (;;) {
    at = skipSpace(bytes, at, COMMA)
    if (at >= bytes.length) return { members, ended: false, to: at }
    if (bytes[at] === CLOSE_BRACE) return { members, ended: true, to: at + 1 }
    if (bytes[at] !== QUOTE) {
      const next = bytes.indexOf(QUOTE, at)
      at = next === -1 ? bytes.length : next
      continue
    }
    const keyEnd = skipString(bytes, at)
    const key = keyEnd.whole ? parsePart(bytes, { from: at, to: keyEnd.to }) : undefined
    at = skipSpace(bytes, keyEnd.to)
    if (bytes[at] !== COLON) continue
    const value = skipValue(bytes, skipSpace(bytes, at + 1))
    if (typeof key === 'string' && value.to > value.from) members.set(key, value)
    at = value.to
  }
}

/** The elements of the list that begins at `from`; at most `limit` of them, so that a hostile list cannot fill memory. */
export function scanElements(bytes: Buffer, from: number, limit: number): Elements {
  const elements: Extent[] = []
  const stop = (to: number, ended: boolean, tooMany = false): Elements => ({ elements, to, ended, tooMany })
  if (bytes[from] !== OPEN_BRACKET) return stop(from, false)
  let at = from + 1
  for (;;) {
    at = skipSpace(bytes, at, COMMA)
    const first = bytes[at]
    if (first === CLOSE_BRACKET) return stop(at + 1, true)
    if (first === undefined || first === CLOSE_BRACE || first === COLON) return stop(at, false)
    if (elements.length === limit) return stop(at, false, true)
    const element = skipValue(bytes, at)
    elements.push(element)
    if (!element.whole) return stop(element.to, false)
    at = element.to
  }
}

/** The one value that begins at `from`: brackets are counted, not matched, since only parsing can tell if it is right. */
export function skipValue(bytes: Buffer, from: number): Extent {
  const first = bytes[from]
  if (first === QUOTE) return { from, ...skipString(bytes, from) }
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return skipScalar(bytes, from)
  let depth = 0
  let at = from
  while (at < bytes.length) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      at = skipString(bytes, at).to
      continue
    }
    at += 1
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth -= 1
      if (depth === 0) return { from, to: at, whole: true }
    }
  }
  return { from, to: bytes.length, whole: false }
}

/** A part's value; undefined when it is not JSON. */
export function parsePart(bytes: Buffer, { from, to }: Pick<Extent, 'from' | 'to'>): Json | undefined {
  return parseJson(bytes.toString('utf8', from, to))
}

/** Past white space, NUL runs (which crashes leave) and, where asked, one more byte that stands between values. */
export function skipSpace(bytes: Buffer, from: number, also?: number): number {
  let at = from
  while (at < bytes.length && ((bytes[at] as number) <= 0x20 || bytes[at] === also)) at += 1
  return at
}

/** A raw newline cannot stand in a JSON string, so one there means that a quote was lost: the string ends before it. */
function skipString(bytes: Buffer, from: number): { readonly to: number; readonly whole: boolean } {
  let at = from + 1
  while (at < bytes.length) {
    const byte = bytes[at]
    if (byte === QUOTE) return { to: at + 1, whole: true }
    if (byte === NEWLINE) return { to: at, whole: false }
    at += byte === BACKSLASH && bytes[at + 1] !== NEWLINE ? 2 : 1
  }
  return { to: bytes.length, whole: false }
}

function skipScalar(bytes: Buffer, from: number): Extent {
  let at = from
  while (at < bytes.length && !endsScalar(bytes[at] as number)) at += 1
  // A number at the very end of the bytes may have lost digits.
  return { from, to: at, whole: at < bytes.length }
}

function endsScalar(byte: number): boolean {
  return (
    byte <= 0x20 || byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || byte === OPEN_BRACE
  )
}
