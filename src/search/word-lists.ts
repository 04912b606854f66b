/**
 * Words of many entries on their way into tables of FTS5, held until there are enough of them for a list of its own. A table that FTS5
 * itself was told of on this connection is left to it, for it would not look at the table again.
 */
import type { Database } from '../sqlite/driver.ts'
import { canWriteLists, writeList } from './word-bulk.ts'
import { createPostings, type Postings } from './word-postings.ts'

export type ListWriter = {
  /** False where it has to be given to FTS5. */
  add(table: string, number: number, text: Uint8Array, facets: string): boolean
  flush(): void
}

/** Places of words in one list: four bytes each, and for as many as are sorted at a time eight more. */
const MOST_PLACES = 6_000_000
/** Fewer are no reason for a list in a table while another one is being filled. */
const ENOUGH_PLACES = 500_000
/** Fewer are no reason for a list at all: FTS5 puts lists together when it is given words, and not when it finds some. */
const FEWEST_PLACES = 100_000

/** One for the thread: large, and used again. */
let shared: Postings | undefined

/** `give`: to FTS5. */
export function openListWriter(
  database: Database,
  give: (table: string, number: number, text: Uint8Array, facets: string) => void,
  fewest: number = FEWEST_PLACES,
): ListWriter {
  const postings = (shared ??= createPostings())
  postings.clear()
  /** The one that is being filled. */
  let filled: string | undefined
  const usable = new Map<string, boolean>()
  const isUsable = (table: string): boolean => {
    if (toldOf(database).has(table)) return false
    const known = usable.get(table) ?? canWriteLists(database, table)
    usable.set(table, known)
    return known
  }
  const flush = (): void => {
    if (filled === undefined) return
    if (postings.places >= fewest) writeList(database, filled, postings)
    else
      for (let nth = 0; nth < postings.docs; nth += 1) {
        const { text, facets } = postings.words(nth)
        give(filled, postings.number(nth), text, facets)
      }
    postings.clear()
    filled = undefined
  }
  return {
    flush,
    add(table, number, text, facets) {
      if (!isUsable(table)) return false
      if (filled !== undefined) {
        const isOther = filled !== table
        if (isOther && postings.places < ENOUGH_PLACES) return false
        const isBehind = !isOther && number <= postings.last
        if (isOther || isBehind || postings.places >= MOST_PLACES || postings.isFull(text)) flush()
        // What goes back and forth would be many lists of little.
        if (isBehind) return false
      }
      filled = table
      postings.add(number, text, facets)
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
