/**
 * The sessions of a unit by their ids, in the order they were first told of: those that are counted now, and where the others were put
 * away. Of those no more is held than some twenty bytes: there may be a million.
 */
import { hashText } from '../transcript/text-hash.ts'
import type { Stowed } from './stowing.ts'

export type UnitSessions<T extends object> = {
  /** How many were not taken yet. */
  size(): number
  get(id: string): T | Stowed | undefined
  /** It is counted from here on. */
  open(id: string, session: T): void
  /** One that is counted was put away. */
  stow(id: string, stowed: Stowed): void
  /** The next in order, when all were told of: each once. */
  take(): T | Stowed | undefined
}

/** `idOf`: whose facts were put away there. Asked for those that may be the one that is looked for. */
export function createUnitSessions<T extends object>(idOf: (stowed: Stowed) => string): UnitSessions<T> {
  let count = 0
  let taken = 0
  const numbers = new Map<string, number>()
  const opened = new Map<number, T>()
  // Most units have one session, which is never put away.
  let away: Away | undefined
  const find = (id: string): number | undefined => away?.find(id, idOf)
  return {
    size: () => count - taken,
    get(id) {
      const number = numbers.get(id)
      if (number !== undefined) return opened.get(number)
      const known = find(id)
      return known === undefined ? undefined : away?.at(known)
    },
    open(id, session) {
      let number = find(id)
      if (number === undefined) {
        number = count
        count += 1
      }
      numbers.set(id, number)
      opened.set(number, session)
    },
    stow(id, where) {
      const number = numbers.get(id)
      if (number === undefined) return
      away ??= createAway()
      away.put(id, number, where)
      numbers.delete(id)
      opened.delete(number)
    },
    take() {
      if (taken === count) return undefined
      const number = taken
      taken += 1
      const there = opened.get(number) ?? away?.at(number)
      opened.delete(number)
      away?.leave(number)
      return there
    },
  }
}

/** Those that were put away at least once, by their numbers. */
type Away = {
  at(number: number): Stowed | undefined
  find(id: string, idOf: (stowed: Stowed) => string): number | undefined
  put(id: string, number: number, where: Stowed): void
  leave(number: number): void
}

const FIRST_SLOTS = 1024

function createAway(): Away {
  /** Where it lies on disk. What is held instead is apart, and has no place there. */
  let places = new Float64Array(FIRST_SLOTS).fill(Number.NaN)
  const held = new Map<number, string>()
  /** Part of an id's hash, and the number of the session, counted from 1: 0 is an empty slot. */
  let hashes = new Uint32Array(FIRST_SLOTS)
  let slots = new Uint32Array(FIRST_SLOTS)
  let size = 0

  const at = (number: number): Stowed | undefined => {
    const json = held.get(number)
    const place = json === undefined ? (places[number] ?? Number.NaN) : Number.NaN
    return json ?? (Number.isNaN(place) ? undefined : place)
  }
  const fill = (hash: number, slot: number): void => {
    const mask = slots.length - 1
    let free = hash & mask
    while (slots[free] !== 0) free = (free + 1) & mask
    hashes[free] = hash
    slots[free] = slot
  }
  const index = (id: string, number: number): void => {
    size += 1
    if (size * 4 > slots.length * 3) {
      const [before, filled] = [hashes, slots]
      hashes = new Uint32Array(2 * before.length)
      slots = new Uint32Array(2 * before.length)
      for (let n = 0; n < filled.length; n += 1)
        if (filled[n] !== 0) fill(before[n] as number, filled[n] as number)
    }
    fill(hashText(id) >>> 0, number + 1)
  }
  return {
    at,
    find(id, idOf) {
      const hash = hashText(id) >>> 0
      const mask = slots.length - 1
      for (let slot = hash & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
        const number = (slots[slot] as number) - 1
        const there = hashes[slot] === hash ? at(number) : undefined
        if (there !== undefined && idOf(there) === id) return number
      }
      return undefined
    },
    put(id, number, where) {
      if (at(number) === undefined) index(id, number)
      if (typeof where === 'string') {
        held.set(number, where)
        return
      }
      held.delete(number)
      if (number >= places.length) {
        const before = places
        places = new Float64Array(2 ** Math.ceil(Math.log2(number + 1))).fill(Number.NaN, before.length)
        places.set(before)
      }
      places[number] = where
    },
    leave: (number) => void held.delete(number),
  }
}
