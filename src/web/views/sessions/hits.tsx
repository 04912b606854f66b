/** Entries that were found, with the words around what was found; each opens its session at the entry. */
import type { ApiHit, SearchAnswer } from '../../../server/api.ts'
import { href, setParams } from '../../router.ts'
import { oneLine, titleLine } from '../../text/visible.ts'
import { Time } from '../../ui/amounts.tsx'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/notes.tsx'
import { exactCount } from '../../ui/numbers.ts'
import { Visible } from '../../ui/visible.tsx'
import { wordsAlone } from './question.ts'

/** The session at the entry, with what was looked for marked in it. Without a position, the page asks where the entry is. */
export function hitHref({ session, position, citation }: ApiHit, find: string): string {
  const to = { view: 'session', id: session } as const
  return position === undefined
    ? href({ ...to, params: { find, at: citation } })
    : href({ ...to, params: { find }, position })
}

export function Hits({ found, words }: { readonly found: SearchAnswer; readonly words: string }) {
  const { hits, isPartial } = found
  if (hits.length === 0) return <Nothing found={found} words={words} />
  const find = wordsAlone(words)
  return (
    <>
      {isPartial && <p class="hits-note">Not everything could be searched in time: there may be more.</p>}
      <ol class="hits" aria-label="Entries found">
        {hits.map((hit, at) => (
          <li key={`${hit.session} ${hit.citation}`} class="hit">
            {hits[at - 1]?.session !== hit.session && (
              <h3 class="hit-session clip foreign">
                <Visible text={nameOf(hit)} />
              </h3>
            )}
            <a class="hit-link" href={hitHref(hit, find)} data-hit={at}>
              <span class="hit-about quiet">
                {hit.role ?? 'event'}
                {hit.agent !== undefined && ` · ${oneLine(hit.agent, 40)}`} · <Time at={hit.at} />
              </span>
              <span class="hit-snippet foreign">
                <Snippet hit={hit} />
              </span>
            </a>
          </li>
        ))}
      </ol>
    </>
  )
}

/** What has neither title nor prompt goes by where it was, and the beginning of its id. */
function nameOf({ title, prompt, cwd, session }: ApiHit): string {
  const folder = cwd?.split(/[\\/]/).findLast((part) => part !== '')
  return titleLine(title ?? prompt ?? [folder, `session ${session.slice(0, 8)}`].filter(Boolean).join(' · '))
}

function Snippet({ hit: { snippet = '', marks = [] } }: { readonly hit: ApiHit }) {
  const parts: { readonly text: string; readonly isMarked: boolean }[] = []
  let from = 0
  for (const { start, end } of marks) {
    if (start < from || end <= start) continue
    parts.push({ text: snippet.slice(from, start), isMarked: false })
    parts.push({ text: snippet.slice(start, end), isMarked: true })
    from = end
  }
  parts.push({ text: snippet.slice(from), isMarked: false })
  return (
    <>
      {parts.map(({ text, isMarked }, at) =>
        isMarked ? (
          <mark key={at}>
            <Visible text={text} />
          </mark>
        ) : (
          <Visible key={at} text={text} />
        ),
      )}
    </>
  )
}

/** Why there is nothing, and what there would be. */
function Nothing({ found, words }: { readonly found: SearchAnswer; readonly words: string }) {
  const { searched, without = [], spelling = [] } = found
  return (
    <EmptyState title="No entry has that">
      {searched && (
        <p>
          {exactCount(searched.entries)} entries of {exactCount(searched.sessions)} sessions were searched.
        </p>
      )}
      {without.map(({ part, found: count, isAll }) => (
        <p key={part}>
          Without <code>{part}</code>: {isAll ? '' : 'at least '}
          {exactCount(count)}
        </p>
      ))}
      {spelling.map(({ word, nearest }) => (
        <p key={word}>
          No entry has <code>{word}</code>.{' '}
          <Button onClick={() => setParams({ q: words.replace(word, nearest) })}>Look for {nearest}</Button>
        </p>
      ))}
    </EmptyState>
  )
}
