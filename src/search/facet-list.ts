/**
 * Every facet that a shard has, each once, for those who look for one within: noted while entries are written, and put into the table
 * together and in order. One by one, each wherever it belongs, they took longer than all other rows of a batch.
 */
import { prepared } from '../sources/state-statements.ts'
import type { Database } from '../sqlite/driver.ts'

export type FacetList = {
  add(facet: string): void
  /** All that was added is in the table. */
  flush(): void
  /** What was flushed is there to stay: it was committed. */
  committed(): void
}

/** Rows of one statement. */
const AT_ONCE = 32

/** UTF-16 units of facets that are known to be in a shard, and of those that wait: a hostile log may have any number. */
const MOST_UNITS = 2 * 1024 * 1024

/** On a connection: in its table, and committed. */
const known = new WeakMap<Database, Facets>()

/** For one transaction: what it adds is not known after it was rolled back. */
export function openFacetList(database: Database): FacetList {
  const there = known.get(database) ?? createFacets()
  known.set(database, there)
  const written = createFacets()
  const waiting = createFacets()
  const flush = (): void => {
    const facets = [...waiting.all].toSorted()
    waiting.clear()
    for (let from = 0; from < facets.length; from += AT_ONCE) {
      const some = facets.slice(from, from + AT_ONCE)
      const rows = some.map(() => '(?)').join(', ')
      prepared(database, `INSERT OR IGNORE INTO facets (name) VALUES ${rows}`).run(...some)
      for (const facet of some) written.add(facet)
    }
  }
  return {
    flush,
    add(facet) {
      if (there.all.has(facet) || written.all.has(facet) || waiting.all.has(facet)) return
      if (waiting.isFull()) flush()
      waiting.add(facet)
    },
    committed() {
      for (const facet of written.all) there.add(facet)
      written.clear()
    },
  }
}

type Facets = {
  readonly all: ReadonlySet<string>
  /** Forgets all others when there are too many. */
  add(facet: string): void
  isFull(): boolean
  clear(): void
}

function createFacets(): Facets {
  const all = new Set<string>()
  let units = 0
  const clear = (): void => {
    all.clear()
    units = 0
  }
  const isFull = (): boolean => units >= MOST_UNITS
  return {
    all,
    isFull,
    clear,
    add(facet) {
      if (isFull()) clear()
      // What a string itself takes, besides.
      units += facet.length + 32
      all.add(facet)
    },
  }
}
