/**
 * What the calls of a session come to while its log grows: those that nothing more is said of are added up once, the others each time it
 * is asked. The very numbers that the state would get by adding up their rows.
 */
import { createIdSet } from '../formats/id-set.ts'
import { toCallRow } from './call-rows.ts'
import type { Call } from './session-facts.ts'
import { addCall, createBill, toBill, type OpenBill, type OwnBill } from './state-own-bill.ts'

export type RunningBill = {
  /** A call that no more is expected of. */
  settle(call: Call): void
  /** With those that are still open. Undefined where their rows have to be asked. */
  now(open: Iterable<Call>): OwnBill | undefined
}

export function createRunningBill(): RunningBill {
  const bill = createBill()
  const keys = createIdSet()
  /** True once more was said of a call than was expected: it was added up, and its row is another one now. */
  let isTwice = false
  const add = (to: OpenBill, call: Call): void => addCall(to, call, toCallRow(call), Number.POSITIVE_INFINITY)
  return {
    settle(call) {
      if (call.key !== undefined && !keys.take(call.key)) isTwice = true
      else add(bill, call)
    },
    now(open) {
      const all = structuredClone(bill)
      for (const call of open) {
        if (call.key !== undefined && keys.has(call.key)) isTwice = true
        if (isTwice) return undefined
        add(all, call)
      }
      return isTwice ? undefined : toBill(all)
    },
  }
}
