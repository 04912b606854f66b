/**
 * A JSON object whose bytes may end before it does, as far as they go: all keys, values that are whole, and of the value that is
 * not whole the part that is there. Linear in the bytes, and what it gives is small however large they are.
 */
import type { Json, JsonObject } from '../transcript/json.ts'
import { parsePart, scanElements, scanMembers, skipSpace, type Extent } from './devflow/scan.ts'

/** Levels down; below them what is not whole is null. */
const DEPTH = 4
/** Bytes of a value that is held whole. A larger one is looked into like one that is cut off. */
const HELD_BYTES = 64 * 1024
/** Bytes of a text too long to be held. */
const TEXT_BYTES = 1024
const ELEMENTS = 100

const BOM = 0xef
const QUOTE = 0x22
const OPEN_BRACE = 0x7b
const OPEN_BRACKET = 0x5b

/** Undefined when what begins at or after `from` is no object. */
export function peekMembers(bytes: Buffer, from: number): JsonObject | undefined {
  return peekObject(bytes, from, DEPTH)
}

/** The same of a whole document, which may be a list; undefined for what is neither. */
export function peekDocument(bytes: Buffer): Json | undefined {
  const from = skipSpace(bytes, bytes[0] === BOM ? 3 : 0)
  if (bytes[from] !== OPEN_BRACE && bytes[from] !== OPEN_BRACKET) return undefined
  return peekValue(bytes, { from, to: bytes.length, whole: false }, DEPTH + 1)
}

function peekObject(bytes: Buffer, from: number, depth: number): JsonObject | undefined {
  const members = scanMembers(bytes, from)?.members
  if (members === undefined) return undefined
  const peeked = Object.create(null) as Record<string, Json>
  for (const [key, extent] of members) peeked[key] = peekValue(bytes, extent, depth - 1)
  return peeked
}

function peekValue(bytes: Buffer, extent: Extent, depth: number): Json {
  const { from, to, whole } = extent
  if (whole && to - from <= HELD_BYTES) return parsePart(bytes, extent) ?? null
  if (bytes[from] === QUOTE) return peekText(bytes, extent)
  if (depth === 0) return null
  const part = bytes.subarray(0, to)
  if (bytes[from] === OPEN_BRACE) return peekObject(part, from, depth) ?? null
  if (bytes[from] !== OPEN_BRACKET) return null
  return scanElements(part, from, ELEMENTS).elements.map((element) => peekValue(part, element, depth - 1))
}

/** How the text begins: cut where no escape and no character is cut in two. */
function peekText(bytes: Buffer, { from, to }: Extent): string | null {
  let end = Math.min(to, from + 1 + TEXT_BYTES)
  for (const least = Math.max(from, end - 8); end > least; end -= 1) {
    const text = parsePart(Buffer.concat([bytes.subarray(from, end), Buffer.from('"')]), {
      from: 0,
      to: end - from + 1,
    })
    if (typeof text === 'string' && !text.endsWith('\uFFFD')) return text
  }
  return null
}
