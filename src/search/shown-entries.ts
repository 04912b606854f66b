/** The entries of hits that are shown one after the other: those of one unit are read together, and held until each is shown. */
import type { Entry } from '../transcript/entry.ts'
import type { SearchHit, SearchIndex } from './search.ts'

/** Hits that are looked ahead to. */
const MOST_AHEAD = 50

/** Of each hit once, in their order; undefined when it is gone. */
export function createShownEntries(
  index: Pick<SearchIndex, 'searched'>,
  hits: readonly SearchHit[],
): (hit: SearchHit) => Promise<Entry | undefined> {
  const held = new Map<SearchHit, Entry | undefined>()
  return async (hit) => {
    if (!held.has(hit)) {
      const from = Math.max(0, hits.indexOf(hit))
      const ahead = hits.slice(from + 1, from + MOST_AHEAD)
      const together = [
        hit,
        ...ahead.filter((one) => one.located.unit === hit.located.unit && !held.has(one)),
      ]
      const entries = await index.searched(together)
      for (const one of together) held.set(one, entries.get(one))
    }
    const entry = held.get(hit)
    held.delete(hit)
    return entry
  }
}
