/**
 * Whether an agent still behaves as it was recorded: what it asked differently, told apart by whose doing it is. Request drift is the
 * agent's: it asks something else, in another order, more, or less. World drift is its surroundings': a tool that ran gave something
 * else. Provider drift is the provider's: it answers in a way that the recording does not have.
 */
import { OF_CALLS, type PathDifference } from '../replay/matching/path-diff.ts'
import { cite, type Where } from './cite.ts'
import { reasonText } from './miss.ts'
import type { Exchange, Recording } from './recording.ts'
import type { ReplayReport, Served } from './report.ts'

export type Drift = 'request' | 'world' | 'provider'

export type Divergence = {
  readonly drift: Drift
  readonly where: Where
  /** The entry of the recording that it is at. */
  readonly citation?: string
  /** Of the recorded call, from 1. */
  readonly call?: number
  /** Of the request in this run, from 1. */
  readonly asked?: number
  readonly what: string
  readonly differences: readonly PathDifference[]
}

export type Verdict = {
  readonly v: 1
  readonly session: string
  readonly isSame: boolean
  /** The first in the order of the run, or what was left out before it; what follows often follows from it. */
  readonly first?: Divergence
  readonly divergences: readonly Divergence[]
  readonly drift: { readonly request: number; readonly world: number; readonly provider: number }
  readonly calls: {
    readonly recorded: number
    readonly asked: number
    readonly exact: number
    readonly normalised: number
  }
  /** Tools that ran in earnest, and those that were answered from the recording. */
  readonly executed: readonly string[]
  readonly stubbed: readonly string[]
  /** Recorded calls that nobody asked for, from 1, and those that something else was asked for: all of them. */
  readonly unasked: readonly number[]
  readonly parted: readonly number[]
  readonly exitCode?: number
}

/** Divergences that are told one by one. */
const MOST_TOLD = 100

export async function verdictOf(
  recording: Recording,
  report: ReplayReport,
  {
    unasked,
    provider = [],
  }: { readonly unasked: readonly number[]; readonly provider?: readonly Divergence[] },
): Promise<Verdict> {
  const asked: Divergence[] = []
  for (const served of report.served) {
    if (asked.length >= MOST_TOLD) break
    const divergence = await divergenceOf(recording, served)
    if (divergence !== undefined) asked.push(divergence)
  }
  const inOrder = [...asked, ...provider].sort((a, b) => (a.asked ?? 0) - (b.asked ?? 0))
  const [missing] = unasked
  const left = missing === undefined ? undefined : await notAskedFor(recording, missing, unasked.length)
  const found = withLeft(recording, inOrder, left)
  const count = (drift: Drift): number => found.filter((one) => one.drift === drift).length
  const [first] = found
  return {
    v: 1,
    session: report.session,
    isSame: first === undefined,
    ...(first && { first }),
    divergences: found,
    drift: { request: count('request'), world: count('world'), provider: count('provider') },
    calls: {
      recorded: report.recorded,
      asked: report.calls - (report.counts['other'] ?? 0),
      exact: report.counts['exact'] ?? 0,
      normalised: report.counts['normalised'] ?? 0,
    },
    executed: report.executed,
    stubbed: report.stubbed,
    unasked: unasked.map((index) => index + 1),
    parted: report.served.flatMap((served) =>
      served.index !== undefined && isParting(served) ? [served.index + 1] : [],
    ),
  }
}

/** What was left out comes before what was asked otherwise after it: a subagent that does less tells its agent less. */
function withLeft(
  { exchanges }: Recording,
  found: readonly Divergence[],
  left: Divergence | undefined,
): readonly Divergence[] {
  if (left?.call === undefined) return found
  const { session } = exchanges[left.call - 1] as Exchange
  const before = left.call
  const at = found.findIndex(
    ({ call }) => call !== undefined && call > before && exchanges[call - 1]?.session === session,
  )
  return at === -1 ? [...found, left] : [...found.slice(0, at), left, ...found.slice(at)]
}

function isParting({ how, by, isOutOfOrder, repeat }: Served): boolean {
  if (how === 'other' || how === 'live') return false
  const isTurn = how === 'positional' && by?.includes('turn') === true
  const isSame = how === 'exact' || how === 'normalised' || isTurn
  return !isSame || isOutOfOrder === true || repeat !== undefined
}

async function divergenceOf(recording: Recording, served: Served): Promise<Divergence | undefined> {
  if (!isParting(served)) return undefined
  const { how, differences = [], isOutOfOrder, repeat, index, n, reason } = served
  const exchange = index === undefined ? undefined : recording.exchanges[index]
  const cited = exchange && cite(exchange, await recording.calls(exchange.session), differences[0])
  const { where = 'request', citation } = cited ?? {}
  return {
    drift: where === 'tool' && how === 'positional' && !isOtherCall(differences) ? 'world' : 'request',
    where,
    ...(citation !== undefined && { citation }),
    ...(index !== undefined && { call: index + 1 }),
    asked: n,
    what: whatOf(how, { isOutOfOrder, repeat, reason }),
    differences,
  }
}

/** A result that stands where that of another call did: they were put in another order. */
function isOtherCall(differences: readonly PathDifference[]): boolean {
  const [first] = differences
  const item = (path: string): string => path.slice(0, path.lastIndexOf('.'))
  return differences.some(
    ({ path }) =>
      OF_CALLS.has(path.slice(path.lastIndexOf('.') + 1)) && item(path) === item(first?.path ?? ''),
  )
}

function whatOf(
  how: Served['how'],
  {
    isOutOfOrder,
    repeat,
    reason,
  }: { isOutOfOrder: boolean | undefined; repeat: number | undefined; reason: Served['reason'] },
): string {
  if (isOutOfOrder === true) return 'asked out of order: another call of this lane was recorded before it'
  if (repeat !== undefined) return 'asked more often than it was'
  if (how === 'miss') return reason === undefined ? 'not in the recording' : reasonText(reason)
  return 'asked otherwise'
}

async function notAskedFor(recording: Recording, index: number, count: number): Promise<Divergence> {
  const exchange = recording.exchanges[index] as Exchange
  const { citation } = cite(exchange, await recording.calls(exchange.session), undefined)
  return {
    drift: 'request',
    where: 'request',
    ...(citation !== undefined && { citation }),
    call: index + 1,
    what: count === 1 ? 'a recorded call was not asked for' : `${count} recorded calls were not asked for`,
    differences: [],
  }
}
