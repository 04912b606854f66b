/** Calls handed on when there are enough of them, and what is left of them at the end. */
import { weightOfCall, type Call } from './session-facts.ts'

export type CallBatches = { readonly give: (call: Call) => void; readonly flush: () => void }

/** Few enough to be one message between threads, many enough to be one transaction. */
const BATCH = 500

export function createCallBatches(onCalls: (calls: readonly Call[]) => void): CallBatches {
  let batch: Call[] = []
  let weight = 0
  const flush = (): void => {
    if (batch.length > 0) onCalls(batch)
    batch = []
    weight = 0
  }
  const give = (call: Call): void => {
    batch.push(call)
    weight += weightOfCall(call)
    if (weight >= BATCH) flush()
  }
  return { give, flush }
}
