/**
 * The two ends of a JSON document whose middle was not read. The end is read backwards to see what it closes, and what stands in it is
 * put to what the beginning left open: the keys behind a long text, the last elements of a long list. A guess where the two ends are
 * of different parts, and good enough to tell whose it is.
 */
import { isObject, parseJson, type Json } from '../transcript/json.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d

/** Stands for the key of what the end begins in: no JSON of a program's has it. */
const CUT = '\0cut'

/** An end within more parts than this is nobody's document: joining goes into each of them, and a stack has an end. */
const DEPTH = 200

/** What the beginning says and what the end adds to it; the beginning alone where the text ends no document. */
export function joinEnds(beginning: Json, end: string): Json {
  const found = readEnd(end)
  return found === undefined || found.depth > DEPTH ? beginning : join(beginning, found.value, found.depth)
}

type End = { readonly value: Json; readonly depth: number }

/** As a value of its own, with `CUT` for the parts that it begins in, and how many of them there are. */
function readEnd(text: string): End | undefined {
  /** What is closed and was not opened here, outermost first, and where it is closed. */
  const closed: number[] = []
  /** Where the first comma stands within each of them. */
  const commas: number[] = []
  let depth = 0
  for (let at = text.length - 1; at >= 0; at -= 1) {
    const unit = text.charCodeAt(at)
    if (unit === QUOTE) {
      at = startOfText(text, at)
      // The end begins within this text.
      if (at === -1) break
    } else if (unit === CLOSE_BRACE || unit === CLOSE_BRACKET) {
      closed[depth] = unit
      commas[depth] = at
      depth += 1
    } else if (unit === OPEN_BRACE || unit === OPEN_BRACKET) {
      depth -= 1
      if (depth < 1 || closed[depth] !== (unit === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET)) return undefined
    } else if (unit === COMMA && depth > 0) {
      commas[depth - 1] = at + 1
    } else if (depth === 0 && unit > 0x20) {
      return undefined
    }
  }
  if (depth === 0) return undefined
  const open = closed.slice(0, depth).map((unit, level) => {
    if (unit === CLOSE_BRACKET) return '['
    return level === depth - 1 ? '{' : `{${JSON.stringify(CUT)}:`
  })
  const value = parseJson(`${open.join('')}${text.slice(commas[depth - 1])}`)
  return value === undefined ? undefined : { value, depth }
}

function join(beginning: Json, end: Json, depth: number): Json {
  if (Array.isArray(beginning) && Array.isArray(end)) {
    const [first, ...others] = end as readonly Json[]
    const all = beginning as readonly Json[]
    const last = all.at(-1)
    if (depth === 1 || first === undefined || last === undefined) return [...all, ...(end as readonly Json[])]
    return [...all.slice(0, -1), join(last, first, depth - 1), ...others]
  }
  if (!isObject(beginning) || !isObject(end)) return beginning
  const joined = Object.assign(Object.create(null) as Record<string, Json>, beginning)
  for (const [key, value] of Object.entries(end)) if (key !== CUT) joined[key] = value
  const last = Object.keys(beginning).at(-1)
  const inner = end[CUT]
  if (last !== undefined && inner !== undefined)
    joined[last] = join(beginning[last] as Json, inner, depth - 1)
  return joined
}

/** The quote that opens the text whose closing quote is given; -1 where it is not here. */
function startOfText(text: string, end: number): number {
  for (let at = end - 1; at >= 0; at -= 1) {
    at = text.lastIndexOf('"', at)
    if (at === -1) return -1
    let slashes = 0
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes += 1
    if (slashes % 2 === 0) return at
  }
  return -1
}
