/**
 * Where a query matches in one session, by position. The index is asked first; where it cannot answer in time the session is read, and
 * whoever asks goes on from where it ended.
 */
import type { Session } from '../transcript/session.ts'
import { createMatcher } from './match.ts'
import { NOWHERE, positionsBySource } from './outline-columns.ts'
import type { Outline } from './outline-now.ts'
import type { Query } from './query.ts'
import type { SearchHit, SearchIndex } from './search.ts'
import { redactorOf, toSearched } from './searched-entry.ts'

export type FoundIn = {
  /** In order. */
  readonly positions: readonly number[]
  readonly total?: number
  /** Where to go on; absent when all was looked at. */
  readonly next?: number
}

export type FindOptions = {
  readonly id: string
  readonly from: number
  readonly limit: number
  readonly session?: Session
}

const INDEX_MS = 1500
const READ_MS = 6000
/** After getting to where it is to begin. */
const LEAST_MS = 1000
/** Matches of one session that the index is asked for. */
const MOST_MATCHES = 20_000

/** What the index knows of matches in one session; without a total where it did not get through in time. */
export type Hits = {
  readonly hits: readonly Pick<SearchHit, 'source' | 'sequence'>[]
  readonly total?: number
}

export async function findHits(index: SearchIndex, query: Query, session: string): Promise<Hits> {
  const { hits, total } = await index.search(query, {
    limit: MOST_MATCHES,
    order: 'newest',
    deadline: Date.now() + INDEX_MS,
    session,
  })
  return {
    hits: hits.map(({ source, sequence }) => ({ source, sequence })),
    ...(total !== undefined && { total }),
  }
}

export async function findInSession(
  { hits, total }: Hits,
  outline: Outline,
  query: Query,
  { id, from, limit, session }: FindOptions,
): Promise<FoundIn> {
  if (total === undefined || outline.state === 'building' || outline.length === 0)
    return readThrough(outline, query, { from, limit, session: session ?? { id, status: 'running' } })
  const places = await positionsBySource(outline)
  const redactor = outline.readable && redactorOf(outline.readable.archive)
  const safe = new Map([...places].map(([source, own]) => [redactor?.text(source) ?? source, own]))
  const all = hits
    .map(({ source, sequence }) => (places.get(source) ?? safe.get(source))?.[sequence] ?? NOWHERE)
    .filter((position) => position !== NOWHERE)
    .sort((a, b) => a - b)
  const found = all.filter((position) => position >= from)
  const last = found[limit]
  return { positions: found.slice(0, limit), total: all.length, ...(last !== undefined && { next: last }) }
}

async function readThrough(
  { readable }: Outline,
  query: Query,
  { from, limit, session }: { readonly from: number; readonly limit: number; readonly session: Session },
): Promise<FoundIn> {
  if (readable === undefined) return { positions: [], next: from }
  const matcher = createMatcher(query)
  const redactor = redactorOf(readable.archive)
  const positions: number[] = []
  const deadline = Date.now() + READ_MS
  let until = deadline
  let position = -1
  for await (const entry of readable.readAll()) {
    position += 1
    if (position < from) continue
    if (position === from) until = Math.max(deadline, Date.now() + LEAST_MS)
    if (positions.length >= limit || (position % 64 === 0 && Date.now() > until && position > from))
      return { positions, next: position }
    if (matcher.entry(toSearched(entry, redactor), session) !== undefined) positions.push(position)
  }
  return { positions, ...(from === 0 && { total: positions.length }) }
}
