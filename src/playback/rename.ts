/**
 * Puts this run's ids into a recorded answer. An agent that is told to wait for a subagent, or to read a command's output, is told by
 * an id that the agent itself made, and it makes another each time. Streams may cut an id in two: pieces of one text are read together.
 */
import {
  asArray,
  asObject,
  isObject,
  parseJson,
  toJson,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import type { PlayedAnswer } from './answer.ts'

/** From the recording's to this run's. */
export type Names = ReadonlyMap<string, string>

/** Bytes of an answer above which it is given as it was. */
const MOST_BYTES = 16 * 1024 * 1024

/** The very answer where none of the names is in it, or where it is no JSON and no stream of JSON. */
export function renameIn(answer: PlayedAnswer, names: Names): PlayedAnswer {
  const { frames, headers } = answer
  const size = frames.reduce((sum, [, bytes]) => sum + bytes.length, 0)
  if (names.size === 0 || size > MOST_BYTES) return answer
  const type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? ''
  const text = Buffer.concat(frames.map(([, bytes]) => bytes)).toString()
  const shape = toShape(names)
  if (type.includes('text/event-stream'))
    return renameEvents(answer, text, (said) => findNames(said, shape, names))
  if (!type.includes('json')) return answer
  const found = findNames(text, shape, names)
  const end = frames.at(-1)?.[0] ?? 0
  return found.length === 0
    ? answer
    : { ...answer, frames: [[end, Buffer.from(moved(text, found)(0, text.length))]] }
}

/**
 * The same for a request: what an agent was told by this run's ids, as the recording has it. Requests repeat their history, so what was
 * read with the one before is not read again, as long as there are no more names.
 */
export function createRenaming(): (body: Json, names: Names) => Json {
  let known = new WeakMap<object, Json>()
  let count = 0
  return (body, names) => {
    if (names.size === 0) return body
    if (names.size !== count) known = new WeakMap()
    count = names.size
    const shape = toShape(names)
    const walk = (value: Json): Json => {
      if (typeof value === 'string') return value.replace(shape, (name) => names.get(name) ?? name)
      if (typeof value !== 'object' || value === null) return value
      const before = known.get(value)
      if (before !== undefined) return before
      const items = asArray(value)
      const made =
        items?.map(walk) ?? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, walk(one)]))
      known.set(value, made)
      return made
    }
    return walk(body)
  }
}

type Found = { readonly from: number; readonly to: number; readonly now: string }
type Find = (text: string) => readonly Found[]

/** Whole names only: a number may be part of another. */
function toShape(names: Names): RegExp {
  const all = [...names.keys()].sort((a, b) => b.length - a.length)
  const escaped = all.map((name) => name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
  return new RegExp(`(?<![0-9A-Za-z])(?:${escaped.join('|')})(?![0-9A-Za-z])`, 'g')
}

function findNames(text: string, shape: RegExp, names: Names): readonly Found[] {
  return [...text.matchAll(shape)].map(({ index, 0: name }) => ({
    from: index,
    to: index + name.length,
    now: names.get(name) ?? name,
  }))
}

/** Gives what stands between two places of the text once names are put in; what lies side by side in it stays so. */
function moved(text: string, found: readonly Found[]): (from: number, to: number) => string {
  const parts: string[] = []
  const place = (at: number): number => {
    let shift = 0
    for (const { from, to, now } of found) {
      if (at <= from) break
      if (at < to) return from + shift + Math.min(at - from, now.length)
      shift += now.length - (to - from)
    }
    return at + shift
  }
  let end = 0
  for (const { from, to, now } of found) {
    parts.push(text.slice(end, from), now)
    end = to
  }
  const renamed = parts.join('') + text.slice(end)
  return (from, to) => renamed.slice(place(from), place(to))
}

/** Events keep their times: each is a frame that comes when its beginning did. */
function renameEvents(answer: PlayedAnswer, text: string, find: Find): PlayedAnswer {
  const events = text.split(/(?<=\r?\n\r?\n)(?!\r?\n)/)
  const bodies = events.map(bodyOf)
  const texts = new Map<string, string[]>()
  for (const body of bodies)
    if (body !== undefined)
      mapTexts(body, (key, piece) => {
        const known = texts.get(key)
        if (known === undefined) texts.set(key, [piece])
        else known.push(piece)
        return piece
      })
  const changed = new Map<string, string[]>()
  for (const [key, pieces] of texts) {
    const whole = pieces.join('')
    const found = find(whole)
    if (found.length === 0) continue
    const between = moved(whole, found)
    let at = 0
    changed.set(
      key,
      pieces.map(({ length }) => between(at, (at += length))),
    )
  }
  if (changed.size === 0) return answer
  const times = timesOf(answer, events)
  return {
    ...answer,
    frames: events.map((event, at) => {
      const body = bodies[at]
      const renamed = body && mapTexts(body, (key, piece) => changed.get(key)?.shift() ?? piece)
      const said = renamed === undefined ? event : event.replace(DATA, () => `data: ${toJson(renamed)}`)
      return [times[at] ?? 0, Buffer.from(said)]
    }),
  }
}

const DATA = /^data:[^\r\n]*/m

function bodyOf(event: string): JsonObject | undefined {
  const [data] = DATA.exec(event) ?? []
  return data === undefined ? undefined : asObject(parseJson(data.slice('data:'.length)))
}

function timesOf({ frames }: PlayedAnswer, events: readonly string[]): readonly number[] {
  let [frame, frameEnd, begin] = [0, frames[0]?.[1].length ?? 0, 0]
  return events.map((event) => {
    while (frameEnd <= begin && frame < frames.length - 1) frameEnd += frames[++frame]?.[1].length ?? 0
    begin += Buffer.byteLength(event)
    return frames[frame]?.[0] ?? 0
  })
}

/** What tells the blocks of an answer apart whose pieces come one after the other. */
const PLACES = ['type', 'index', 'item_id', 'output_index', 'content_index']

/** `visit`: each text with the key of the text that it is a piece of. */
function mapTexts(event: JsonObject, visit: (key: string, text: string) => string): JsonObject {
  const walk = (value: Json, key: string): Json => {
    if (typeof value === 'string') return visit(key, value)
    const items = asArray(value)
    if (items)
      return items.map((item, at) => walk(item, `${key}[${toJson(asObject(item)?.['index'] ?? at)}]`))
    if (!isObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, walk(one, `${key}.${name}`)]))
  }
  return asObject(walk(event, PLACES.map((name) => toJson(event[name] ?? null)).join(' '))) ?? event
}
