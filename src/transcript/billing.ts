/**
 * Whose bill a provider call is on: each call is billed to one session in the whole archive, however many sessions, forks,
 * resumes and checkpoints repeat it, and to the same one in whatever order they were read. Pure: the archive's state asks the
 * same questions of its rows.
 */
import type { Entry } from './entry.ts'
import type { Session, Totals } from './session.ts'
import { callKey, keyAmong, providerOf, reportOf, type BilledCall } from './totals.ts'
import { COUNTS, addUsage, hasCounts, laterReport, promptTokens, qualityRank, type Usage } from './usage.ts'

/** A session in which a call was seen. `parent` is the id of the session it was forked from, resumed from or started by. */
export type Candidate = {
  readonly session: string
  readonly startedAt?: string
  readonly endedAt?: string
  readonly parent?: string
}

/** A call, counted once, and the session that it is billed to. Its usage has no counts where nobody stated any. */
export type Bill = BilledCall & { readonly session: string }

export type Billing = {
  /** What a session says of itself, said again whenever more is known: the last word counts. */
  session(session: Pick<Session, 'id' | 'startedAt' | 'endedAt' | 'parent'>): void
  /** In the order of the session; sessions may come in any order, and alternate. */
  add(session: string, entry: Entry): void
  /** Every call of all sessions, once. The order says nothing. */
  bills(): readonly Bill[]
}

/** `base` is the call's id whoever gave it out. */
type Report = Bill & { readonly base: string }

/** Memory is a report for each call of each session. */
export function createBilling(): Billing {
  const candidates = new Map<string, Candidate>()
  /** What each session says of the calls it names, by key. */
  const named = new Map<string, Map<string, Report>>()
  const unnamed: Bill[] = []

  return {
    session({ id, startedAt, endedAt, parent }) {
      candidates.set(id, {
        session: id,
        ...(startedAt !== undefined && { startedAt }),
        ...(endedAt !== undefined && { endedAt }),
        ...(parent !== undefined && { parent: parent.session }),
      })
    },
    add(session, entry) {
      const usage = reportOf(entry)
      if (usage === undefined) return
      const { model, at } = entry
      const provider = providerOf(entry)
      const base = callKey(entry)
      if (base === undefined) {
        unnamed.push({ session, model, usage, at, provider })
        return
      }
      const own = named.get(session) ?? new Map<string, Report>()
      named.set(session, own)
      const key = keyAmong(own, base, provider)
      const first = own.get(key)
      own.set(key, {
        session,
        base,
        model: model ?? first?.model,
        usage: first === undefined ? usage : laterReport(first.usage, usage),
        at: first?.at ?? at,
        provider: provider ?? first?.provider,
      })
    },
    bills() {
      const toBill = ({ session, best, reports }: Settled<Report>): Bill => {
        const own = reports.find((report) => report.session === session) ?? best
        return {
          session,
          usage: best.usage,
          // With the counts that are believed goes the model that was counted; the time is the payer's own.
          model: best.model ?? own.model,
          at: own.at ?? best.at,
          provider: best.provider ?? own.provider,
        }
      }
      const settled = callsOf(named.values()).flatMap((reports) =>
        settleReports(reports, (session) => candidates.get(session) ?? { session }),
      )
      return [...settled.map(toBill), ...unnamed]
    },
  }
}

/** What a session says of a call. */
export type CallReport = {
  readonly session: string
  readonly provider: string | undefined
  readonly usage: Usage
}

/** A call: the session it is billed to, and the report that is believed, which may be another session's. */
export type Settled<T> = { readonly session: string; readonly best: T; readonly reports: readonly T[] }

/** The calls behind all reports that share an id, in whatever order they came: one, unless providers gave it out twice. */
export function settleReports<T extends CallReport>(
  reports: readonly T[],
  candidateOf: (session: string) => Candidate,
): readonly Settled<T>[] {
  // Of calls that only recordings mention which another speaks for, there is nothing to settle.
  if (reports.length === 0) return []
  return byProvider(reports).map((reports) => ({
    session: ownerOf(reports.map(({ session }) => candidateOf(session))),
    best: bestReport(reports),
    reports,
  }))
}

/**
 * The session that a call is billed to, of those it was seen in: one that the others come from, where they say so; of those
 * left the one that started first, then the one that ended first, then the smallest id. What has no time comes last.
 */
