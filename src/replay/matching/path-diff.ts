/**
 * Where two requests differ, by path: `messages[3].content[0].text`. Lists are compared from both ends, so that one item more is one
 * difference. Bounded: of values that differ, what stands around the first difference.
 */
import { asArray, isObject, toJson, type Json } from '../../transcript/json.ts'
import { isSame } from '../../wire/same-json.ts'
import { canonical } from './canonical.ts'
import type { Way } from './normalisers.ts'

export type PathDifference = {
  readonly path: string
  readonly kind: 'changed' | 'only-recorded' | 'only-live'
  readonly recorded?: string
  readonly live?: string
}

export type DiffOptions = {
  /** What is the same once it is read this way is no difference. */
  readonly way?: Way
  readonly most?: number
  /** Told of each pair of values that differ, as they are. */
  readonly onValues?: (recorded: Json, live: Json, path: string) => void
}

const MOST = 20
const DEEPEST = 100

export function diffPaths(recorded: Json, live: Json, options: DiffOptions = {}): readonly PathDifference[] {
  const { way, most = MOST, onValues } = options
  const found: PathDifference[] = []
  const isEqual = (a: Json, b: Json): boolean =>
    isSame(a, b) || (way !== undefined && canonical(a, way) === canonical(b, way))
  const only = (kind: 'only-recorded' | 'only-live', value: Json, path: string): void => {
    if (kind === 'only-recorded') onValues?.(value, null, path)
    else onValues?.(null, value, path)
    found.push({ path, kind, [kind === 'only-live' ? 'live' : 'recorded']: excerpt(asText(value), 0) })
  }

  const visit = (a: Json, b: Json, path: string, depth: number): void => {
    if (found.length >= most || isEqual(a, b)) return
    const [items, others] = [asArray(a), asArray(b)]
    if (items && others && depth < DEEPEST) return visitLists(items, others, path, depth)
    if (isObject(a) && isObject(b) && depth < DEEPEST) {
      for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
        if (found.length >= most) return
        if (way?.isLeftOut(key) === true) continue
        const below = path === '' ? key : `${path}.${key}`
        if (!Object.hasOwn(a, key)) only('only-live', b[key] as Json, below)
        else if (!Object.hasOwn(b, key)) only('only-recorded', a[key] as Json, below)
        else if (OF_CALLS.has(key)) visitId(a[key] as Json, b[key] as Json, below)
        else visit(a[key] as Json, b[key] as Json, below, depth + 1)
      }
      return
    }
    onValues?.(a, b, path)
    // As they are compared: else an id that does not count hides the words that do.
    const read = (value: Json): string => (way === undefined ? asText(value) : way.text(asText(value)))
    const [one, other] = [read(a), read(b)]
    const at = firstDifference(one, other)
    found.push({ path, kind: 'changed', recorded: excerpt(one, at), live: excerpt(other, at) })
  }
  /** Which call a result is of was said by an answer: it is no other id each time, but another call. */
  const visitId = (a: Json, b: Json, path: string): void => {
    if (!isSame(a, b)) found.push({ path, kind: 'changed', recorded: asText(a), live: asText(b) })
  }
  const visitLists = (a: readonly Json[], b: readonly Json[], path: string, depth: number): void => {
    let start = 0
    while (start < Math.min(a.length, b.length) && isEqual(a[start] as Json, b[start] as Json)) start += 1
    let end = 0
    while (
      end < Math.min(a.length, b.length) - start &&
      isEqual(a.at(-1 - end) as Json, b.at(-1 - end) as Json)
    )
      end += 1
    const [left, right] = [a.length - end, b.length - end]
    for (let at = start; at < Math.max(left, right) && found.length < most; at += 1) {
      const below = `${path}[${at}]`
      if (at >= left) only('only-live', b[at] as Json, below)
      else if (at >= right) only('only-recorded', a[at] as Json, below)
      else visit(a[at] as Json, b[at] as Json, below, depth + 1)
    }
  }
  visit(recorded, live, '', 0)
  return found
}

export const OF_CALLS: ReadonlySet<string> = new Set(['tool_use_id', 'tool_call_id', 'call_id'])

const BEFORE = 40
const LONGEST = 160

function excerpt(text: string, at: number): string {
  const from = Math.max(0, at - BEFORE)
  const cut = text.slice(from, from + LONGEST)
  return `${from > 0 ? '…' : ''}${cut}${from + LONGEST < text.length ? '…' : ''}`
}

function firstDifference(a: string, b: string): number {
  let at = 0
  while (at < a.length && a.charCodeAt(at) === b.charCodeAt(at)) at += 1
  return at
}

function asText(value: Json): string {
  return typeof value === 'string' ? value : toJson(value)
}
