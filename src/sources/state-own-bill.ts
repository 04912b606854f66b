/**
 * What the calls of one pass come to, session by session, added up as they are written: the very numbers that the state would get by
 * adding up their rows. For a session that nothing else recorded, as nearly all are the first time, its rows need not be
 * asked for.
 */
import type { Row, SqlValue } from '../transcript/source.ts'
import { qualityRank } from '../transcript/usage.ts'
import { PICO_IN_MICRO } from './state-sums.ts'
import { OPEN_CALLS, type Call } from './unit-facts.ts'
import { NO_COUNTS, type ToolCounts } from './work.ts'

export type OwnBill = {
  /** As `USAGE_SUMS` and the rest of the question for totals would answer. */
  readonly sums: Row
  readonly unpriced: readonly string[]
  readonly tools: ReadonlyMap<string, number[]>
  /** Rows of `sums` but for who pays, of a session that is no stub and of one that is. */
  slots(isStub: boolean): readonly (readonly SqlValue[])[]
}

export type OwnBills = {
  /** A call, with its row as `toValues` has it. */
  readonly add: (call: Call, values: readonly SqlValue[]) => void
  /** Whether there was any call. */
  hasAny(): boolean
  /** Undefined where rows may take each other's place, or say what is not added up here. */
  of(session: string): OwnBill | undefined
}

/** Where a call's row has them. */
const [KEY, MODEL, AT, FIRST_COUNT, QUALITY, PICO, UNPRICED] = [1, 3, 4, 5, 11, 12, 13] as const
const COUNTS = ['input', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'output', 'reasoning'] as const
const PARTIAL = qualityRank('partial')

type Sum = {
  readonly counts: (number | null)[]
  micro: number
  rest: number
  isPriced: boolean
  quality: number
}

const createSum = (): Sum => ({
  counts: [null, null, null, null, null, null],
  micro: 0,
  rest: 0,
  isPriced: false,
  quality: 0,
})

type Slot = Sum & {
  readonly at: SqlValue
  readonly model: SqlValue
  readonly unpriced: SqlValue
  calls: number
  readonly hasCost: boolean
}

type Open = {
  readonly all: Sum
  readonly slots: Map<string, Slot>
  readonly tools: Map<string, number[]>
  calls: number
  uncounted: number
  unpriced: SqlValue
  isUnusual: boolean
}

export function createOwnBills(): OwnBills {
  const bills = new Map<string, Open>()
  let hasAny = false
  const open = (session: string): Open => {
    const known = bills.get(session)
    if (known !== undefined) return known
    const bill: Open = {
      all: createSum(),
      slots: new Map(),
      tools: new Map(),
      calls: 0,
      uncounted: 0,
      unpriced: null,
      isUnusual: false,
    }
    bills.set(session, bill)
    return bill
  }
  return {
    add(call, values) {
      hasAny = true
      const bill = open(call.session)
      const [key, unpriced] = [values[KEY], values[UNPRICED] ?? null]
      // Two of these may have one row. Of unpriced models SQLite has an order of its own.
      if (typeof key === 'string' && key.includes('\uFFFD')) bill.isUnusual = true
      if (unpriced !== null && bill.unpriced !== null && bill.unpriced !== unpriced) bill.isUnusual = true
      bill.unpriced ??= unpriced
      const isCounted = addRow(bill.all, values)
      if (isCounted) bill.calls += 1
      else bill.uncounted += 1
      const quality = isCounted ? Number(values[QUALITY]) : PARTIAL
      if (quality > bill.all.quality) bill.all.quality = quality
      addToSlot(bill.slots, values, isCounted)
      if (call.tools !== undefined && call.work !== undefined) addTools(bill.tools, call.tools, call.work)
    },
    hasAny: () => hasAny,
    of(session) {
      const bill = bills.get(session) ?? open(session)
      if (bill.isUnusual || bill.calls + bill.uncounted > OPEN_CALLS) return undefined
      return {
        sums: toSums(bill),
        unpriced: bill.unpriced === null ? [] : [String(bill.unpriced)],
        tools: bill.tools,
        slots: (isStub) =>
          [...bill.slots.values()].filter(({ hasCost }) => hasCost || !isStub).map(toSlotRow),
      }
    },
  }
}

/** True for a call that was counted. */
function addRow(sum: Sum, values: readonly SqlValue[]): boolean {
  let isCounted = false
  for (let n = 0; n < COUNTS.length; n += 1) {
    const count = values[FIRST_COUNT + n]
    if (typeof count !== 'number') continue
    sum.counts[n] = (sum.counts[n] ?? 0) + count
    isCounted = true
  }
  const pico = values[PICO]
  if (pico === null || pico === undefined) return isCounted
  const whole = Number(pico)
  sum.isPriced = true
  sum.micro += Math.floor(whole / PICO_IN_MICRO)
  sum.rest += whole % PICO_IN_MICRO
  return isCounted
}

/** Those that were counted without being billed are in no sum. */
function addToSlot(slots: Map<string, Slot>, values: readonly SqlValue[], isCounted: boolean): void {
  const [model = null, unpriced = null, pico = null] = [values[MODEL], values[UNPRICED], values[PICO]]
  const hasCost = pico !== null || unpriced !== null
  if (!hasCost && isCounted) return
  const at = halfHourOf(values[AT])
  const key = `${String(at)}\n${String(model)}\n${String(unpriced)}\n${pico === null}`
  let slot = slots.get(key)
  if (slot === undefined) {
    slot = { ...createSum(), at, model, unpriced, calls: 0, hasCost }
    slots.set(key, slot)
  }
  slot.calls += 1
  addRow(slot, values)
  slot.quality = Math.max(slot.quality, Number(values[QUALITY]))
}

/** As `HALF_HOUR` has it. */
function halfHourOf(at: SqlValue | undefined): SqlValue {
  if (typeof at !== 'string') return null
  return at.slice(0, 14) + (at.slice(14, 16) < '30' ? '00' : '30')
}

function addTools(tools: Map<string, number[]>, names: readonly string[], work: readonly ToolCounts[]): void {
  for (const [at, tool] of names.entries()) {
    const counts = work[at] ?? NO_COUNTS
    const known = tools.get(tool)
    if (known === undefined) tools.set(tool, [...counts])
    else for (let n = 0; n < known.length; n += 1) known[n] = (known[n] ?? 0) + (counts[n] ?? 0)
  }
}

function toSums({ all, calls, uncounted }: Open): Row {
  const { counts, micro, rest, isPriced, quality } = all
  return {
    ...Object.fromEntries(COUNTS.map((name, n) => [name, counts[n] ?? null])),
    calls,
    uncounted,
    quality: calls + uncounted === 0 ? null : quality,
    pico: isPriced ? BigInt(micro) * BigInt(PICO_IN_MICRO) + BigInt(rest) : null,
    billed: calls + uncounted,
  }
}

function toSlotRow(slot: Slot): readonly SqlValue[] {
  const { at, model, unpriced, calls, hasCost, counts, isPriced, micro, rest, quality } = slot
  const [counted, uncounted] = hasCost ? [calls, 0] : [0, calls]
  const cost = isPriced ? [micro, rest] : [null, null]
  return [at, model, unpriced, counted, uncounted, ...counts, ...cost, quality]
}