export function ownerOf(candidates: readonly Candidate[]): string {
  const ids = new Set(candidates.map(({ session }) => session))
  const isFirst = ({ session, parent }: Candidate): boolean =>
    parent === undefined || parent === session || !ids.has(parent)
  const firsts = candidates.filter(isFirst)
  // Sessions that name each other in a circle come from none of them.
  const [owner] = (firsts.length === 0 ? [...candidates] : firsts).sort(byAge)
  if (owner === undefined) throw new RangeError('a call was seen in no session')
  return owner.session
}

/** What a recording says of a whole session, and who made it. */
export type RecordingTotals = Pick<Totals, 'entries' | 'calls' | 'usage'> & { readonly by: string }

/**
 * The recording that speaks for a session of which there are several: totals are never the sum. The best counts first, then
 * the most calls, then the most entries, then the name.
 */
export function bestRecording<T extends RecordingTotals>(recordings: readonly T[]): T | undefined {
  return [...recordings].sort(
    (a, b) =>
      rankOf(a.usage) - rankOf(b.usage) || b.calls - a.calls || b.entries - a.entries || inOrder(a.by, b.by),
  )[0]
}

/** The bills of each session as its totals, from what `bills` gives: what a list of sessions shows, and what adds up. */
export function billedTotals(
  bills: readonly Bill[],
): ReadonlyMap<string, Pick<Totals, 'calls' | 'uncounted' | 'usage'>> {
  const sums = new Map<string, { calls: number; uncounted: number; usage: Usage }>()
  for (const { session, usage } of bills) {
    const { raw: _, ...counts } = usage
    const sum = sums.get(session) ?? { calls: 0, uncounted: 0, usage: undefined }
    const isCounted = hasCounts(usage)
    sums.set(session, {
      calls: sum.calls + (isCounted ? 1 : 0),
      uncounted: sum.uncounted + (isCounted ? 0 : 1),
      usage: sum.usage === undefined ? counts : addUsage(sum.usage, counts),
    })
  }
  return new Map(
    [...sums].map(([session, { calls, uncounted, usage }]) => [
      session,
      { calls, ...(uncounted > 0 && { uncounted }), ...(calls > 0 && { usage }) },
    ]),
  )
}

/** Reports that share an id together, whatever the order they came in. */
function callsOf(sessions: Iterable<ReadonlyMap<string, Report>>): Report[][] {
  const byId = new Map<string, Report[]>()
  for (const reports of sessions) {
    for (const report of reports.values()) {
      const known = byId.get(report.base)
      if (known === undefined) byId.set(report.base, [report])
      else known.push(report)
    }
  }
  return [...byId.values()]
}

/** Two providers may give out one id. Reports that name none belong to the only one there is, or to the first by name. */
function byProvider<T extends CallReport>(reports: readonly T[]): T[][] {
  const calls = new Map<string, T[]>()
  for (const { provider } of reports) if (provider !== undefined) calls.set(provider, [])
  const [first] = [...calls.keys()].sort(inOrder)
  if (first === undefined) return [[...reports]]
  for (const report of reports) calls.get(report.provider ?? first)?.push(report)
  return [...calls.values()]
}

/** A copy may have been taken before the provider's last word: the best counts, then the largest, then the most of them. */
function bestReport<T extends CallReport>(reports: readonly T[]): T {
  const [best] = [...reports].sort(
    (a, b) =>
      rankOf(a.usage) - rankOf(b.usage) ||
      (b.usage.output ?? -1) - (a.usage.output ?? -1) ||
      (promptTokens(b.usage) ?? -1) - (promptTokens(a.usage) ?? -1) ||
      statedBy(b) - statedBy(a) ||
      inOrder(countsOf(a), countsOf(b)) ||
      inOrder(a.session, b.session),
  )
  return best as T
}

const statedBy = ({ usage }: CallReport): number =>
  COUNTS.filter((count) => usage[count] !== undefined).length

const countsOf = ({ usage }: CallReport): string => COUNTS.map((count) => usage[count] ?? '').join(' ')

const rankOf = (usage: Usage | undefined): number => qualityRank(usage?.quality ?? 'unavailable')

function byAge(a: Candidate, b: Candidate): number {
  return (
    inOrder(a.startedAt ?? LAST, b.startedAt ?? LAST) ||
    inOrder(a.endedAt ?? LAST, b.endedAt ?? LAST) ||
    inOrder(a.session, b.session)
  )
}

/** Behind every instant: these begin with a digit. */
const LAST = '~'

/** By code units, which no locale changes; instants so written sort by time. */
function inOrder(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
