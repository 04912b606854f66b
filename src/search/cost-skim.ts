/**
 * What a line of Claude Code's says of a call, without making an object of all the rest of it. The line is checked to its last byte:
 * what JSON.parse would refuse is refused here, and of a name that comes twice the last counts, as there.
 */
import type { JsonObject } from '../transcript/json.ts'
import { endOfUsage, readUsage } from './cost-usage.ts'

/** What is looked for, and its place in the lists of where values stand. From `id` on, it is the message's. */
export const AT = {
  type: 0,
  timestamp: 1,
  uuid: 2,
  parentUuid: 3,
  isApiErrorMessage: 4,
  message: 5,
  id: 6,
  model: 7,
  usage: 8,
  stop_reason: 9,
  content: 10,
} as const

const FIELDS = Object.entries(AT)
export const OF_LINE = FIELDS.filter(([, place]) => place <= AT.message)
export const OF_MESSAGE = FIELDS.filter(([, place]) => place > AT.message)
const ODD = -2
const NONE = -1

/** Deeper ones are left to a reader that may take its time. */
export const MOST_DEPTH = 200

const [QUOTE, BACKSLASH, COLON, COMMA, OPEN, CLOSE, LIST, END_LIST, SMALL_U, NEWLINE, RETURN] = [
  0x22, 0x5c, 0x3a, 0x2c, 0x7b, 0x7d, 0x5b, 0x5d, 0x75, 0x0a, 0x0d,
] as const

export type Skimmer = {
  /** False for what is no JSON object, or too deep, or not a line: its end, and some bytes more, have to be there. */
  readonly skim: (bytes: Buffer, from: number, to: number) => boolean
  /** Where the values of the last line begin, with their quotes; -1 for one that is not there. */
  readonly starts: Int32Array
  /** Where those end that are there. */
  readonly ends: Int32Array
  /** True for a line that says something by a name that is ours, or in names that are not plain. */
  readonly isOdd: () => boolean
  /** The usage of the last line, where there is one and it is a usual one. */
  readonly usage: () => JsonObject | undefined
}

/** `odd`: names at the top of a line that make it one to be read whole. */
export function createSkimmer(odd: ReadonlySet<string>): Skimmer {
  const starts = new Int32Array(FIELDS.length)
  const ends = new Int32Array(FIELDS.length)
  const lineNames = createNames([...OF_LINE, ...Array.from(odd, (name) => [name, ODD] as const)])
  const messageNames = createNames(OF_MESSAGE)
  let isOdd = false
  let usage: JsonObject | undefined
  let bytes: Buffer = Buffer.alloc(0)
  /** The same bytes, several at a time. */
  let view = new DataView(bytes.buffer)
  let end = 0
  const skipText = (at: number): number => skipString(bytes, view, at, end)

  /** The byte after a value, or -1. `depth`: how many objects and lists are around it; `isMessage`: the line's own message. */
  const value = (at: number, depth: number, isMessage: boolean): number => {
    const first = bytes[at] as number
    if (at >= end) return -1
    if (first === QUOTE) return skipText(at)
    if (first === OPEN) {
      if (depth === 0) return object(at, 1, lineNames)
      return isMessage ? object(at, 2, messageNames) : object(at, depth + 1, undefined)
    }
    if (first === LIST) return list(at, depth + 1)
    return skipPlain(bytes, at, end)
  }

  const object = (open: number, depth: number, names: Names | undefined): number => {
    if (depth > MOST_DEPTH) return -1
    let at = skipSpace(bytes, open + 1, end)
    if (bytes[at] === CLOSE && at < end) return at + 1
    for (;;) {
      if (at >= end || bytes[at] !== QUOTE) return -1
      const name = at
      at = skipText(at)
      if (at === -1) return -1
      const field = names === undefined ? NONE : placeOf(names, bytes, name + 1, at - 1)
      if (field === ODD) isOdd = true
      at = skipSpace(bytes, at, end)
      if (at >= end || bytes[at] !== COLON) return -1
      at = skipSpace(bytes, at + 1, end)
      const from = at
      // Of a message that is said again, nothing of the one before is left.
      if (field === AT.message) {
        starts.fill(NONE, AT.message)
        usage = undefined
      }
      if (field === AT.usage) at = usageValue(at, depth)
      else at = value(at, depth, field === AT.message)
      if (at === -1) return -1
      if (field >= 0) {
        starts[field] = from
        ends[field] = at
      }
      at = skipSpace(bytes, at, end)
      if (at >= end) return -1
      if (bytes[at] === CLOSE) return at + 1
      if (bytes[at] !== COMMA) return -1
      at = skipSpace(bytes, at + 1, end)
    }
  }

  /** Read as it is passed over, for it is asked for in nearly every line. */
  const usageValue = (from: number, depth: number): number => {
    usage = readUsage(bytes, from)
    return usage === undefined ? value(from, depth, false) : endOfUsage()
  }

  const list = (open: number, depth: number): number => {
    if (depth > MOST_DEPTH) return -1
    let at = skipSpace(bytes, open + 1, end)
    if (bytes[at] === END_LIST && at < end) return at + 1
    for (;;) {
      at = value(at, depth, false)
      if (at === -1) return -1
      at = skipSpace(bytes, at, end)
      if (at >= end) return -1
      if (bytes[at] === END_LIST) return at + 1
      if (bytes[at] !== COMMA) return -1
      at = skipSpace(bytes, at + 1, end)
    }
  }

  return {
    starts,
    ends,
    isOdd: () => isOdd,
    usage: () => usage,
    skim(all, from, to) {
      if (bytes !== all) view = new DataView(all.buffer, all.byteOffset, all.length)
      bytes = all
      end = to
      starts.fill(NONE)
      usage = undefined
      isOdd = false
      if (to + AHEAD > all.length || (all[to] !== NEWLINE && all[to] !== RETURN)) return false
      const start = skipSpace(all, from, to)
      if (start >= to || all[start] !== OPEN) return false
      const after = value(start, 0, false)
      return after !== -1 && skipSpace(all, after, to) === to
    },
  }
}

