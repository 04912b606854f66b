/**
 * Calls of many units billed in memory, each once, as far as that can be told from the calls alone: what day, what model, what cost,
 * and not who pays. The sums are those of the state.
 */
import { createOwners } from './cost-owners.ts'
import { isNotBilled } from '../cost/models.ts'
import { PICO_IN_MICRO } from '../sources/state-sums.ts'
import { settleReports, type CallReport } from '../transcript/billing.ts'
import { COUNTS, QUALITIES, type Count, type Quality } from '../transcript/usage.ts'
import { nameAt, usageAt, type PackedCalls } from './cost-packed.ts'
import type { BilledCallPart, BilledPart, Bounds } from './cost-parts.ts'
import type { Repricing } from './cost-repricing.ts'
import { addCall, addSlot, countAt, hashKey, slotAt, type Slot } from './cost-slots.ts'

/** What a unit's sessions are known by, and what is said of them that bills hang on. */
export type ScannedSession = { readonly key: string; readonly isStub: boolean; readonly cwd?: string }

/** A unit's calls: all of them, or added up, with the hash of what each is known by. */
export type Scanned =
  | { readonly calls: PackedCalls }
  | { readonly slots: readonly Slot[]; readonly keys: Float64Array }

export type ScannedCalls = {
  /** `unit`: its number. Said again of one whose calls were added up, and have to be told apart. */
  add(unit: number, scanned: Scanned, sessions: readonly ScannedSession[]): void
  /** Units of which other units mention some call, and that were added up. */
  mixed(): readonly number[]
  /** False where bills hang on more than calls: a session with several recordings, or one that is a stub. */
  isSimple(): boolean
  /** What calls are grouped by: their model, or so many characters of their time. */
  parts(by: 'model' | number, bounds: Bounds, repricing?: Repricing): readonly BilledPart[]
  countUndated(): number
}

export function createScannedCalls(): ScannedCalls {
  const units = new Map<number, Scanned>()
  /** The unit that mentions a call first, or one with the same hash: then both are read again for nothing. */
  const owners = createOwners()
  const mixed = new Set<number>()
  const sessions = new Map<string, number>()
  let isSimple = true
  let billed: readonly Billed[] | undefined

  const own = (unit: number, key: number): void => {
    const owner = owners(key, unit)
    if (owner !== unit) {
      mixed.add(owner)
      mixed.add(unit)
    }
  }

  return {
    add(unit, scanned, all) {
      for (const { key, isStub } of all) {
        if (isStub || (sessions.get(key) ?? unit) !== unit) isSimple = false
        sessions.set(key, unit)
      }
      units.set(unit, scanned)
      billed = undefined
      if (!('calls' in scanned)) for (const key of scanned.keys) own(unit, key)
      else for (const key of scanned.calls.keys) if (key !== undefined) own(unit, hashKey(key))
    },
    mixed: () => [...mixed].filter((unit) => !('calls' in (units.get(unit) ?? NOTHING))),
    isSimple: () => isSimple,
    parts(by, bounds, repricing) {
      const sums = new Map<string, Slot>()
      const repriced: BilledPart[] = []
      const [ofSlots, ofCalls] = [cutBounds(bounds, MINUTE), cutBounds(bounds, undefined)]
      for (const scanned of units.values()) {
        if ('calls' in scanned) continue
        for (const slot of scanned.slots) {
          if (!isWithin(slot.at, ofSlots) || isFree(slot.model, slot.uncounted > 0)) continue
          const key = by === 'model' ? slot.model : slot.at?.slice(0, by)
          const { unpriced } = slot
          addSlot(slotAt(sums, key, { model: undefined, unpriced, isUncounted: slot.uncounted > 0 }), slot)
        }
      }
      const priced = new Set(repricing?.models(modelsOf(units.values())))
      for (const call of (billed ??= billOnce(units.values()))) {
        const { calls, at } = call
        const time = calls.times[at]
        if (!isWithin(time, ofCalls)) continue
        const model = nameAt(calls, calls.models, at)
        const unpriced = nameAt(calls, calls.unpriced, at)
        const pico = calls.pico[at] as number
        const hasCost = pico >= 0 || unpriced !== undefined
        const counts = calls.counts.subarray(at * COUNTS.length, (at + 1) * COUNTS.length)
        const isUncounted = !hasCost && counts.every((count) => count < 0)
        if ((!hasCost && !isUncounted) || isFree(model, isUncounted)) continue
        const key = by === 'model' ? model : time?.slice(0, by)
        if (hasCost && model !== undefined && priced.has(model) && repricing !== undefined)
          repriced.push(repricing.priced(toCall(call, { key, model, time, unpriced })))
        else {
          const quality = calls.qualities[at] as number
          addCall(slotAt(sums, key, { model: undefined, unpriced, isUncounted }), {
            counts,
            quality,
            pico,
            isUncounted,
          })
        }
      }
      return [...Array.from(sums.values(), toPart), ...repriced]
    },
    countUndated() {
      let count = 0
      for (const scanned of units.values()) {
        if ('calls' in scanned) continue
        for (const slot of scanned.slots) if (slot.at === undefined) count += slot.calls
      }
      for (const { calls, at } of (billed ??= billOnce(units.values()))) {
        const hasCost = (calls.pico[at] as number) >= 0 || (calls.unpriced[at] as number) >= 0
        if (hasCost && calls.times[at] === undefined) count += 1
      }
      return count
    },
  }
}

