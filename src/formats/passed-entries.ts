/** Entries that a format has no line for: a line whose parent is one of them follows the nearest written entry above it. */
import type { Entry } from '../transcript/entry.ts'

export type PassedEntries = {
  /** Notes an entry that is not written. */
  readonly pass: (entry: Entry) => void
  /** The nearest written ancestor; null when none is. */
  readonly resolve: (parent: Entry['parent']) => Entry['parent']
}

/** The oldest are forgotten: a later line then names a parent that has no line. */
const MOST_PASSED = 10_000

export function createPassed(): PassedEntries {
  const passed = new Map<string, Entry['parent']>()
  const resolve = (parent: Entry['parent']): Entry['parent'] =>
    typeof parent === 'string' && passed.has(parent) ? passed.get(parent) : parent
  return {
    pass({ id, parent }) {
      passed.set(id, resolve(parent))
      if (passed.size > MOST_PASSED) passed.delete(passed.keys().next().value as string)
    },
    resolve,
  }
}
