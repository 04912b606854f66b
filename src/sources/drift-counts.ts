/** What is new in a format, each name with how often it was met. */
import type { Drift } from '../formats/format.ts'
import type { CountedDrift } from './session-facts.ts'

export type DriftCounts = {
  readonly add: (drift: Drift) => void
  readonly all: () => readonly CountedDrift[]
}

/** A hostile file may have any number of new names. */
const MOST_NAMES = 1000

export function createDriftCounts(): DriftCounts {
  const counts = new Map<string, { -readonly [K in keyof CountedDrift]: CountedDrift[K] }>()
  return {
    add({ kind, name, version }) {
      const key = `${kind}\n${name}\n${version ?? ''}`
      const known = counts.get(key)
      if (known !== undefined) known.count += 1
      else if (counts.size < MOST_NAMES)
        counts.set(key, { kind, name, ...(version && { version }), count: 1 })
    },
    all: () => [...counts.values()],
  }
}
