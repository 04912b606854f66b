/** The files that a session touched: the first of them by name with the ways in which it did, the others as a number. */
import { createIdSet } from '../formats/id-set.ts'
import type { WAYS } from '../transcript/tool-files.ts'

export type TouchedFiles = {
  add(path: string, way: (typeof WAYS)[number]): void
  named(): { readonly [path: string]: string }
  touched(): number
  isCut(): boolean
}

/** A hostile file may name any number. Beyond these they are counted and not named. */
export const MOST_FILES = 1000
const MOST_COUNTED_FILES = 200_000
const LONGEST_PATH = 1000

/** The first of them by name, the rest by number; of a session of more than two hundred thousand files the count is a lower bound. */
export function createTouchedFiles(): TouchedFiles {
  const named = new Map<string, string>()
  const others = createIdSet()
  let otherCount = 0
  let touched = 0
  return {
    add(path, way) {
      const letter = way.slice(0, 1)
      const isTouch = way !== 'looked'
      const known = named.get(path)
      if (known !== undefined) {
        if (known.includes(letter)) return
        if (isTouch && known === 'l') touched += 1
        named.set(path, known + letter)
      } else if (named.size < MOST_FILES) {
        named.set(path, letter)
        if (isTouch) touched += 1
      } else if (isTouch && otherCount < MOST_COUNTED_FILES && !others.has(path)) {
        others.add(path)
        otherCount += 1
        touched += 1
      }
    },
    named: () =>
      Object.assign(Object.create(null), Object.fromEntries(named)) as { readonly [path: string]: string },
    touched: () => touched,
    isCut: () => named.size >= MOST_FILES,
  }
}

/** What is longer is no path. */
export function pathsIn(files: readonly string[]): readonly string[] {
  for (const { length } of files)
    if (length > LONGEST_PATH) return files.filter((file) => file.length <= LONGEST_PATH)
  return files
}
