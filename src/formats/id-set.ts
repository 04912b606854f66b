/**
 * The ids of a file, in a few bytes each: a session of millions of lines must not cost hundreds of megabytes to keep apart. Never
 * forgets an id; about once in ten thousand sessions of a million ids it takes a new one for one it knows.
 */
export type IdSet = {
  has(id: string): boolean
  add(id: string): void
}

/** Slots begin few, for a file may hold a million small sessions, and double when three quarters are full. 0 is an empty slot. */
const FIRST_SLOTS = 8

export function createIdSet(): IdSet {
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

  return {
    has: (id) => slots[find(hashOf(id))] !== 0,
    add(id) {
      const hash = hashOf(id)
      const at = find(hash)
      if (slots[at] === hash) return
      slots[at] = hash
      size += 1
      if (size * 4 > slots.length * 3) grow()
    },
  }
}

/** Ids until the first of them are forgotten: more than anybody's session has, in 16 MB. */
const RECENT = 1_500_000

/**
 * The same for what tells apart the records of one file, which may have any number: the last one and a half million ids at least, and
 * no more than twice as many.
 */
export function createRecentIds(most: number = RECENT): IdSet {
  let recent = createIdSet()
  let older = createIdSet()
  let size = 0
  return {
    has: (id) => recent.has(id) || older.has(id),
    add(id) {
      recent.add(id)
      size += 1
      if (size < most) return
      older = recent
      recent = createIdSet()
      size = 0
    },
  }
}

/** 53 bits out of two rounds of multiply and shift, whole in a double; never 0. */
function hashOf(id: string): number {
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (let i = 0; i < id.length; i += 1) {
    const unit = id.charCodeAt(i)
    high = Math.imul(high ^ unit, 2654435761)
    low = Math.imul(low ^ unit, 1597334677)
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909)
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909)
  return (high & 0x1fffff) * 0x1_0000_0000 + (low >>> 0) || 1
}
