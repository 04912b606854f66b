/**
 * What a request is known by: a hash of all that it says. Requests repeat their history, so the hash of a list goes on from that of its
 * beginning, and what was hashed a moment ago is not hashed again: a long conversation costs what is new in it.
 */
import { asArray, asObject, isObject, type Json, type JsonObject } from '../../transcript/json.ts'
import type { CallApi } from '../../wire/call-apis.ts'
import { isSame } from '../../wire/same-json.ts'
import { canonical, hashOf } from './canonical.ts'
import type { Way } from './normalisers.ts'

/** A request as it is compared. */
export type Asked = {
  readonly api: CallApi
  readonly body: Json
  /** Where the path says it and the body does not. */
  readonly model?: string
  readonly isStream?: boolean
}

export type Keyer = (asked: Asked) => string

type Known = {
  items: readonly Json[]
  /** Of the items up to and with each. */
  readonly chain: string[]
  readonly fields: Map<string, { readonly value: Json; readonly hash: string }>
}

/** Conversations that go on side by side. */
const MOST_KNOWN = 16

export function createKeyer(way?: Way): Keyer {
  const known: Known[] = []
  const find = (items: readonly Json[]): { readonly of: Known; readonly same: number } => {
    let best: { of: Known; same: number } | undefined
    for (const one of known) {
      const same = sameItems(one.items, items)
      if (same > (best?.same ?? 0)) best = { of: one, same }
      if (same > 0 && same === one.items.length) break
    }
    if (best !== undefined) return best
    const made: Known = { items: [], chain: [], fields: new Map() }
    known.push(made)
    if (known.length > MOST_KNOWN) known.shift()
    return { of: made, same: 0 }
  }
  return ({ api, body, model, isStream }) => {
    const head = `${api} ${model ?? ''} ${isStream ?? ''}`
    if (!isObject(body)) return hashOf(`${head}\n${canonical(body, way)}`)
    const { list: said, fields } = partsOf(body)
    const list = way === undefined ? said : way.list(said)
    const { of, same } = find(list)
    of.chain.length = same
    for (let at = same; at < list.length; at += 1)
      of.chain.push(hashOf(`${of.chain[at - 1] ?? ''}${canonical(list[at] as Json, way)}`))
    of.items = list
    const parts = Object.keys(fields)
      .filter((name) => way === undefined || !way.isLeftOut(name))
      .sort()
      .map((name) => {
        const value = fields[name] as Json
        const before = of.fields.get(name)
        const hash = before && isSame(before.value, value) ? before.hash : hashOf(canonical(value, way))
        of.fields.set(name, { value, hash })
        return `${name} ${hash}`
      })
    return hashOf([head, ...parts, of.chain.at(-1) ?? ''].join('\n'))
  }
}

/** The history, and everything else, of a body of any of the APIs. */
export function partsOf(body: JsonObject): { readonly list: readonly Json[]; readonly fields: JsonObject } {
  const inner = asObject(body['request']) ?? body
  const name = LISTS.find((one) => asArray(inner[one]) !== undefined)
  const fields: Record<string, Json> = Object.create(null) as Record<string, Json>
  if (inner !== body)
    for (const [field, value] of Object.entries(body)) if (value !== inner) fields[field] = value
  for (const [field, value] of Object.entries(inner)) if (field !== name) fields[field] = value
  return { list: name === undefined ? [] : (asArray(inner[name]) ?? []), fields }
}

const LISTS = ['messages', 'input', 'contents']

/** How many items are the same, from the first. */
export function sameItems(one: readonly Json[], other: readonly Json[]): number {
  const most = Math.min(one.length, other.length)
  let at = 0
  // Mostly they are the very same objects.
  while (at < most && one[at] === other[at]) at += 1
  while (at < most && isSame(one[at] as Json, other[at] as Json)) at += 1
  return at
}
