/** Units to be read by several threads: each takes the next that nobody has taken. */
import { scanUnit, type UnitScan, type UnitToScan } from './cost-unit.ts'

/** `number`: what its calls are told by. */
export type SizedUnit = UnitToScan & { readonly bytes: number; readonly number: number }

export type OnScan = (number: number, scan: UnitScan) => void

export type Work = {
  readonly units: readonly SizedUnit[]
  /** How many are taken: one number, shared. */
  readonly taken: Int32Array
}

/** The largest first, so that no thread is left with one when the others are done. */
export function createWork(units: readonly SizedUnit[]): Work {
  const taken = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  return { units: units.toSorted((a, b) => b.bytes - a.bytes), taken }
}

/** `pause`: waited for after each. */
export async function takeUnits(
  { units, taken }: Work,
  onScan: OnScan,
  pause?: () => Promise<void>,
): Promise<void> {
  for (;;) {
    const unit = units[Atomics.add(taken, 0, 1)]
    if (unit === undefined) return
    onScan(unit.number, await scanUnit(unit))
    await pause?.()
  }
}
