/** Slices in memory: gone with the process. */
import { viewOf, type SliceFactory, type SliceStore, type SliceType } from './slice.ts'

export function memorySliceFactory(): SliceFactory {
  return { create: createMemoryStore }
}

function createMemoryStore<T>(type: SliceType<T>): SliceStore<T> {
  let items: T[] = []
  const toHeld = (item: T): T => (type.freeze === undefined ? item : type.freeze(structuredClone(item)))
  return {
    ...viewOf(() => items),
    isEmpty: () => items.length === 0,
    length: () => items.length,
    // A copy: what was handed out stays as it was.
    all: () => items.slice(),
    latest: () => items.at(-1),
    append: (item) => void items.push(toHeld(item)),
    extend(added) {
      for (const item of added) items.push(toHeld(item))
    },
    replace(next) {
      items = next.map(toHeld)
    },
    clear(predicate) {
      items = predicate === undefined ? [] : items.filter((item) => !predicate(item))
    },
    damage: () => [],
  }
}
