/**
 * The server asked, in its own types. Nothing here throws: an answer is a value or a problem, and who asked shows the problem. While
 * the server is gone a question waits for it to come back and is asked again; `signal` ends the wait.
 *
 *   const answer = await ask.sessions({ q: 'login' }, { signal })
 *   if (answer.ok) … answer.value.sessions else … answer.problem.message
 */
import type {
  EntriesAnswer,
  EntryRow,
  FindAnswer,
  FindQuery,
  Health,
  ApiError,
  ApiTree,
  ExportQuery,
  OutlineAnswer,
  PlaceAnswer,
  PlaceQuery,
  RangeQuery,
  RawAnswer,
  SearchAnswer,
  SearchQuery,
  SessionAnswer,
  SessionsAnswer,
  SessionsQuery,
  TextAnswer,
  TextQuery,
  TypingAnswer,
  TypingQuery,
} from '../server/api.ts'
import type {
  CacheAnswer,
  CostAnswer,
  CostQuery,
  InsightAnswer,
  StatsAnswer,
  StatsQuery,
  TopAnswer,
  TopQuery,
} from '../server/api-cost.ts'
import type { CompareAnswer, ReceiptsAnswer, RunAnswer, RunsAnswer, RunsQuery } from '../server/api-runs.ts'
import type { DiffAnswer, DiffQuery } from '../server/api-diff.ts'
import type { SyncAnswer } from '../server/api-live.ts'
import { noticeGone, whenBack } from './live.ts'
import { withPass } from './pass.ts'

export type Problem = {
  /** The server's, or `aborted` (somebody no longer wants it), or `gone` (nobody answered). */
  readonly code: string
  readonly message: string
  readonly hint?: string
  readonly status?: number
}
export type Answer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: Problem }

export type AskOptions = {
  readonly signal?: AbortSignal
  /** `false`: a server that is gone is a problem at once. */
  readonly wait?: boolean
}

const headers = { accept: 'application/json' }

type Query = { readonly [name: string]: string | number | boolean | undefined }

const session = (id: string): string => `sessions/${encodeURIComponent(id)}`
const run = (id: string): string => `runs/${encodeURIComponent(id)}`

export const ask = {
  health: (options?: AskOptions) => get<Health>('health', {}, options),
  sessions: (query: SessionsQuery, options?: AskOptions) => get<SessionsAnswer>('sessions', query, options),
  session: (id: string, options?: AskOptions) => get<SessionAnswer>(session(id), {}, options),
  outline: (id: string, query: RangeQuery = {}, options?: AskOptions) =>
    get<OutlineAnswer>(`${session(id)}/outline`, query, options),
  entries: (id: string, query: RangeQuery, options?: AskOptions) =>
    get<EntriesAnswer>(`${session(id)}/entries`, query, options),
  entry: (id: string, position: number, options?: AskOptions) =>
    get<EntryRow>(`${session(id)}/entries/${position}`, {}, options),
  raw: (id: string, position: number, options?: AskOptions) =>
    get<RawAnswer>(`${session(id)}/entries/${position}/raw`, {}, options),
  text: (id: string, position: number, query: TextQuery, options?: AskOptions) =>
    get<TextAnswer>(`${session(id)}/entries/${position}/text`, query, options),
  typing: (id: string, query: TypingQuery, options?: AskOptions) =>
    get<TypingAnswer>(`${session(id)}/typing`, query, options),
  find: (id: string, query: FindQuery, options?: AskOptions) =>
    get<FindAnswer>(`${session(id)}/find`, query, options),
  /** Where the entry of a citation is. */
  position: (id: string, query: PlaceQuery, options?: AskOptions) =>
    get<PlaceAnswer>(`${session(id)}/position`, query, options),
  tree: (id: string, options?: AskOptions) => get<ApiTree>(`${session(id)}/tree`, {}, options),
  insight: (id: string, options?: AskOptions) => get<InsightAnswer>(`${session(id)}/insight`, {}, options),
  search: (query: SearchQuery, options?: AskOptions) => get<SearchAnswer>('search', query, options),
  cost: (query: CostQuery, options?: AskOptions) => get<CostAnswer>('cost', query, options),
  costTop: (query: TopQuery, options?: AskOptions) => get<TopAnswer>('cost/top', query, options),
  costCache: (query: TopQuery, options?: AskOptions) => get<CacheAnswer>('cost/cache', query, options),
  stats: (query: StatsQuery, options?: AskOptions) => get<StatsAnswer>('stats', query, options),
  diff: (query: DiffQuery, options?: AskOptions) => get<DiffAnswer>('diff', query, options),
  runs: (query: RunsQuery, options?: AskOptions) => get<RunsAnswer>('runs', query, options),
  run: (id: string, options?: AskOptions) => get<RunAnswer>(run(id), {}, options),
  compare: (id: string, other: string, options?: AskOptions) =>
    get<CompareAnswer>(`${run(id)}/compare/${encodeURIComponent(other)}`, {}, options),
  receipts: (id: string, options?: AskOptions) => get<ReceiptsAnswer>(`${run(id)}/receipts`, {}, options),
  sync: (options?: AskOptions) => request<SyncAnswer>('sync', { method: 'POST' }, options),
} as const

