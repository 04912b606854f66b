/**
 * Why a search found nothing: what was searched, which part of the query leaves nothing, and how a word that nobody wrote may have
 * been meant. Bounded in time, since it comes after an answer.
 */
import type { Query, WordsNode } from './query.ts'
import { partsOf, toText, without } from './query-text.ts'
import type { About, SearchIndex } from './search.ts'
import { termsOf } from './words.ts'

export type Explained = {
  /** All that there is to search. */
  readonly searched: About
  /** Parts of the query that leave nothing, each with what is found without it. */
  readonly without: readonly Without[]
  /** Words that no entry has, and the nearest that one has. */
  readonly spelling: readonly { readonly word: string; readonly nearest: string }[]
}
export type Without = {
  /** As it could be typed. */
  readonly part: string
  readonly found: number
  /** False when there are more than were counted. */
  readonly isAll: boolean
}

const MOST_PARTS = 8
const MOST_COUNTED = 200
const EXPLAIN_MS = 1500

export async function explainNone(
  index: SearchIndex,
  query: Query,
  { deadline = Number.POSITIVE_INFINITY }: { readonly deadline?: number } = {},
): Promise<Explained> {
  const until = Math.min(deadline, Date.now() + EXPLAIN_MS)
  const searched = await index.about()
  return {
    searched,
    without: await findWithout(index, query, until),
    spelling: await findSpellings(index, query, until),
  }
}

async function findWithout(index: SearchIndex, query: Query, until: number): Promise<Without[]> {
  const parts = partsOf(query)
  const found: Without[] = []
  for (const part of parts.slice(0, MOST_PARTS)) {
    const rest = without(query, part)
    if (rest === undefined || Date.now() >= until) continue
    const { hits, total } = await index.search(rest, { limit: MOST_COUNTED, deadline: until })
    if (hits.length > 0) found.push({ part: toText(part), found: hits.length, isAll: total !== undefined })
  }
  return found
}

async function findSpellings(
  index: SearchIndex,
  query: Query,
  until: number,
): Promise<{ word: string; nearest: string }[]> {
  const found: { word: string; nearest: string }[] = []
  const words = partsOf(query).filter((node): node is WordsNode => node.type === 'words')
  for (const node of words.slice(0, MOST_PARTS)) {
    for (const word of new Set(termsOf(node.text))) {
      if (Date.now() >= until || found.length >= MOST_PARTS) return found
      const nearest = await index.spelling(word)
      if (nearest !== undefined) found.push({ word, nearest })
    }
  }
  return found
}
