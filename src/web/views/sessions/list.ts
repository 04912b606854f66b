/**
 * The rows of the list as they come: the pages that are looked at, wherever they are, changed in place when the server says so. The
 * list of the last question is remembered, so that coming back from a session finds it as it was.
 */
import { batch, signal } from '@preact/signals'
import type { SessionRow } from '../../../server/api-model.ts'
import type { SessionsAnswer } from '../../../server/api.ts'
import { ask, FIRST_SESSIONS, type Problem } from '../../api.ts'
import { FACET_NAMES, queryOf, toSessionsQuery, type FacetName, type Question } from './question.ts'

type Facets = SessionsAnswer['facets']

const PAGE = FIRST_SESSIONS

export type SessionList = ReturnType<typeof createSessionList>

let remembered: SessionList | undefined

/** The same list for the same question. */
export function listOf(question: Question): SessionList {
  const key = JSON.stringify(question)
  if (remembered?.key === key) return remembered
  remembered?.stop()
  remembered = createSessionList(key, question, remembered?.facets.peek())
  return remembered
}

/** Rows of the list that was last shown. */
export const rememberedList = (): readonly (SessionRow | undefined)[] => remembered?.rows.peek() ?? []

function createSessionList(key: string, question: Question, facetsBefore: Facets | undefined) {
  /** Undefined where nobody looked yet. */
  const rows = signal<readonly (SessionRow | undefined)[]>([])
  const total = signal<number | undefined>(undefined)
  const facets = signal<Facets | undefined>(facetsBefore)
  const problem = signal<Problem | undefined>(undefined)
  /** Ids of what came while the list was open. */
  const fresh = signal<ReadonlySet<string>>(new Set())
  /** How many came that the list does not show yet. */
  const waiting = signal(0)
  let wanted = { from: 0, to: 0 }
  let loading: AbortController | undefined

  const begin = async (): Promise<void> => {
    loading?.abort()
    const mine = (loading = new AbortController())
    const query = toSessionsQuery(question)
    const answer = await ask.sessions({ ...query, limit: String(PAGE) }, { signal: mine.signal })
    if (mine.signal.aborted) return
    batch(() => {
      problem.value = answer.ok ? undefined : answer.problem
      if (!answer.ok) return
      rows.value = withPage([], 0, answer.value)
      total.value = answer.value.total
      facets.value = withChosen(answer.value.facets, facets.peek(), question)
      waiting.value = 0
    })
    loading = undefined
    if (answer.ok) void countOthers(mine.signal)
    void more()
  }

  /** The values of a facet in which something is chosen, counted as if nothing were. */
  const countOthers = async (signal: AbortSignal): Promise<void> => {
    for (const name of FACET_NAMES.filter((name) => question.facets[name].length > 0)) {
      const answer = await ask.sessions({ q: queryOf(question, name), limit: '1' }, { signal })
      if (!answer.ok || facets.peek() === undefined) return
      const all = withChosen(answer.value.facets, undefined, question)
      facets.value = { ...(facets.peek() ?? all), [name]: all[name] }
    }
  }

  /** Of what is looked at, the first page that is missing; one at a time, since others are wanted by the time it is here. */
  const more = async (): Promise<void> => {
    if (loading !== undefined || total.peek() === undefined) return
    const to = Math.min(wanted.to, total.peek() ?? 0)
    let at = wanted.from
    while (at < to && rows.peek()[at] !== undefined) at += 1
    if (at >= to) return
    const mine = (loading = new AbortController())
    const start = Math.floor(at / PAGE) * PAGE
    // What came meanwhile stands before all others, and is not shown yet.
    const offset = String(
      start + (queryOf(question) === '' && question.sort === 'newest' ? waiting.peek() : 0),
    )
    const query = { ...toSessionsQuery(question), offset, limit: String(PAGE) }
    const answer = await ask.sessions(query, { signal: mine.signal })
    if (mine.signal.aborted) return
    loading = undefined
    if (!answer.ok) return void (problem.value = answer.problem)
    const isLast = answer.value.sessions.length < PAGE
    batch(() => {
      rows.value = withPage(rows.peek(), start, answer.value)
      // What was deleted meanwhile is counted no more.
      if (isLast) total.value = Math.min(total.peek() ?? 0, start + answer.value.sessions.length)
    })
    void more()
  }

  void begin()
  return {
    key,
    rows,
    total,
    facets,
    problem,
    fresh,
    waiting,
    /** Where it was scrolled to. */
    top: 0,
    active: 0,
    /** Rows from one to another are looked at. */
    reach(from: number, to: number): void {
      wanted = { from, to }
      problem.value = undefined
      void more()
    },
    again: begin,
    /** Another state of a row that is shown. */
    change(row: SessionRow): boolean {
      const at = rows.peek().findIndex((one) => one?.id === row.id)
      if (at !== -1) rows.value = rows.peek().with(at, row)
      return at !== -1
    },
    remove(id: string): void {
      const left = rows.peek().filter((row) => row?.id !== id)
      if (left.length === rows.peek().length) return
      batch(() => {
        total.value = Math.max(0, (total.peek() ?? 1) - 1)
        rows.value = left
      })
    },
    markFresh: (id: string): void => void (fresh.value = new Set([...fresh.peek(), id])),
    stop: (): void => loading?.abort(),
  }
}

function withPage(
  rows: readonly (SessionRow | undefined)[],
  start: number,
  { sessions, total }: SessionsAnswer,
): readonly (SessionRow | undefined)[] {
  return Array.from({ length: total }, (_, at) => sessions[at - start] ?? rows[at])
}

/** A value that is chosen stays to be taken back, also when nothing has it. While others are counted, the last count stands. */
function withChosen(facets: Facets, before: Facets | undefined, question: Question): Facets {
  const one = (name: FacetName): Facets[FacetName] => {
    const chosen = question.facets[name]
    const counted = chosen.length > 0 && before !== undefined ? before[name] : facets[name]
    const missing = chosen.filter((value) => !counted.some((known) => known.value === value))
    return [...missing.map((value) => ({ value, count: 0 })), ...counted]
  }
  return {
    agent: one('agent'),
    model: one('model'),
    project: one('project'),
    status: one('status'),
    branch: one('branch'),
  }
}