/** Rows of the list that are asked for at once. */
export const FIRST_SESSIONS = 100

/** What the first view will ask for, asked before that is loaded; the same question is then answered by it, once. */
export const askEarly = {
  sessions: () => begin(`sessions?limit=${FIRST_SESSIONS}`),
  session: (id: string) => begin(session(id)),
} as const

const early = new Map<string, Promise<Response>>()

function begin(path: string): void {
  const answer = fetch(`/api/v1/${path}`, { headers })
  early.set(path, answer)
  // Whoever asks next asks again.
  answer.catch(() => {})
}

/** There are other sessions, and a server to ask: not so in an exported file, see reader/api.ts. */
export const isAlone: boolean = false
export const hasSession = (_id: string): boolean => true

/** Addresses for links and pictures. */
export const exportUrl = (id: string, as: NonNullable<ExportQuery['as']>): string =>
  withPass(`/api/v1/${session(id)}/export?as=${as}`)
export const textUrl = (id: string, position: number, path: string): string =>
  withPass(`/api/v1/${session(id)}/entries/${position}/file?path=${encodeURIComponent(path)}`)
export const blobUrl = (hash: string): string => withPass(`/api/v1/blobs/${encodeURIComponent(hash)}`)

function get<T>(path: string, query: Query, options?: AskOptions): Promise<Answer<T>> {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') search.set(name, String(value))
  const text = search.toString()
  return request<T>(text === '' ? path : `${path}?${text}`, {}, options)
}

async function request<T>(
  path: string,
  init: RequestInit,
  { signal, wait = true }: AskOptions = {},
): Promise<Answer<T>> {
  for (;;) {
    try {
      const begun = early.get(path)
      early.delete(path)
      const response = await (begun ??
        fetch(`/api/v1/${path}`, { ...init, ...(signal && { signal }), headers }))
      // The contract: see src/server/api.ts.
      if (response.ok) return { ok: true, value: (await response.json()) as T }
      return { ok: false, problem: await problemOf(response) }
    } catch {
      if (signal?.aborted) return ABORTED
      noticeGone()
      if (!wait || init.method === 'POST') return GONE
      await whenBack(signal)
      // Without a pause, an answer that breaks off each time would be asked for without end.
      await new Promise((resolve) => setTimeout(resolve, 200))
      if (signal?.aborted) return ABORTED
    }
  }
}

const ABORTED: Answer<never> = { ok: false, problem: { code: 'aborted', message: 'no longer wanted' } }
const GONE: Answer<never> = {
  ok: false,
  problem: { code: 'gone', message: 'the server does not answer', hint: 'start it again with hansard serve' },
}

async function problemOf(response: Response): Promise<Problem> {
  const { status } = response
  const body: unknown = await response.json().catch(() => undefined)
  if (isApiError(body)) {
    const { code, message, hint } = body.error
    return { code, message, status, ...(hint !== undefined && { hint }) }
  }
  return { code: 'unexpected', message: `the server answered ${status}`, status }
}

function isApiError(body: unknown): body is ApiError {
  if (typeof body !== 'object' || body === null || !('error' in body)) return false
  const { error } = body
  return (
    typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string'
  )
}