/** By their length: what each is spelled like, and what stands for it. */
type Names = readonly (readonly Name[] | undefined)[]
type Name = { readonly text: Uint8Array; readonly place: number }

function createNames(all: readonly (readonly [string, number])[]): Names {
  const byLength: Name[][] = []
  for (const [name, place] of all) (byLength[name.length] ??= []).push({ text: Buffer.from(name), place })
  return Array.from(byLength)
}

/** Which of these names stands between two quotes. One that is spelled with a backslash may be any. */
function placeOf(names: Names, bytes: Buffer, from: number, to: number): number {
  const known = to - from < names.length ? names[to - from] : undefined
  if (known !== undefined) {
    for (let n = 0; n < known.length; n += 1) {
      const { text, place } = known[n] as Name
      let at = 0
      while (at < text.length && text[at] === bytes[from + at]) at += 1
      if (at === text.length) return place
    }
  }
  for (let at = from; at < to; at += 1) if (bytes[at] === BACKSLASH) return ODD
  return NONE
}

function skipSpace(bytes: Buffer, from: number, end: number): number {
  let at = from
  for (; at < end; at += 1) {
    const byte = bytes[at] as number
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d && byte !== 0x0a) return at
  }
  return at
}

/** What may stand behind a backslash. */
const ESCAPED = new Uint8Array(256)
for (const letter of '"\\/bfnrt') ESCAPED[letter.charCodeAt(0)] = 1

/** Bytes looked at together: as many must be there behind a line. */
const AHEAD = 8

/**
 * The byte after the closing quote, or -1. Most of a log passes through here: what ends a line ends every string, so that no byte is
 * asked whether it is the last, and four are asked at once.
 */
function skipString(bytes: Buffer, view: DataView, open: number, end: number): number {
  let at = open + 1
  for (;;) {
    let stops = stopsIn(view.getInt32(at, true))
    while (stops === 0) {
      at += 4
      const next = view.getInt32(at + 4, true)
      stops = stopsIn(view.getInt32(at, true))
      if (stops !== 0) break
      at += 4
      stops = stopsIn(next)
    }
    // The lowest bit that is set is that of the first of them.
    at += (31 - Math.clz32(stops & -stops)) >>> 3
    const byte = bytes[at] as number
    if (byte === QUOTE) return at < end ? at + 1 : -1
    if (byte !== BACKSLASH || at + 1 >= end) return -1
    const escaped = bytes[at + 1] as number
    if (ESCAPED[escaped] === 1) {
      at += 2
      continue
    }
    if (escaped !== SMALL_U || at + 6 > end) return -1
    for (let digit = at + 2; digit < at + 6; digit += 1) if (!isHex(bytes[digit] as number)) return -1
    at += 6
  }
}

/**
 * Of four bytes, the highest bit of each that ends a string or says something in it: a byte less than another borrows from it. Of
 * those behind the first, bits may be set that should not be.
 */
function stopsIn(word: number): number {
  const quote = (word ^ 0x2222_2222) - 0x0101_0101
  const backslash = (word ^ 0x5c5c_5c5c) - 0x0101_0101
  return (quote | backslash | (word - 0x2020_2020)) & ~word & 0x8080_8080
}

const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39

function isHex(byte: number): boolean {
  return isDigit(byte) || (byte >= 0x61 && byte <= 0x66) || (byte >= 0x41 && byte <= 0x46)
}

const WORDS = ['true', 'false', 'null'].map((word) => Buffer.from(word))

/** A number, `true`, `false` or `null`: the byte after it, or -1. */
function skipPlain(bytes: Buffer, from: number, end: number): number {
  const first = bytes[from] as number
  if (first === MINUS || isDigit(first)) return skipNumber(bytes, from, end)
  for (const word of WORDS) {
    if (word[0] !== first) continue
    if (from + word.length > end) return -1
    for (let n = 1; n < word.length; n += 1) if (bytes[from + n] !== word[n]) return -1
    return from + word.length
  }
  return -1
}

const [MINUS, PLUS, POINT, ZERO] = [0x2d, 0x2b, 0x2e, 0x30] as const

function skipNumber(bytes: Buffer, from: number, end: number): number {
  let at = bytes[from] === MINUS ? from + 1 : from
  const whole = skipDigits(bytes, at, end)
  if (whole === at || (bytes[at] === ZERO && whole > at + 1)) return -1
  at = whole
  if (at < end && bytes[at] === POINT) {
    const fraction = skipDigits(bytes, at + 1, end)
    if (fraction === at + 1) return -1
    at = fraction
  }
  if (at < end && ((bytes[at] as number) | 0x20) === 0x65) {
    const sign = bytes[at + 1]
    const digits = sign === PLUS || sign === MINUS ? at + 2 : at + 1
    const exponent = skipDigits(bytes, digits, end)
    if (exponent === digits) return -1
    at = exponent
  }
  return at
}

function skipDigits(bytes: Buffer, from: number, end: number): number {
  let at = from
  while (at < end && isDigit(bytes[at] as number)) at += 1
  return at
}
