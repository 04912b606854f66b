/**
 * The ids of a file, in a few bytes each: a session of millions of lines must not cost hundreds of megabytes to keep apart. Never
 * forgets an id; about once in ten thousand sessions of a million ids it takes a new one for one it knows.
 */
import { hashText } from '../transcript/text-hash.ts'

export type IdSet = {
  has(id: string): boolean
  add(id: string): void
  /** Adds it, and says whether it is new: in half the time of asking first. */
  take(id: string): boolean
  /** The same for an id of which nothing is had but `hashText` of it. */
  takeHash(hash: number): boolean
}

/** Slots begin few, for a file may hold a million small sessions, and double when three quarters are full. 0 is an empty slot. */
const FIRST_SLOTS = 8

export function createIdSet(): IdSet {
  return createHashSet()
}

type HashSet = IdSet & {
  hasHash(hash: number): boolean
  isEmpty(): boolean
}

function createHashSet(): HashSet {
  let slots = new Float64Array(FIRST_SLOTS)
  let size = 0

  /** Where the hash stands, or the empty slot where it would. */
  const find = (hash: number): number => {
    const mask = slots.length - 1
    let at = (hash >>> 0) & mask
    for (let found = slots[at]; found !== 0 && found !== hash; found = slots[at]) at = (at + 1) & mask
    return at
  }

  const grow = (): void => {
    const before = slots
    slots = new Float64Array(before.length * 2)
    // By number: iterating over a typed array takes several times as long.
    for (let at = 0; at < before.length; at += 1) {
      const hash = before[at] as number
      if (hash !== 0) slots[find(hash)] = hash
    }
  }

  const takeHash = (hash: number): boolean => {
    const at = find(hash)
    if (slots[at] === hash) return false
    slots[at] = hash
    size += 1
    if (size * 4 > slots.length * 3) grow()
    return true
  }

  return {
    has: (id) => slots[find(hashText(id))] !== 0,
    add: (id) => void takeHash(hashText(id)),
    take: (id) => takeHash(hashText(id)),
    hasHash: (hash) => slots[find(hash)] !== 0,
    takeHash,
    isEmpty: () => size === 0,
  }
}

/** Ids until the first of them are forgotten: more than anybody's session has, in 16 MB. */
const RECENT = 1_500_000

/**
 * The same for what tells apart the records of one file, which may have any number: the last one and a half million ids at least, and
 * no more than twice as many.
 */
export function createRecentIds(most: number = RECENT): IdSet {
  let recent = createHashSet()
  let older = createHashSet()
  let size = 0
  const has = (hash: number): boolean => recent.hasHash(hash) || (!older.isEmpty() && older.hasHash(hash))
  const add = (hash: number): void => {
    recent.takeHash(hash)
    size += 1
    if (size < most) return
    older = recent
    recent = createHashSet()
    size = 0
  }
  const takeHash = (hash: number): boolean => {
    if (has(hash)) return false
    add(hash)
    return true
  }
  return {
    has: (id) => has(hashText(id)),
    add: (id) => add(hashText(id)),
    take: (id) => takeHash(hashText(id)),
    takeHash,
  }
}
