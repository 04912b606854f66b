/** A number for each of any number of names: beyond some thousand names by their hashes. */
import { createHashedNumbers, type HashedNumbers } from './hashed-numbers.ts'
import { hashText } from './text-hash.ts'

export type Counters = {
  /** Zero for one that was never set. */
  get(name: string): number
  set(name: string, count: number): void
}

const MOST_NAMED = 10_000

export function createCounters(mostNamed: number = MOST_NAMED): Counters {
  const named = new Map<string, number>()
  let others: HashedNumbers | undefined
  return {
    get: (name) => named.get(name) ?? others?.get(hashText(name)) ?? 0,
    set(name, count) {
      if (named.size < mostNamed || named.has(name)) named.set(name, count)
      else (others ??= createHashedNumbers()).set(hashText(name), count)
    },
  }
}
