/** Where the text of answers that are not over lies: a few megabytes of all of them in memory, and what is more outside of it. */
import type { Shelf } from '../../wire/limits.ts'
import type { Place, Spill } from '../spill.ts'

export type OwnShelf = Shelf & {
  /** Nobody asks for any of it again, and what comes yet is not held. */
  clear(): void
}

export type Shelves = { begin(): OwnShelf }

/** Bytes of all open answers in memory. */
const MOST_HELD = 8 * 1024 * 1024

export function createShelves(spill: Spill, most = MOST_HELD): Shelves {
  let held = 0
  return {
    begin() {
      const places: Place[] = []
      let own = 0
      let isOver = false
      return {
        put(bytes) {
          if (isOver) return undefined
          const place = held > most ? spill.writeNow(bytes) : undefined
          if (place === undefined) {
            own += bytes.length
            held += bytes.length
            return undefined
          }
          places.push(place)
          // What lies there later is another's.
          return { length: bytes.length, read: (into) => !isOver && spill.readNow(place, into) }
        },
        clear() {
          isOver = true
          for (const place of places.splice(0)) spill.free(place)
          held -= own
          own = 0
        },
      }
    },
  }
}
