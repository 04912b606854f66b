/**
 * Words of many entries on their way into tables of FTS5, held until there are enough of them for a list of its own. A table that FTS5
 * itself was told of on this connection is left to it, for it would not look at the table again.
 */
import type { Database } from '../sqlite/driver.ts'
import { canWriteLists, writeList } from './word-bulk.ts'
import { createPostings, fits, type Postings } from './word-postings.ts'

export type ListWriter = {
  /** False where it has to be given to FTS5. */
  add(table: string, number: number, text: Uint8Array, facets: string): boolean
  flush(): void
}

/** Places of words in one list: four bytes each, and as many again while they are written. */
const MOST_PLACES = 6_000_000
/** Fewer are no reason for a list in a table while another one is being filled. */
const ENOUGH_PLACES = 500_000
/** Fewer are no reason for a list at all: FTS5 puts lists together when it is given words, and not when it finds some. */
const FEWEST_PLACES = 100_000

/** What nobody fills: large, and used again. Two batches of one thread may be under way at once. */
let spare: Postings | undefined

/** `give`: to FTS5. */
export function openListWriter(
  database: Database,
  give: (table: string, number: number, text: Uint8Array, facets: string) => void,
  fewest: number = FEWEST_PLACES,
): ListWriter {
  /** The one that is being filled, and with what. */
  let filled: { readonly table: string; readonly postings: Postings } | undefined
  const usable = new Map<string, boolean>()
  const isUsable = (table: string): boolean => {
    if (toldOf(database).has(table)) return false
    const known = usable.get(table) ?? canWriteLists(database, table)
    usable.set(table, known)
    return known
  }
  const flush = (): void => {
    if (filled === undefined) return
    const { table, postings } = filled
    filled = undefined
    // It has one list more, and may have enough of them.
    usable.delete(table)
    if (postings.places >= Math.max(1, fewest)) writeList(database, table, postings)
    else
      for (let nth = 0; nth < postings.docs; nth += 1) {
        const { text, facets } = postings.words(nth)
        give(table, postings.number(nth), text, facets)
      }
    postings.clear()
    spare = postings
  }
  const begin = (table: string): NonNullable<typeof filled> => {
    const postings = spare ?? createPostings()
    spare = undefined
    return { table, postings }
  }
  return {
    flush,
    add(table, number, text, facets) {
      if (!isUsable(table)) return false
      if (filled !== undefined) {
        const { places, last } = filled.postings
        const isOther = filled.table !== table
        if (isOther && places < ENOUGH_PLACES) return false
        const isBehind = !isOther && number <= last
        const isFull = places >= MOST_PLACES || !filled.postings.hasRoom(text, facets)
        if (isOther || isBehind || isFull) flush()
        // What goes back and forth would be many lists of little.
        if (isBehind || !isUsable(table)) return false
      }
      if (filled === undefined && !fits(0, text, facets)) return false
      const own = filled ?? begin(table)
      own.postings.add(number, text, facets)
      filled = own
      return true
    },
  }
}

const told = new WeakMap<Database, Set<string>>()

/** Tables that FTS5 was told to change on a connection. */
export function toldOf(database: Database): Set<string> {
  const known = told.get(database) ?? new Set()
  told.set(database, known)
  return known
}
