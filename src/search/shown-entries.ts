/** The entries of hits that are shown one after the other: those of one unit are read together, and held until each is shown, if there is room. */
import type { Entry } from '../transcript/entry.ts'
import type { SearchHit, SearchIndex } from './search.ts'

/** Hits that are looked ahead to. */
const MOST_AHEAD = 50

/** Of each hit once, in their order; undefined when it is gone. */
export function createShownEntries(
  index: Pick<SearchIndex, 'searched'>,
  hits: readonly SearchHit[],
): (hit: SearchHit) => Promise<Entry | undefined> {
  const held = new Map<SearchHit, Entry>()
  return async (hit) => {
    if (!held.has(hit)) {
      const from = Math.max(0, hits.indexOf(hit))
      const ahead = hits.slice(from + 1, from + MOST_AHEAD)
      const together = [
        hit,
        ...ahead.filter((one) => one.located.unit === hit.located.unit && !held.has(one)),
      ]
      // What found no room is asked for again when it is shown.
      for (const [one, entry] of await index.searched(together)) held.set(one, entry)
    }
    const entry = held.get(hit)
    held.delete(hit)
    return entry
  }
}
