/**
 * What tells an entry from others across versions of its file: its own id, or, where it has none, what it says and how often
 * that was said before. And a digest of what it says, for "this is there, unchanged".
 */
import { createHash } from 'node:crypto'
import type { ReadItem } from '../formats/format.ts'
import { createIdSet } from '../formats/id-set.ts'
import type { Block } from '../transcript/block.ts'
import type { Damage } from '../transcript/damage.ts'
import { hasOwnId, type Entry } from '../transcript/entry.ts'
import { toJson } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'

/** `scope`: the session as one format calls it; what two formats say is never the same. */
export type Keyed = { readonly session: string; readonly scope: string } & (
  | { readonly type: 'entry'; readonly key: string; readonly entry: Entry }
  | { readonly type: 'damage'; readonly key: string; readonly damage: Damage }
  | { readonly type: 'session'; readonly facts: Session }
)

/** Every item with the session it belongs to: '' for damage before any. */
export async function* withKeys(
  items: AsyncIterable<readonly ReadItem[]>,
  format: string,
): AsyncGenerator<Keyed> {
  const keyOf = createEntryKeys()
  let session = ''
  let scope = `${format}\0`
  for await (const batch of items) {
    for (const item of batch) {
      if (item.type === 'session') {
        session = item.session.id
        scope = `${format}\0${session}`
        yield { type: 'session', session, scope, facts: item.session }
      } else if (item.type === 'damage') {
        yield { type: 'damage', session, scope, key: damageKey(format, item.damage), damage: item.damage }
      } else {
        const { entry } = item
        yield { type: 'entry', session, scope, key: keyOf(scope, entry), entry }
      }
    }
  }
}

/** For one run over a session's entries, in order. */
export function createEntryKeys(): (session: string, entry: Entry) => string {
  const repeats = new Map<string, number>()
  return (session, entry) => {
    if (hasOwnId(entry)) return `id\0${session}\0${entry.source}\0${entry.id}`
    const said = digestOf(session, entry)
    const before = repeats.get(said) ?? 0
    repeats.set(said, before + 1)
    return `said\0${said}\0${before}`
  }
}

/** What the entry says, in 43 characters. What a later version may add (usage, a stop reason) is no part of it. */
export function digestOf(session: string, entry: Entry): string {
  const { id, source, kind, role, at, blocks, metadata } = entry
  // An event without blocks says what it says in its metadata.
  const said = blocks.length > 0 ? blocks : metadata
  return hash(toJson([session, source, hasOwnId(entry) ? id : at, kind, role ?? null, said ?? null]))
}

/** Damage has no id: the same of the same length is the same. */
function damageKey(format: string, { kind, file, byteLength, reason }: Damage): string {
  return `damage\0${format}\0${kind}\0${file}\0${byteLength}\0${reason}`
}

export function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

/** Texts in a few bytes each. Two of them, for an entry taken for another would be lost: then both would have to be wrong. */
export function createKeySet(): { has(key: string): boolean; add(key: string): void } {
  const [one, other] = [createIdSet(), createIdSet()]
  return {
    has: (key) => one.has(key) && other.has(`${key}\0`),
    add(key) {
      one.add(key)
      other.add(`${key}\0`)
    },
  }
}

/** What must still be there of an entry, in hashes: small, however much it said. */
export type Shape = readonly BlockShape[]
type BlockShape = {
  /** Of all that is no text. */
  readonly rest: string
  readonly length?: number
  readonly text?: string
}

export function shapeOf({ blocks }: Entry): Shape {
  return blocks.map((block) => {
    const { text, rest } = parts(block)
    return { rest, ...(text !== undefined && { length: text.length, text: hash(text) }) }
  })
}

/** True when each block is there in order, as it was or with more text at its end. */
export function isExtended(shape: Shape, { blocks }: Entry): boolean {
  let at = 0
  for (const block of blocks) {
    const wanted = shape[at]
    if (wanted === undefined) return true
    const { text, rest } = parts(block)
    if (rest !== wanted.rest || (text === undefined) !== (wanted.text === undefined)) continue
    if (text === undefined || hash(text.slice(0, wanted.length)) === wanted.text) at += 1
  }
  return at === shape.length
}

/** A signature comes when a text is done: the text says whether it is the same one. */
function parts(block: Block): { readonly text?: string; readonly rest: string } {
  if (block.type === 'text' && typeof block.text === 'string') return { text: block.text, rest: 'text' }
  if (block.type === 'thinking' && typeof block.text === 'string' && block.text !== '') {
    return { text: block.text, rest: 'thinking' }
  }
  if (block.type === 'tool-result' && typeof block.output === 'string') {
    return {
      text: block.output,
      rest: hash(toJson(['tool-result', block.callId ?? null, block.error ?? null])),
    }
  }
  return { rest: hash(toJson(block)) }
}
