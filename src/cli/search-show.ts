/** What is shown of a hit: its entry, which has no secrets any more, cut to what was asked for. */
import { textsOf } from '../search/match-texts.ts'
import type { Query } from '../search/query.ts'
import type { SearchHit, SearchIndex } from '../search/search.ts'
import { createShownEntries } from '../search/shown-entries.ts'
import { createSnippets, SNIPPET_LENGTH } from '../search/snippet.ts'
import type { Entry } from '../transcript/entry.ts'
import type { Shown } from './search-page.ts'

/** A hit with so many characters around the match. */
export type Show = (hit: SearchHit, length?: number) => Promise<Shown>

/** Hits are shown in the order in which they were found. */
export function createShow(
  index: SearchIndex,
  query: Query,
  hits: readonly SearchHit[],
  redact: (text: string) => string,
): Show {
  const snippets = createSnippets(query)
  const entryOf = createShownEntries(index, hits)
  let last: { readonly hit: SearchHit; readonly entry: Entry | undefined } | undefined
  return async (hit, length = SNIPPET_LENGTH) => {
    if (last?.hit !== hit) last = { hit, entry: await entryOf(hit) }
    const { entry } = last
    // What was said says more than what the session is called, where both match.
    const [texts, titled] = entry === undefined ? [[], []] : [textsOf(entry), textsOf(entry, hit)]
    const titles = titled.slice(0, titled.length - texts.length).map(redact)
    const snippet = snippets([...texts, ...titles], { length })
    return { ...hit, ...(hit.title !== undefined && { title: redact(hit.title) }), snippet }
  }
}
