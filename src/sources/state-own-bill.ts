/**
 * What the calls of one pass come to, session by session, added up as they are read: the very numbers that the state would get by
 * adding up their rows. For a session that nothing else recorded, as nearly all are the first time, its rows need not be
 * asked for.
 */
import type { Row, SqlValue } from '../transcript/source.ts'
import { qualityRank } from '../transcript/usage.ts'
import {
  AT,
  FIRST_COUNT,
  KEY,
  MODEL,
  PICO,
  QUALITY,
  toCallRow,
  toTable,
  UNPRICED,
  type CallRow,
  type CallTable,
} from './call-rows.ts'
import { PICO_IN_MICRO } from './state-sums.ts'
import type { Call } from './session-facts.ts'
import { OPEN_CALLS } from './unit-facts.ts'
import { MOST_TOOLS_OF_SESSION, NO_COUNTS, type ToolCounts } from './work.ts'

/** Nothing but values: it may come from another thread. */
export type OwnBill = {
  /** As `USAGE_SUMS` and the rest of the question for totals would answer. */
  readonly sums: Row
  readonly unpriced: readonly string[]
  readonly tools: ReadonlyMap<string, readonly number[]>
  /** Rows of `sums` but for who pays. A stub has those alone that have a cost. */
  readonly slots: readonly { readonly hasCost: boolean; readonly row: readonly SqlValue[] }[]
}

/**
 * By session, of all that made a call. Undefined where rows may take each other's place, or say what is not added up here.
 */
export type OwnBills = ReadonlyMap<string, OwnBill | undefined>

/** The calls of one pass on their way to the state. */
export type CallPacker = {
  pack(calls: readonly Call[]): CallTable
  /** Lets go of what these come to: it is asked for when the pass is whole. */
  forget(sessions: readonly { readonly key: string }[]): void
  /** Of all that were packed, and not forgotten. */
  bills(): OwnBills
}

export function createCallPacker(): CallPacker {
  const bills = new Map<string, OpenBill>()
  return {
    pack(calls) {
      const rows: CallRow[] = []
      for (const call of calls) {
        const row = toCallRow(call)
        addCall(billFor(bills, call.session), call, row)
        rows.push(row)
      }
      return toTable(rows)
    },
    forget(sessions) {
      for (const { key } of sessions) bills.delete(key)
    },
    bills: () => new Map([...bills].map(([session, bill]) => [session, toBill(bill)])),
  }
}

/** What a session without calls comes to. */
export const noCalls = (): OwnBill => toBill(createBill()) as OwnBill

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
  readonly hasPico: boolean
}

type Slots = { readonly all: Map<string, Slot>; last: Slot | undefined }

/** What calls of one session come to so far. Nothing but values. */
export type OpenBill = {
  readonly all: Sum
  readonly slots: Slots
  readonly tools: Map<string, number[]>
  calls: number
  uncounted: number
  unpriced: SqlValue
  isUnusual: boolean
  /** Too many to be of use here: what they come to is asked of their rows. */
  isLong: boolean
}

export const createBill = (): OpenBill => ({
  all: createSum(),
  slots: { all: new Map(), last: undefined },
  tools: new Map(),
  calls: 0,
  uncounted: 0,
  unpriced: null,
  isUnusual: false,
  isLong: false,
})

function billFor(bills: Map<string, OpenBill>, session: string): OpenBill {
  const known = bills.get(session)
  if (known !== undefined) return known
  const bill = createBill()
  bills.set(session, bill)
  return bill
}

