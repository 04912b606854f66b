/** Slices in memory: gone with the process. */
import { viewOf, type SliceFactory, type SliceStore } from './slice.ts'

export function memorySliceFactory(): SliceFactory {
  return { create: createMemoryStore }
}

function createMemoryStore<T>(): SliceStore<T> {
  let items: T[] = []
  return {
    ...viewOf(() => items),
    isEmpty: () => items.length === 0,
    length: () => items.length,
    // A copy: what was handed out stays as it was.
    all: () => items.slice(),
    latest: () => items.at(-1),
    append: (item) => void items.push(item),
    extend(added) {
      for (const item of added) items.push(item)
    },
    replace(next) {
      items = next.slice()
    },
    clear(predicate) {
      items = predicate === undefined ? [] : items.filter((item) => !predicate(item))
    },
    damage: () => [],
  }
}
