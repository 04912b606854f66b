/** What a replay has answered and how, call by call: for the report, for `hansard replay why`, and for verify. Bounded. */
import type { MatchWay, Miss } from '../replay/matching/matcher.ts'
import type { PathDifference } from '../replay/matching/path-diff.ts'
import type { CallApi } from '../wire/call-apis.ts'

export type Served = {
  /** From 1, in the order in which they came. */
  readonly n: number
  readonly path: string
  readonly api?: CallApi
  readonly how: MatchWay | 'miss' | 'live' | 'other'
  /** Of a question about models or tokens that was recorded: how it was found. */
  readonly matched?: MatchWay
  readonly by?: readonly string[]
  readonly repeat?: number
  readonly isOutOfOrder?: boolean
  /** Why there was no answer. */
  readonly reason?: Miss['reason'] | 'no-answer' | 'not-json' | 'not-a-call'
  /** What was asked, in a few words. */
  readonly asked?: string
  readonly differences?: readonly PathDifference[]
  readonly from?: 'tape' | 'entries'
  readonly session?: string
  readonly source?: string
  readonly call?: string
  /** Place in the recording. */
  readonly index?: number
}

export type ReplayReport = {
  readonly v: 1
  readonly session: string
  readonly sessions: readonly string[]
  readonly startedAt: string
  readonly calls: number
  readonly counts: { readonly [how: string]: number }
  /** Answers that were made again from entries. */
  readonly regenerated: number
  readonly served: readonly Served[]
  /** Recorded calls that nobody asked for. */
  readonly unasked: number
  readonly recorded: number
  readonly damaged: number
  /** Tools whose results came with requests: what ran in earnest. */
  readonly executed: readonly string[]
  /** Tools that were answered from the recording. */
  readonly stubbed: readonly string[]
}

export type ReportLog = {
  add(served: Omit<Served, 'n'>): Served
  executed(tool: string): void
  stubbed(tool: string): void
  report(rest: Pick<ReplayReport, 'session' | 'sessions' | 'unasked' | 'recorded' | 'damaged'>): ReplayReport
  misses(): number
}

/** Calls that are told one by one; all are counted. */
const MOST_TOLD = 5000

export function createReportLog(startedAt: string): ReportLog {
  const served: Served[] = []
  const counts = new Map<string, number>()
  const [executed, stubbed] = [new Set<string>(), new Set<string>()]
  let calls = 0
  let regenerated = 0
  return {
    add(one) {
      calls += 1
      counts.set(one.how, (counts.get(one.how) ?? 0) + 1)
      if (one.from === 'entries') regenerated += 1
      const told = { n: calls, ...one }
      // What was exact may be forgotten first: the rest is what somebody will ask for.
      if (served.length >= MOST_TOLD) {
        const dull = served.findIndex(({ how }) => how === 'exact')
        if (dull === -1) return told
        served.splice(dull, 1)
      }
      served.push(told)
      return told
    },
    executed: (tool) => void executed.add(tool),
    stubbed: (tool) => void stubbed.add(tool),
    misses: () => counts.get('miss') ?? 0,
    report: (rest) => ({
      v: 1,
      ...rest,
      startedAt,
      calls,
      counts: Object.fromEntries(counts),
      regenerated,
      served,
      executed: [...executed].filter((tool) => !stubbed.has(tool)).sort(),
      stubbed: [...stubbed].sort(),
    }),
  }
}
