/**
 * Entries in which a text may stand within words, of one shard: by the pages that have its bytes, and, where those are many, by the
 * words that have it within. A table's words are gone over when the search comes to it, and no sooner.
 */
import { PAGE_DOCS } from './doc-pages.ts'
import { ALL } from './plan.ts'
import { isAsked, mayBeCut, textsWithin, withinLookup, type Within } from './query-within.ts'
import { LARGE_UNTOLD } from './doc-facts.ts'
import type { ShardReader } from './shard-reader.ts'
import type { TableRange } from './word-lookup.ts'

/** Numbers of docs that may match, from below one down. Fewer than asked for: there are no more. */
export type Matches = (below: number, limit: number) => readonly number[]

/** The entries of so many are read in the time that going over the words of a table takes, and no less. */
const FEW_PAGES = 2
/** Words that are looked up at most: where more have the text, it is in most entries. */
const MOST_WORDS = 4000

export type Asked = {
  readonly reader: ShardReader
  /** What else is asked for. */
  readonly fts: string
  /** The only ones that can have it, from the highest down. */
  readonly pages: readonly number[]
  readonly within: Within
  readonly isLate: () => boolean
}

export function matchesWithinWords({ reader, fts, pages, within, isLate }: Asked): Matches {
  const have = new Set(pages)
  const isThere = (number: number): boolean => have.has(Math.floor(number / PAGE_DOCS))
  const lookups = new Map<string, string | undefined>()
  const lookupOf = ({ name }: TableRange): string | undefined => {
    if (!lookups.has(name)) lookups.set(name, narrowed(reader, name, fts, within))
    return lookups.get(name)
  }
  return (below, limit) => {
    const found: number[] = []
    for (const table of reader.ranges()) {
      if (table.low >= below) continue
      if (isLate()) break
      const top = Math.min(below, table.high)
      const own = pages.filter((page) => page * PAGE_DOCS < top && (page + 1) * PAGE_DOCS > table.low)
      if (own.length === 0) continue
      const left = limit - found.length
      if (own.length <= FEW_PAGES && fts === ALL)
        found.push(...docsOfPages(reader, own, { low: table.low, high: top, limit: left }))
      else {
        const lookup = own.length <= FEW_PAGES ? fts : lookupOf(table)
        if (lookup !== undefined)
          found.push(...reader.matchesIn(table, { fts: lookup, below: top, limit: left, isThere }))
      }
      if (found.length >= limit) break
    }
    return found
  }
}

/** Every doc of some pages, which need not be full. */
export function docsOfPages(
  reader: ShardReader,
  pages: readonly number[],
  { low, high, limit }: { readonly low: number; readonly high: number; readonly limit: number },
): readonly number[] {
  const found: number[] = []
  for (const page of pages) {
    const first = Math.max(low, page * PAGE_DOCS)
    for (let number = Math.min(high, (page + 1) * PAGE_DOCS) - 1; number >= first; number -= 1) {
      if (found.length >= limit) return found
      if (reader.unitOf(number) !== undefined) found.push(number)
    }
  }
  return found
}

/** Undefined when no entry of the table can have it. */
function narrowed(reader: ShardReader, table: string, fts: string, within: Within): string | undefined {
  const isWanted = (word: string): boolean => mayBeCut(word) || isAsked(within, word)
  const terms = reader.wordsHaving(table, { texts: textsWithin(within), isWanted }, MOST_WORDS)
  if (terms === undefined) return fts
  const words = withinLookup(within, terms)?.expression
  const untold = reader.facets('size').includes(LARGE_UNTOLD) ? `"${LARGE_UNTOLD}"` : undefined
  const either = [words, untold].filter((one) => one !== undefined).join(' OR ')
  if (either === '') return undefined
  return fts === ALL ? either : `(${fts}) AND (${either})`
}