/** `most`: beyond so many, a call may have been told of before, and have one row with that. */
export function addCall(bill: OpenBill, call: Call, row: CallRow, most: number = OPEN_CALLS): void {
  if (bill.isLong) return
  // Each may have a model and tools of its own.
  if (bill.calls + bill.uncounted >= most || bill.tools.size > MOST_TOOLS_OF_SESSION) {
    bill.isLong = true
    bill.slots.all.clear()
    bill.slots.last = undefined
    bill.tools.clear()
    return
  }
  const [key, unpriced] = [row[KEY], row[UNPRICED] ?? null]
  // Two of these may have one row. Of unpriced models SQLite has an order of its own.
  if (typeof key === 'string' && key.includes('\uFFFD')) bill.isUnusual = true
  if (unpriced !== null && bill.unpriced !== null && bill.unpriced !== unpriced) bill.isUnusual = true
  bill.unpriced ??= unpriced
  const isCounted = addRow(bill.all, row)
  if (isCounted) bill.calls += 1
  else bill.uncounted += 1
  const quality = isCounted ? Number(row[QUALITY]) : PARTIAL
  if (quality > bill.all.quality) bill.all.quality = quality
  addToSlot(bill.slots, row, isCounted)
  if (call.tools !== undefined && call.work !== undefined) addTools(bill.tools, call.tools, call.work)
}

export function toBill(bill: OpenBill): OwnBill | undefined {
  if (bill.isUnusual || bill.isLong || bill.tools.size > MOST_TOOLS_OF_SESSION) return undefined
  return {
    sums: toSums(bill),
    unpriced: bill.unpriced === null ? [] : [String(bill.unpriced)],
    tools: bill.tools,
    slots: [...bill.slots.all.values()].map((slot) => ({ hasCost: slot.hasCost, row: toSlotRow(slot) })),
  }
}

/** True for a call that was counted. */
function addRow(sum: Sum, values: CallRow): boolean {
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
function addToSlot(slots: Slots, values: CallRow, isCounted: boolean): void {
  const [model = null, unpriced = null, pico = null] = [values[MODEL], values[UNPRICED], values[PICO]]
  const hasCost = pico !== null || unpriced !== null
  if (!hasCost && isCounted) return
  const [at, isPriced] = [halfHourOf(values[AT]), pico !== null]
  // Those of a session are few, and in order: the last one is asked first, by what it is told apart by.
  let slot = slots.last
  if (
    slot === undefined ||
    slot.at !== at ||
    slot.model !== model ||
    slot.unpriced !== unpriced ||
    slot.hasPico !== isPriced
  ) {
    const key = `${String(at)}\n${String(model)}\n${String(unpriced)}\n${isPriced}`
    slot = slots.all.get(key)
    if (slot === undefined) {
      slot = { ...createSum(), at, model, unpriced, calls: 0, hasCost, hasPico: isPriced }
      slots.all.set(key, slot)
    }
    slots.last = slot
  }
  slot.calls += 1
  addRow(slot, values)
  slot.quality = Math.max(slot.quality, Number(values[QUALITY]))
}

/** As `HALF_HOUR` has it. */
function halfHourOf(at: SqlValue | undefined): SqlValue {
  if (typeof at !== 'string') return null
  const tens = at.slice(0, 15)
  // With a digit behind them, ten minutes are all before the half hour, or none is.
  const isDigit = at.charCodeAt(15) >= DIGIT
  if (isDigit && tens === lastTens) return lastHalfHour
  const halfHour = at.slice(0, 14) + (at.slice(14, 16) < '30' ? '00' : '30')
  if (isDigit) [lastTens, lastHalfHour] = [tens, halfHour]
  return halfHour
}

const DIGIT = 0x30
let [lastTens, lastHalfHour] = ['', '']

function addTools(tools: Map<string, number[]>, names: readonly string[], work: readonly ToolCounts[]): void {
  for (const [at, tool] of names.entries()) {
    const counts = work[at] ?? NO_COUNTS
    const known = tools.get(tool)
    if (known === undefined) tools.set(tool, [...counts])
    else for (let n = 0; n < known.length; n += 1) known[n] = (known[n] ?? 0) + (counts[n] ?? 0)
  }
}

function toSums({ all, calls, uncounted }: OpenBill): Row {
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
