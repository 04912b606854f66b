/**
 * What a session has used and cost up to each of its entries, and how sure that is. A call counts once, at its first report; a later one
 * adds what it says more, and is what the call is known by. A call that another session pays for counts there. Holds no more calls than
 * a recorder does.
 */
import { costOf, NOT_BILLED } from '../cost/cost.ts'
import { createPriceBook } from '../cost/price-book.ts'
import type { PriceRow } from '../cost/prices.ts'
import { NONE_UNSURE, toCallByte, withCall } from '../replay/call-bytes.ts'
import { OPEN_CALLS } from '../sources/unit-facts.ts'
import type { Entry } from '../transcript/entry.ts'
import { callKey, keyAmong, providerOf, reportOf } from '../transcript/totals.ts'
import { COUNTS, hasCounts, laterReport, promptTokens, type Usage } from '../transcript/usage.ts'
import { MARKS, type OutlineRow } from './outline-row.ts'

export type Sums = Pick<OutlineRow, 'pico' | 'counts' | 'calls' | 'call' | 'marks' | 'prompt'>

export type SumsFold = {
  add(entry: Entry, session: { readonly model?: string; readonly stub?: boolean }): Sums
  /** Models without a price, each with the position at which it first came. */
  readonly unpriced: ReadonlyMap<string, number>
}

export type SumsOptions = {
  /** Keys of calls that others pay for. */
  readonly elsewhere?: ReadonlySet<string>
  /** The user's own. */
  readonly prices?: readonly PriceRow[]
  /** Goes on at a position, after a row. */
  readonly from?: {
    readonly position: number
    readonly row: Pick<OutlineRow, 'pico' | 'counts' | 'calls'> | undefined
    readonly unpriced: readonly (readonly [model: string, position: number])[]
  }
}

/** A hostile file may name any number of models. */
const MOST_MODELS = 50

const NOTHING = { call: 0, marks: 0 }

type Open = {
  readonly usage: Usage
  readonly pico: bigint
  readonly at: string | undefined
  readonly model: string | undefined
  readonly provider: string | undefined
}

export function createSums({ elsewhere = new Set(), prices, from }: SumsOptions = {}): SumsFold {
  const book = createPriceBook(prices)
  const open = new Map<string, Open>()
  const unpriced = new Map<string, number>(from?.unpriced)
  // Each row has those of its entry: they are not changed, but others take their place.
  let counts: OutlineRow['counts'] = from?.row?.counts ?? COUNTS.map(() => undefined)
  let calls = from?.row?.calls ?? NONE_UNSURE
  let pico = from?.row?.pico ?? 0n
  let position = (from?.position ?? 0) - 1
  let isUnpricedSoFar = from?.unpriced.some(([, first]) => first <= position) ?? false

  const take = (entry: Entry, usage: Usage, isFree: boolean): Pick<Sums, 'call' | 'marks'> => {
    const base = callKey(entry)
    const provider = providerOf(entry)
    const key = base === undefined ? undefined : keyAmong(open, base, provider)
    const first = key === undefined ? undefined : open.get(key)
    const now = first === undefined ? usage : laterReport(first.usage, usage)
    const model = entry.model ?? first?.model
    const at = first?.at ?? entry.at
    const cost = isFree || !hasCounts(now) ? undefined : costOf({ model, usage: now, at }, book)
    const isUnpriced = cost !== undefined && 'unpriced' in cost
    const own = cost === undefined || 'unpriced' in cost || cost.row === NOT_BILLED ? 0n : cost.pico
    pico += own - (first?.pico ?? 0n)
    counts = COUNTS.map((name, i) =>
      now[name] === undefined ? counts[i] : (counts[i] ?? 0) + now[name] - (first?.usage[name] ?? 0),
    )
    const call = toCallByte(now, first?.usage)
    calls = withCall(calls, call)
    isUnpricedSoFar ||= isUnpriced
    if (isUnpriced && unpriced.size < MOST_MODELS) {
      const name = (model ?? 'unknown').slice(0, 200)
      if (!unpriced.has(name)) unpriced.set(name, position)
    }
    if (key !== undefined) {
      open.delete(key)
      open.set(key, { usage: now, pico: own, at, model, provider: provider ?? first?.provider })
      if (open.size > OPEN_CALLS) open.delete(open.keys().next().value as string)
    }
    return { call, marks: MARKS.report | (isUnpriced ? MARKS.unpriced : 0) }
  }

  return {
    unpriced,
    add(entry, { model, stub = false }) {
      position += 1
      const usage = reportOf(entry)
      let own = NOTHING
      if (usage !== undefined) {
        const named = entry.model === undefined && model !== undefined ? { ...entry, model } : entry
        const key = callKey(named)
        own =
          key !== undefined && elsewhere.has(key)
            ? { call: toCallByte(usage, undefined), marks: MARKS.report | MARKS.elsewhere }
            : take(named, usage, stub)
      }
      const prompt = usage === undefined ? 0 : (promptTokens(usage) ?? 0)
      const marks = own.marks | (isUnpricedSoFar ? MARKS.unpricedSoFar : 0)
      return { pico, counts, calls, call: own.call, marks, prompt }
    },
  }
}
