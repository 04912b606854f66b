/**
 * Whole numbers that a double cannot hold, kept as they were written: a record that has any is gone through once more, and each is
 * noted with its place, so that a writer of the same format puts the same digits back. Records without a long run of digits, which
 * are nearly all, cost a look at every sixteenth character.
 */
import { isObject, toJson, type Json, type JsonObject } from '../transcript/json.ts'

/** The name in an entry's metadata: a list of `[path, digits]`, paths as in the record. */
export const EXACT = 'exactNumbers'

/** 2^53 has this many digits: what has fewer is exact. */
const LONG = 16
const [ZERO, NINE] = [48, 57]

/** What to note of a record; undefined for one whose numbers are all exact. The text has to be JSON. */
export function exactNumbers(text: string): Json | undefined {
  for (let at = LONG - 1; at < text.length; at += LONG) {
    const code = text.charCodeAt(at)
    if (code < ZERO || code > NINE || !isLongRun(text, at)) continue
    const found = findNumbers(text)
    return found.length === 0 ? undefined : found
  }
  return undefined
}

/** The record as JSON, each number that was noted as it was written. */
export function toExactJson(value: Json, noted: Json | undefined): string {
  if (!Array.isArray(noted)) return toJson(value)
  const root: Place = { below: new Map() }
  for (const one of noted as readonly Json[]) {
    if (!Array.isArray(one)) continue
    const [path, digits] = one as readonly Json[]
    if (!Array.isArray(path) || typeof digits !== 'string' || !WHOLE.test(digits)) continue
    let place = root
    for (const key of path as readonly (string | number)[]) {
      const next: Place = place.below.get(String(key)) ?? { below: new Map() }
      place.below.set(String(key), next)
      place = next
    }
    place.digits = digits
  }
  return write(value, root)
}

const WHOLE = /^-?\d+$/

type Place = { digits?: string; readonly below: Map<string, Place> }

function write(value: Json | undefined, place: Place | undefined): string {
  const { digits, below } = place ?? {}
  // Only what it was read as: somebody may have changed the record since.
  if (digits !== undefined && value === Number(digits)) return digits
  if (below === undefined || below.size === 0) return toJson(value ?? null)
  if (Array.isArray(value))
    return `[${(value as readonly Json[]).map((item, at) => write(item, below.get(String(at)))).join(',')}]`
  if (!isObject(value)) return toJson(value ?? null)
  const object: JsonObject = value
  const members = Object.keys(object).filter((key) => object[key] !== undefined)
  return `{${members.map((key) => `${JSON.stringify(key)}:${write(object[key], below.get(key))}`).join(',')}}`
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code >= ZERO && code <= NINE
}

function isLongRun(text: string, at: number): boolean {
  let [from, to] = [at, at + 1]
  while (from > 0 && isDigit(text, from - 1)) from -= 1
  while (isDigit(text, to)) to += 1
  return to - from >= LONG
}

/** Deeper than this no record of an agent is; what is deeper is written back rounded. */
const DEPTH_LIMIT = 500
/** A hostile record may have any number of them. */
const MOST = 10_000

type Container = { readonly isList: boolean; key: string; index: number }

/** By one pass over the text: names and their values, and where in which list or object they stand. */
function findNumbers(text: string): Json[] {
  const found: Json[] = []
  const stack: Container[] = []
  /** The last string, which is a name when a colon follows. */
  let name = ''
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (character === '"') {
      const end = endOfString(text, at)
      name = text.slice(at, end)
      at = end - 1
    } else if (character === '{' || character === '[')
      stack.push({ isList: character === '[', key: '', index: 0 })
    else if (character === '}' || character === ']') stack.pop()
    else if (character === ':') {
      const top = stack.at(-1)
      if (top !== undefined) top.key = JSON.parse(name) as string
    } else if (character === ',') {
      const top = stack.at(-1)
      if (top !== undefined) top.index += 1
    } else if (character === '-' || isDigit(text, at)) {
      const number = /[-+.\deE]+/y
      number.lastIndex = at
      const digits = number.exec(text)?.[0] ?? ''
      at += digits.length - 1
      const isInexact = digits.length >= LONG && WHOLE.test(digits) && !Number.isSafeInteger(Number(digits))
      if (!isInexact || stack.length > DEPTH_LIMIT || found.length >= MOST) continue
      found.push([stack.map(({ isList, key, index }) => (isList ? index : key)), digits])
    }
  }
  return found
}

/** Behind the closing quote. */
function endOfString(text: string, from: number): number {
  let at = text.indexOf('"', from + 1)
  while (at !== -1 && isEscaped(text, at)) at = text.indexOf('"', at + 1)
  return at === -1 ? text.length : at + 1
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0
  while (text[at - 1 - slashes] === '\\') slashes += 1
  return slashes % 2 === 1
}
