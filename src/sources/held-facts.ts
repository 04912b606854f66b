/** What is held of a session's facts and of a provider's words while a unit is read, of which a hostile one may have any amount. */
import { priceWords, saysNothingOfPrice } from '../cost/cost.ts'
import { beginningOf } from '../transcript/held-text.ts'
import { isObject, type Json } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'

/** Characters of one fact, and how many facts there are with all that is below them. */
const LONGEST = 4000
const MOST_FACTS = 500

/** Without what only a writer of its format needs; what is long in the rest is cut, and what is too much left out. */
export function heldSession(session: Session): Session {
  const { metadata: _metadata, input: _input, apart: _apart, ...facts } = session
  return isShort(facts, { facts: MOST_FACTS }) ? facts : (cut(facts, { facts: MOST_FACTS }) as Session)
}

type Left = { facts: number }

function isShort(value: unknown, left: Left): boolean {
  left.facts -= 1
  if (left.facts < 0) return false
  if (typeof value === 'string') return value.length <= LONGEST
  if (typeof value !== 'object' || value === null) return true
  for (const key in value)
    if (key.length > LONGEST || !isShort(value[key as keyof typeof value], left)) return false
  return true
}

function cut(value: unknown, left: Left): unknown {
  left.facts -= 1
  if (left.facts < 0) return undefined
  if (typeof value === 'string') return beginningOf(value, LONGEST)
  if (typeof value !== 'object' || value === null) return value
  const below: [string, unknown][] = []
  const isList = Array.isArray(value)
  // A session's parent, or how it ended, is not lost behind any number of tags.
  for (const order of isList ? [undefined] : ORDERS) {
    for (const key in value) {
      if (left.facts <= 0) break
      const one: unknown = value[key as keyof typeof value]
      if (order === undefined || order === orderOf(one))
        below.push([beginningOf(key, LONGEST), cut(one, left)])
    }
  }
  return isList ? below.map(([, one]) => one) : Object.fromEntries(below)
}

const ORDERS = ['one', 'few', 'many'] as const
/** What a fact is put together of, where that is little. */
const FEW = 20

function orderOf(value: unknown): (typeof ORDERS)[number] {
  if (typeof value !== 'object' || value === null) return 'one'
  return isShort(value, { facts: FEW }) ? 'few' : 'many'
}

/** Characters of all that is in it. */
export function lengthOfFacts(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  let length = 0
  for (const key in value) length += key.length + lengthOfFacts(value[key as keyof typeof value])
  return length
}

const NOTHING: Json = {}
/** More than any provider says of one call: of some thousand requests that were made for it. */
const MOST_WORDS = 20_000
const MOST_CHARACTERS = 200_000

/** A provider's own words on a call until the next report of it: those that its price may hang on. Undefined for more than may be held. */
export function heldRaw(raw: Json): Json | undefined {
  if (saysNothingOfPrice(raw)) return NOTHING
  const words = priceWords(raw)
  return isFew(words, { words: MOST_WORDS, characters: MOST_CHARACTERS }) ? words : undefined
}

function isFew(value: Json, left: { words: number; characters: number }): boolean {
  left.words -= 1
  if (typeof value === 'string') left.characters -= value.length
  if (left.words < 0 || left.characters < 0) return false
  if (Array.isArray(value)) return value.every((one) => isFew(one, left))
  if (!isObject(value)) return true
  for (const key in value) {
    left.characters -= key.length
    const one = value[key]
    if (one !== undefined && !isFew(one, left)) return false
  }
  return true
}
