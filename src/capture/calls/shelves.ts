/** Where the text of answers that are not over lies: a few megabytes of all of them in memory, and what is more outside of it. */
import type { Shelf } from '../../wire/limits.ts'
import type { Extent, Spill } from '../spill.ts'

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
      const extents: Extent[] = []
      let own = 0
      let isOver = false
      return {
        put(bytes) {
          if (isOver) return undefined
          const extent = held > most ? spill.writeNow(bytes) : undefined
          if (extent === undefined) {
            own += bytes.length
            held += bytes.length
            return undefined
          }
          extents.push(extent)
          // What lies there later is another's.
          return { length: bytes.length, read: (into) => !isOver && spill.readNow(extent, into) }
        },
        clear() {
          isOver = true
          for (const extent of extents.splice(0)) spill.free(extent)
          held -= own
          own = 0
        },
      }
    },
  }
}
