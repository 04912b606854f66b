/**
 * JSON of many MB out of bytes, without all of it as one string: its long strings are put in order where they lie and decoded each by
 * itself, so that they are held once instead of twice. The same value as `parseJson` gives, or undefined for what is to be asked of that.
 */
import { isUtf8 } from 'node:buffer'
import { isObject, parseJson, type Json } from './json.ts'
import { isSwelling } from './swelling.ts'

export type LongJson = {
  readonly value: Json
  /** The JSON with something short in place of each long string. */
  readonly text: string
}

/** Bytes: shorter strings are parsed with the rest. */
const LONG_STRING = 256 * 1024

const [QUOTE, BACKSLASH, COLON, SMALL_U, SPACE] = [0x22, 0x5c, 0x3a, 0x75, 0x20] as const

export type LongJsonOptions = {
  /** In bytes: shorter strings are parsed with the rest. */
  readonly longest?: number
  /** The bytes are left as they are: what has escapes is copied. */
  readonly isKept?: boolean
}

/** Written over, unless it comes to nothing. */
export function parseLong(
  bytes: Buffer,
  { longest = LONG_STRING, isKept = false }: LongJsonOptions = {},
): LongJson | undefined {
  const strings = findLong(bytes, longest)
  if (strings === undefined || strings.length === 0 || !isUtf8(bytes)) return undefined
  let text = ''
  let from = 0
  for (const [nth, { start, end }] of strings.entries()) {
    text += `${bytes.toString('utf8', from, start)}\\u0000${nth}`
    from = end
  }
  text += bytes.toString('utf8', from)
  // Nothing else may look like what stands in for them.
  if (text.split('\\u0000', strings.length + 2).length !== strings.length + 1) return undefined
  const value = isSwelling(text, bytes.length) ? undefined : parseJson(text)
  if (value === undefined) return undefined
  const long = strings.map(({ start, end, isEscaped }) => {
    if (!isEscaped) return bytes.toString('utf8', start, end)
    if (!isKept) return bytes.toString('utf8', start, unescape(bytes, start, end))
    const own = Buffer.from(bytes.subarray(start, end))
    return own.toString('utf8', 0, unescape(own, 0, own.length))
  })
  return { value: putBack(value, long), text }
}

/** Between the quotes. */
type LongString = { readonly start: number; readonly end: number; readonly isEscaped: boolean }

/** Undefined where a long string is none, or has half characters, which no bytes stand for. Names are left where they are. */
function findLong(bytes: Buffer, longest: number): LongString[] | undefined {
  const found: LongString[] = []
  for (let at = bytes.indexOf(QUOTE); at !== -1; at = bytes.indexOf(QUOTE, at)) {
    const start = at + 1
    let isEscaped = false
    let isPlain = true
    for (at = start; at < bytes.length; at += 1) {
      const byte = bytes[at] as number
      if (byte === QUOTE) break
      if (byte < SPACE) isPlain = false
      if (byte !== BACKSLASH) continue
      isEscaped = true
      at += 1
    }
    const end = at
    at += 1
    if (end - start <= longest || isName(bytes, at)) continue
    if (!isPlain || (isEscaped && !canUnescape(bytes, start, end))) return undefined
    found.push({ start, end, isEscaped })
  }
  return found
}

function isName(bytes: Buffer, behind: number): boolean {
  let at = behind
  while (at < bytes.length && (bytes[at] as number) <= SPACE) at += 1
  return bytes[at] === COLON
}

/** By the letter behind a backslash: what both stand for. */
const ESCAPED: ReadonlyMap<number, number> = new Map(
  Object.entries({ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }).map(
    ([letter, stands]) => [letter.charCodeAt(0), stands.charCodeAt(0)],
  ),
)

function canUnescape(bytes: Buffer, start: number, end: number): boolean {
  for (let at = bytes.indexOf(BACKSLASH, start); at !== -1 && at < end; at = bytes.indexOf(BACKSLASH, at)) {
    if (bytes[at + 1] === SMALL_U) {
      const code = unitAt(bytes, at)
      const isHigh = code >= 0xd800 && code < 0xdc00
      if (code === -1 || (code >= 0xdc00 && code < 0xe000) || (isHigh && !isLow(unitAt(bytes, at + 6))))
        return false
      at += isHigh ? 12 : 6
    } else if (ESCAPED.has(bytes[at + 1] as number)) at += 2
    else return false
  }
  return true
}

const isLow = (code: number): boolean => code >= 0xdc00 && code < 0xe000

/** What `\uXXXX` stands for; -1 where there is none. */
function unitAt(bytes: Buffer, at: number): number {
  if (bytes[at] !== BACKSLASH || bytes[at + 1] !== SMALL_U) return -1
  let code = 0
  for (let nth = 2; nth < 6; nth += 1) {
    const digit = digitOf(bytes[at + nth] ?? 0)
    if (digit === -1) return -1
    code = code * 16 + digit
  }
  return code
}

function digitOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

/** In its place: nothing is longer than its escape. Says where it ends. */
function unescape(bytes: Buffer, start: number, end: number): number {
  let to = bytes.indexOf(BACKSLASH, start)
  for (let at = to; at < end;) {
    const byte = bytes[at] as number
    if (byte !== BACKSLASH) {
      bytes[to++] = byte
      at += 1
    } else if (bytes[at + 1] === SMALL_U) {
      const code = unitAt(bytes, at)
      const isPair = code >= 0xd800 && code < 0xdc00
      const character = isPair ? String.fromCharCode(code, unitAt(bytes, at + 6)) : String.fromCharCode(code)
      to += bytes.write(character, to, 'utf8')
      at += isPair ? 12 : 6
    } else {
      bytes[to++] = ESCAPED.get(bytes[at + 1] as number) as number
      at += 2
    }
  }
  return to
}

/** By a stack of our own: hostile values are deeper than the machine's. */
function putBack(root: Json, long: readonly string[]): Json {
  const toOwn = (value: Json): Json =>
    typeof value === 'string' && value.startsWith('\0') ? (long[Number(value.slice(1))] as string) : value
  const stack: Json[] = [root]
  // Nobody else has them yet.
  const put = (held: Record<string | number, Json>, key: string | number): void => {
    const value = held[key] as Json
    const own = toOwn(value)
    if (own !== value) held[key] = own
    else if (typeof value === 'object' && value !== null) stack.push(value)
  }
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const held = next as Record<string | number, Json>
    // By number: the names of a million places would take more memory than the places.
    if (Array.isArray(next)) for (let at = 0; at < next.length; at += 1) put(held, at)
    else if (isObject(next)) for (const key of Object.keys(next)) put(held, key)
  }
  return toOwn(root)
}
