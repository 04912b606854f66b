/** Answers of the index against those of reading everything: where the two differ, and by what. */
import type { Archive } from '../src/archive/archive.ts'
import { parseQuery } from '../src/search/query.ts'
import { openSearchIndex, type SearchIndex } from '../src/search/search.ts'
import type { Asked } from './asked-searches.ts'
import type { PlainEntry } from './plain-search.ts'

export type Difference = {
  readonly query: string
  /** Citations of what is there and was not found, and the other way. */
  readonly missing: readonly string[]
  readonly extra: readonly string[]
}

/** Every entry is asked for: an answer that has one twice differs as well. */
export async function compareSearches(
  archive: Archive,
  entries: readonly PlainEntry[],
  asked: readonly Asked[],
): Promise<readonly Difference[]> {
  const index = await openSearchIndex(archive)
  try {
    const differences: Difference[] = []
    for (const one of asked) {
      const difference = await compare(index, entries, one)
      if (difference !== undefined) differences.push(difference)
    }
    return differences
  } finally {
    index.close()
  }
}

async function compare(
  index: SearchIndex,
  entries: readonly PlainEntry[],
  { query, caseSensitive = false, means }: Asked,
): Promise<Difference | undefined> {
  const { hits } = await index.search(parseQuery(query, { caseSensitive }), { limit: entries.length * 2 + 1 })
  const left = new Set<string>()
  for (const entry of entries) if (means(entry)) left.add(entry.citation)
  const extra = hits.filter((hit) => !left.delete(hit.citation)).map((hit) => hit.citation)
  if (left.size === 0 && extra.length === 0) return undefined
  return { query: caseSensitive ? `${query} as it is spelled` : query, missing: [...left], extra }
}
