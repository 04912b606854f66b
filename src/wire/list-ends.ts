/**
 * Where the history of a request stands in its bytes: where the list begins, and where each of its items ends. Reads what is JSON
 * without making values of it; of what is none it says something, and whoever parses it finds out.
 */

/** Which list, by the names that lead to it, and the place after its bracket. */
export type ListPlace = { readonly path: readonly string[]; readonly open: number }

/** As each API calls it. */
const LISTS: ReadonlySet<string> = new Set(['messages', 'input', 'contents'])
/** Google's Code Assist puts the whole request into one field. */
const ENVELOPE = 'request'

export function findList(bytes: Buffer): ListPlace | undefined {
  return findIn(bytes, 0, [])
}

/** Ends of the items that follow, from inside of a list: behind its bracket, or behind an item. `close` is where its bracket stands. */
export function readItems(
  bytes: Buffer,
  from: number,
): { readonly ends: readonly number[]; readonly close?: number } {
  const ends: number[] = []
  let at = from
  for (;;) {
    at = afterSpace(bytes, at)
    if (bytes[at] === COMMA) at = afterSpace(bytes, at + 1)
    if (at >= bytes.length) return { ends }
    if (bytes[at] === CLOSE_LIST) return { ends, close: at }
    const end = afterValue(bytes, at)
    if (end === at) return { ends }
    ends.push(end)
    at = end
  }
}

function findIn(bytes: Buffer, from: number, path: readonly string[]): ListPlace | undefined {
  let at = afterSpace(bytes, from)
  if (bytes[at] !== OPEN_OBJECT) return undefined
  at += 1
  for (;;) {
    at = afterSpace(bytes, at)
    if (bytes[at] === COMMA) at = afterSpace(bytes, at + 1)
    if (bytes[at] !== QUOTE) return undefined
    const end = afterString(bytes, at)
    const name = bytes.toString('utf8', at + 1, Math.min(end - 1, at + 20))
    at = afterSpace(bytes, end)
    if (bytes[at] !== COLON) return undefined
    at = afterSpace(bytes, at + 1)
    if (LISTS.has(name) && bytes[at] === OPEN_LIST) return { path: [...path, name], open: at + 1 }
    if (name === ENVELOPE && path.length === 0) {
      const inner = findIn(bytes, at, [name])
      if (inner !== undefined) return inner
    }
    const next = afterValue(bytes, at)
    if (next === at) return undefined
    at = next
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

function afterSpace(bytes: Buffer, from: number): number {
  let at = from
  while (at < bytes.length && (bytes[at] as number) <= 0x20) at += 1
  return at
}

/** `from`: at its quote. */
function afterString(bytes: Buffer, from: number): number {
  for (let at = from + 1; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (byte === BACKSLASH) at += 1
    else if (byte === QUOTE) return at + 1
  }
  return bytes.length
}

function afterValue(bytes: Buffer, from: number): number {
  let depth = 0
  let at = from
  while (at < bytes.length) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      at = afterString(bytes, at)
      if (depth === 0) return at
      continue
    }
    if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth += 1
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      if (depth === 0) return at
      depth -= 1
      if (depth === 0) return at + 1
    } else if (depth === 0 && (byte === COMMA || (byte as number) <= 0x20)) return at
    at += 1
  }
  return at
}
