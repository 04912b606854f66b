/** Which elements of a list have a key: in some bytes for each, for there may be a million. */
import { hashText } from '../transcript/text-hash.ts'

export type Keyed = {
  has(key: string): boolean
  /** The number of the first that has it. */
  first(key: string): number | undefined
  /** The numbers of those that have it, in order. */
  find(key: string): readonly number[]
}

/** `keyAt`: asked for each once, and again for those that may be what is looked for. */
export function createKeyed(count: number, keyAt: (number: number) => string): Keyed {
  const mask = 2 ** Math.ceil(Math.log2(count * 1.5 + 1)) - 1
  /** Part of a key's hash, and the first element that has it, counted from 1: 0 is an empty slot. */
  const hashes = new Uint32Array(mask + 1)
  const firsts = new Uint32Array(mask + 1)
  /** The one after each, counted in the same way. All may have one key. */
  const others = new Uint32Array(count)
  const slotOf = (hash: number): number => {
    let at = hash & mask
    while (firsts[at] !== 0 && hashes[at] !== hash) at = (at + 1) & mask
    return at
  }
  for (let n = count - 1; n >= 0; n -= 1) {
    const hash = hashText(keyAt(n)) >>> 0
    const at = slotOf(hash)
    hashes[at] = hash
    others[n] = firsts[at] as number
    firsts[at] = n + 1
  }
  function* having(key: string): Generator<number, void, undefined> {
    for (let one = firsts[slotOf(hashText(key) >>> 0)] as number; one !== 0; one = others[one - 1] as number)
      if (keyAt(one - 1) === key) yield one - 1
  }
  const first = (key: string): number | undefined => having(key).next().value ?? undefined
  return { has: (key) => first(key) !== undefined, first, find: (key) => [...having(key)] }
}
