/**
 * Calls of many units billed in memory, each once, as far as that can be told from the calls alone: what day, what model, what cost,
 * and not who pays. The sums are those of the state.
 */
import { isNotBilled } from '../cost/models.ts'
import { PICO_IN_MICRO } from '../sources/state-sums.ts'
import { settleReports, type CallReport } from '../transcript/billing.ts'
import { COUNTS, QUALITIES, type Count, type Quality } from '../transcript/usage.ts'
import { nameAt, usageAt, type PackedCalls } from './cost-packed.ts'
import type { BilledCallPart, BilledPart, Bounds } from './cost-parts.ts'
import type { Repricing } from './cost-repricing.ts'

/** What a unit's sessions are known by, and what is said of them that bills hang on. */
export type ScannedSession = { readonly key: string; readonly isStub: boolean; readonly cwd?: string }

export type ScannedCalls = {
  /** A unit's calls and sessions. */
  add(calls: PackedCalls, sessions: readonly ScannedSession[]): void
  /** False where bills hang on more than calls: a session with several recordings, or one that is a stub. */
  isSimple(): boolean
  /** What calls are grouped by: their model, or so many characters of their time. */
  parts(by: 'model' | number, bounds: Bounds, repricing?: Repricing): readonly BilledPart[]
  countUndated(): number
}

type Report = CallReport & { readonly calls: PackedCalls; readonly at: number; readonly unit: number }

export function createScannedCalls(): ScannedCalls {
  /** The first report of each key; and, where others share it, all. */
  const first = new Map<string, number>()
  const shared = new Map<string, Report[]>()
  const units: PackedCalls[] = []
  const sessions = new Set<string>()
  let isSimple = true

  const reportAt = (unit: number, at: number): Report => {
    const calls = units[unit] as PackedCalls
    return {
      calls,
      at,
      unit,
      session: nameAt(calls, calls.sessions, at) ?? '',
      provider: nameAt(calls, calls.providers, at),
      usage: usageAt(calls, at),
    }
  }

  const share = (key: string, known: number, report: Report): void => {
    const reports = shared.get(key) ?? [reportAt(Math.floor(known / MOST_CALLS), known % MOST_CALLS)]
    shared.set(key, reports)
    // A call that was reported again after it was settled: the last report wins, unless it counts nothing.
    const same = reports.findIndex(
      ({ unit, session, provider }) =>
        unit === report.unit && session === report.session && provider === report.provider,
    )
    if (same === -1) reports.push(report)
    else if (report.calls.isCounted[report.at] === 1) reports[same] = report
  }

  /** Every billed call once. */
  function* billed(): Generator<readonly [PackedCalls, number]> {
    for (const calls of units) {
      for (let at = 0; at < calls.length; at += 1) {
        const key = calls.keys[at]
        if (key === undefined || !shared.has(key)) yield [calls, at]
      }
    }
    for (const reports of shared.values()) {
      const settled = settleReports(reports, (session) => ({ session }))
      for (const { best } of settled) yield [best.calls, best.at]
    }
  }

  return {
    add(calls, own) {
      const unit = units.push(calls) - 1
      for (const { key, isStub } of own) {
        if (isStub || sessions.has(key)) isSimple = false
        sessions.add(key)
      }
      if (calls.length >= MOST_CALLS) isSimple = false
      for (let at = 0; at < calls.length; at += 1) {
        const key = calls.keys[at]
        if (key === undefined) continue
        const known = first.get(key)
        if (known === undefined) first.set(key, unit * MOST_CALLS + at)
        else share(key, known, reportAt(unit, at))
      }
    },
    isSimple: () => isSimple,
    parts(by, bounds, repricing) {
      const own = new Set(repricing?.models([...new Set(units.flatMap(({ names }) => names))]))
      const sums = new Map<string, Sum>()
      const repriced: BilledPart[] = []
      for (const [calls, at] of billed()) {
        const time = calls.times[at]
        if (!isWithin(time, bounds)) continue
        const model = nameAt(calls, calls.models, at)
        const unpriced = nameAt(calls, calls.unpriced, at)
        const hasCost = (calls.pico[at] as number) >= 0 || unpriced !== undefined
        const isUncounted = !hasCost && !hasCountsAt(calls, at)
        if (!hasCost && !isUncounted) continue
        if (isUncounted && model !== undefined && isNotBilled(model)) continue
        const key = by === 'model' ? model : time?.slice(0, by)
        if (hasCost && model !== undefined && own.has(model) && repricing !== undefined) {
          repriced.push(repricing.priced(toCall(calls, at, { key, model, time, unpriced })))
          continue
        }
        const name = `${key ?? ''}\n${unpriced ?? ''}\n${isUncounted ? 1 : 0}${unpriced === undefined ? 0 : 1}`
        const sum = sums.get(name) ?? newSum(key, unpriced)
        sums.set(name, sum)
        addTo(sum, calls, at, isUncounted)
      }
      return [...Array.from(sums.values(), toPart), ...repriced]
    },
    countUndated() {
      let count = 0
      for (const [calls, at] of billed()) {
        const hasCost = (calls.pico[at] as number) >= 0 || (calls.unpriced[at] as number) >= 0
        if (hasCost && calls.times[at] === undefined) count += 1
      }
      return count
    },
  }
}

