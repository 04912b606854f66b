/** Calls added up by half an hour, model and whether they have a price: what is left of them where none is mentioned elsewhere. */
import { MOST_PICO, MOST_TOKENS } from '../sources/call-rows.ts'
import { PICO_IN_MICRO } from '../sources/state-sums.ts'
import { COUNTS, qualityRank, type Count, type Usage } from '../transcript/usage.ts'

/** `counts`: in the order of `COUNTS`, -1 where nobody stated one. `micro` and `pico` together are the cost, for neither to grow past what a number holds. */
export type Slot = {
  /** The beginning of the half hour: `2026-11-09T10:30`. */
  readonly at: string | undefined
  readonly model: string | undefined
  readonly unpriced: string | undefined
  readonly counts: number[]
  calls: number
  uncounted: number
  quality: number
  hasPrice: boolean
  micro: number
  pico: number
}

export type CallToAdd = {
  readonly at: string | undefined
  readonly model: string | undefined
  readonly unpriced: string | undefined
  readonly usage: Usage
  readonly pico: bigint | undefined
}

export type Slots = { add(call: CallToAdd): void; slots(): readonly Slot[] }

export function createSlots(): Slots {
  const slots = new Map<string, Slot>()
  const counts = new Float64Array(COUNTS.length)
  /** Most calls go where the last one went. */
  let last: Slot | undefined
  let isLastUncounted = false
  return {
    slots: () => [...slots.values()],
    add({ at, model, unpriced, usage, pico }) {
      let isCounted = false
      for (let n = 0; n < COUNTS.length; n += 1) {
        const count = within(usage[COUNTS[n] as Count])
        counts[n] = count
        isCounted ||= count >= 0
      }
      const cost = pico === undefined || pico > MOST_PICO ? -1 : Number(pico)
      const hasCost = cost >= 0 || unpriced !== undefined
      const isUncounted = !hasCost && !isCounted
      // Counted, and nobody was asked to pay for it.
      if (!hasCost && !isUncounted) return
      const half = at === undefined ? undefined : halfHourOf(at)
      const isSame =
        last !== undefined &&
        isLastUncounted === isUncounted &&
        last.at === half &&
        last.model === model &&
        last.unpriced === unpriced
      last = isSame && last ? last : slotAt(slots, half, { model, unpriced, isUncounted })
      isLastUncounted = isUncounted
      addCall(last, { counts, quality: qualityRank(usage.quality), pico: cost, isUncounted })
    },
  }
}

const within = (count: number | undefined): number =>
  count === undefined || count > MOST_TOKENS ? -1 : count

/** Of an instant: its first characters, up to the minute. */
export function halfHourOf(at: string): string {
  return `${at.slice(0, 14)}${at.charCodeAt(14) < THREE ? '00' : '30'}`
}

const THREE = 0x33

type Kind = Pick<Slot, 'model' | 'unpriced'> & { readonly isUncounted: boolean }

/** The slot of such calls, made where there is none. */
export function slotAt(
  slots: Map<string, Slot>,
  at: string | undefined,
  { model, unpriced, isUncounted }: Kind,
): Slot {
  const name = `${at ?? ''}\n${isUncounted ? 1 : 0}${unpriced === undefined ? 0 : 1}\n${model === undefined ? 0 : 1}${model ?? ''}\n${unpriced ?? ''}`
  const known = slots.get(name)
  if (known !== undefined) return known
  const slot: Slot = {
    at,
    model,
    unpriced,
    counts: COUNTS.map(() => -1),
    calls: 0,
    uncounted: 0,
    quality: 0,
    hasPrice: false,
    micro: 0,
    pico: 0,
  }
  slots.set(name, slot)
  return slot
}

export type OneCall = {
  readonly counts: ArrayLike<number>
  readonly quality: number
  /** US dollars × 10⁻¹², -1 without a price. */
  readonly pico: number
  readonly isUncounted: boolean
}

export function addCall(slot: Slot, { counts, quality, pico, isUncounted }: OneCall): void {
  if (isUncounted) {
    slot.uncounted += 1
    return
  }
  slot.calls += 1
  slot.quality = Math.max(slot.quality, quality)
  for (let n = 0; n < COUNTS.length; n += 1) {
    const count = counts[n] as number
    if (count >= 0) slot.counts[n] = Math.max(0, slot.counts[n] as number) + count
  }
  if (pico < 0) return
  slot.hasPrice = true
  slot.micro += Math.floor(pico / PICO_IN_MICRO)
  slot.pico += pico % PICO_IN_MICRO
}

/** A slot added to another. */
export function addSlot(to: Slot, from: Slot): void {
  to.calls += from.calls
  to.uncounted += from.uncounted
  to.quality = Math.max(to.quality, from.quality)
  to.hasPrice ||= from.hasPrice
  to.micro += from.micro
  to.pico += from.pico
  for (let n = 0; n < COUNTS.length; n += 1) {
    const count = from.counts[n] as number
    if (count >= 0) to.counts[n] = Math.max(0, to.counts[n] as number) + count
  }
}

export const countAt = (slot: Slot, count: Count): number | undefined => {
  const value = slot.counts[COUNTS.indexOf(count)] as number
  return value < 0 ? undefined : value
}

/** A number for a key, nearly always another for another, of 52 bits: lists of them are handed over faster than texts. */
export function hashKey(key: string): number {
  let high = 0x811c_9dc5
  let low = 0x2545_f491
  for (let at = 0; at < key.length; at += 1) {
    // As the state has it.
    const code = key.charCodeAt(at) || 0xfffd
    high = Math.imul(high ^ code, 0x0100_0193)
    low = Math.imul(low ^ code, 0x85eb_ca6b)
    low ^= low >>> 13
  }
  high ^= high >>> 15
  return (high >>> 6) * 0x0400_0000 + (low >>> 6)
}
