/**
 * Requests of a conversation repeat its history, byte for byte: what was read with the one before is not read again. A body costs what
 * is new in it, and items that were there before are the same objects again, so that whoever compares them is as quick.
 */
import { randomUUID } from 'node:crypto'
import { asArray, asObject, parseJson, type Json, type JsonObject } from '../transcript/json.ts'
import { findList, readItems } from './list-ends.ts'

export type BodyReader = {
  /** As `parseJson` of its text would. */
  read(bytes: Buffer): Json | undefined
}

type Known = {
  readonly bytes: Buffer
  readonly body: JsonObject
  readonly path: readonly string[]
  readonly items: readonly Json[]
  /** Where the list begins, where each item ends, and where the list does. */
  readonly open: number
  readonly ends: readonly number[]
  readonly close: number
}

/** Conversations that go on side by side. */
const MOST_KNOWN = 16
/** Of one body, and of all that are held. */
const LONGEST = 8 * 1024 * 1024
const MOST_HELD = 32 * 1024 * 1024

export function createBodyReader(): BodyReader {
  const known: Known[] = []
  const keep = (one: Known, before: Known | undefined): void => {
    if (before !== undefined) known.splice(known.indexOf(before), 1)
    known.unshift(one)
    let held = 0
    const most = known.findIndex(({ bytes }, at) => (held += bytes.length) > MOST_HELD || at >= MOST_KNOWN)
    if (most !== -1) known.length = most
  }
  return {
    read(bytes) {
      if (bytes.length > LONGEST) return parseJson(bytes.toString())
      const before = known.flatMap((one) => {
        const same = sameItems(one, bytes)
        return same === 0 ? [] : [{ one, same }]
      })
      const best = before.toSorted((a, b) => b.same - a.same)[0]
      const found = best === undefined ? begun(bytes) : goneOn(bytes, best.one, best.same)
      if (found === undefined) return parseJson(bytes.toString())
      keep(found, best?.one)
      return found.body
    },
  }
}

/** Stands in a list for what is not read again. Nobody can have said it. */
const MARK = `hansard ${randomUUID()}`
const MARKED = JSON.stringify(MARK)

/** Undefined where there is no list to go on with, or another field of its name takes its place. */
function begun(bytes: Buffer): Known | undefined {
  const list = findList(bytes)
  if (list === undefined) return undefined
  const { open, path } = list
  const { ends, close } = readItems(bytes, open)
  if (ends.length === 0 || close === undefined) return undefined
  const read = readMarked(`${bytes.toString('utf8', 0, open)}${MARKED},${bytes.toString('utf8', open)}`, path)
  return read && { bytes, path, open, ends, close, ...read }
}

function goneOn(bytes: Buffer, before: Known, same: number): Known | undefined {
  const { open, path } = before
  const from = before.ends[same - 1] as number
  const { ends: more, close } = readItems(bytes, from)
  if (close === undefined) return undefined
  const ends = goingOn(before.ends, same, more)
  const place = { bytes, path, open, ends, close }
  if (bytes.subarray(close).equals(before.bytes.subarray(before.close))) {
    const rest = asArray(parseJson(`[${MARKED}${bytes.toString('utf8', from, close)}]`))
    if (rest === undefined) return undefined
    const items = goingOn(before.items, same, rest.slice(1))
    return { ...place, items, body: withItems(before.body, path, items) }
  }
  const text = `${bytes.toString('utf8', 0, open)}${MARKED}${bytes.toString('utf8', from)}`
  const read = readMarked(text, path)
  if (read === undefined) return undefined
  const items = goingOn(before.items, same, read.items)
  return { ...place, items, body: withItems(read.body, path, items) }
}

/** Copied once: histories have thousands of items. */
function goingOn<T>(known: readonly T[], same: number, more: readonly T[]): readonly T[] {
  return (same === known.length ? known : known.slice(0, same)).concat(more)
}

function readMarked(
  text: string,
  path: readonly string[],
): { readonly body: JsonObject; readonly items: readonly Json[] } | undefined {
  const body = asObject(parseJson(text))
  if (body === undefined) return undefined
  const list = asArray(path.reduce<Json | undefined>((value, name) => asObject(value)?.[name], body))
  if (list?.[0] !== MARK) return undefined
  const items = list.slice(1)
  return { body: withItems(body, path, items), items }
}

function withItems(body: JsonObject, path: readonly string[], items: readonly Json[]): JsonObject {
  const [name, ...rest] = path as readonly [string, ...string[]]
  return { ...body, [name]: rest.length === 0 ? items : withItems(asObject(body[name]) ?? {}, rest, items) }
}

/** How many items of a known body another one begins with. */
function sameItems({ bytes, ends }: Known, other: Buffer): number {
  const isSameTo = (end: number): boolean => other.length >= end && bytes.compare(other, 0, end, 0, end) === 0
  // A number may go on behind its end: then what follows is no JSON, and the body is read whole.
  if (isSameTo(ends.at(-1) as number)) return ends.length
  let [least, most] = [0, ends.length - 1]
  while (least < most) {
    const middle = Math.ceil((least + most) / 2)
    if (isSameTo(ends[middle - 1] as number)) least = middle
    else most = middle - 1
  }
  return least
}