/** Of one unit: what its number and that of a call within it are told by. */
const MOST_CALLS = 2 ** 31

/** Instants have 3 to 9 digits of fraction: without its last letter the bound stands before all that continue it. */
function isWithin(time: string | undefined, { since, until }: Bounds): boolean {
  if (since === undefined && until === undefined) return true
  if (time === undefined) return false
  return (
    (since === undefined || time >= since.replace(/Z$/, '')) &&
    (until === undefined || time < until.replace(/Z$/, ''))
  )
}

function hasCountsAt({ counts }: PackedCalls, at: number): boolean {
  for (let n = at * COUNTS.length; n < (at + 1) * COUNTS.length; n += 1)
    if ((counts[n] as number) >= 0) return true
  return false
}

/** `counts`: -1 where nobody stated one. `micro` and `pico` together are the cost: neither grows past what a number holds. */
type Sum = {
  readonly key: string | undefined
  readonly unpriced: string | undefined
  readonly counts: number[]
  calls: number
  uncounted: number
  quality: number
  hasPrice: boolean
  micro: number
  pico: number
}

function newSum(key: string | undefined, unpriced: string | undefined): Sum {
  const counts = COUNTS.map(() => -1)
  return { key, unpriced, counts, calls: 0, uncounted: 0, quality: 0, hasPrice: false, micro: 0, pico: 0 }
}

function addTo(sum: Sum, calls: PackedCalls, at: number, isUncounted: boolean): void {
  if (isUncounted) {
    sum.uncounted += 1
    return
  }
  sum.calls += 1
  sum.quality = Math.max(sum.quality, calls.qualities[at] as number)
  for (let n = 0; n < COUNTS.length; n += 1) {
    const count = calls.counts[at * COUNTS.length + n] as number
    if (count >= 0) sum.counts[n] = Math.max(0, sum.counts[n] as number) + count
  }
  const pico = calls.pico[at] as number
  if (pico < 0) return
  sum.hasPrice = true
  sum.micro += Math.floor(pico / PICO_IN_MICRO)
  sum.pico += pico % PICO_IN_MICRO
}

function toPart({
  key,
  unpriced,
  counts,
  calls,
  uncounted,
  quality,
  hasPrice,
  micro,
  pico,
}: Sum): BilledPart {
  const usage: { -readonly [K in Count]?: number } & { quality: Quality } = {
    quality: QUALITIES[quality] ?? 'estimated',
  }
  for (const [n, count] of COUNTS.entries())
    if ((counts[n] as number) >= 0) usage[count] = counts[n] as number
  return {
    key,
    calls,
    uncounted,
    usage: counts.some((count) => count >= 0) ? usage : { quality: 'unavailable' },
    ...(hasPrice && { pico: BigInt(micro) * BigInt(PICO_IN_MICRO) + BigInt(pico) }),
    ...(unpriced !== undefined && { unpriced }),
  }
}

type Told = {
  readonly key: string | undefined
  readonly model: string
  readonly time: string | undefined
  readonly unpriced: string | undefined
}

function toCall(calls: PackedCalls, at: number, { key, model, time, unpriced }: Told): BilledCallPart {
  const pico = calls.pico[at] as number
  return {
    key,
    model,
    at: time,
    calls: 1,
    uncounted: 0,
    usage: usageAt(calls, at),
    ...(pico >= 0 && { pico: BigInt(pico) }),
    ...(unpriced !== undefined && { unpriced }),
  }
}