/** Characters of an instant: what half hours are written in. */
const MINUTE = 16
const NOTHING: Scanned = { slots: [], keys: new Float64Array() }

/** A call of a unit whose calls are told apart. */
type Billed = { readonly calls: PackedCalls; readonly at: number }
type Report = CallReport & Billed

/** Every call once: of those that are mentioned several times, the report that the state would believe. */
function billOnce(units: Iterable<Scanned>): readonly Billed[] {
  const billed: Billed[] = []
  const named = new Map<string, Billed | Report[]>()
  for (const unit of units) {
    if (!('calls' in unit)) continue
    const { calls } = unit
    for (let at = 0; at < calls.length; at += 1) {
      const key = calls.keys[at]
      const known = key === undefined ? undefined : named.get(key)
      if (key === undefined) billed.push({ calls, at })
      else if (known === undefined) named.set(key, { calls, at })
      else
        named.set(key, withReport(Array.isArray(known) ? known : [toReport(known)], toReport({ calls, at })))
    }
  }
  for (const one of named.values()) {
    if (!Array.isArray(one)) billed.push(one)
    else for (const { best } of settleReports(one, (session) => ({ session }))) billed.push(best)
  }
  return billed
}

/** A call that was reported again after it was settled: the last report wins, unless it counts nothing. */
function withReport(reports: Report[], report: Report): Report[] {
  const same = reports.findIndex(
    ({ calls, session, provider }) =>
      calls === report.calls && session === report.session && provider === report.provider,
  )
  if (same === -1) reports.push(report)
  else if (report.calls.isCounted[report.at] === 1) reports[same] = report
  return reports
}

function toReport({ calls, at }: Billed): Report {
  return {
    calls,
    at,
    session: nameAt(calls, calls.sessions, at) ?? '',
    provider: nameAt(calls, calls.providers, at),
    usage: usageAt(calls, at),
  }
}

/** Answers that nobody counted, of what no provider was asked. */
const isFree = (model: string | undefined, isUncounted: boolean): boolean =>
  isUncounted && model !== undefined && isNotBilled(model)

function modelsOf(units: Iterable<Scanned>): readonly string[] {
  const models = new Set<string>()
  for (const unit of units) if ('calls' in unit) for (const name of unit.calls.names) models.add(name)
  return [...models]
}

/** Instants have 3 to 9 digits of fraction: without its last letter a bound stands before all that continue it. */
function cutBounds({ since, until }: Bounds, characters: number | undefined): Bounds {
  const cut = (bound: string): string => bound.replace(/Z$/, '').slice(0, characters)
  return { ...(since && { since: cut(since) }), ...(until && { until: cut(until) }) }
}

function isWithin(time: string | undefined, { since, until }: Bounds): boolean {
  if (since === undefined && until === undefined) return true
  if (time === undefined) return false
  return (since === undefined || time >= since) && (until === undefined || time < until)
}

function toPart(slot: Slot): BilledPart {
  const { at: key, unpriced, calls, uncounted, quality, hasPrice, micro, pico } = slot
  const usage: { -readonly [K in Count]?: number } & { quality: Quality } = {
    quality: QUALITIES[quality] ?? 'estimated',
  }
  let isKnown = false
  for (const count of COUNTS) {
    const value = countAt(slot, count)
    if (value === undefined) continue
    usage[count] = value
    isKnown = true
  }
  return {
    key,
    calls,
    uncounted,
    usage: isKnown ? usage : { quality: 'unavailable' },
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

function toCall({ calls, at }: Billed, { key, model, time, unpriced }: Told): BilledCallPart {
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
