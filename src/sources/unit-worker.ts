/**
 * A thread that reads units for a sync: jobs in, batches of calls and results out, in order. It reads no faster than its calls are
 * taken: what waits between two threads has no other bound.
 */
import { parentPort } from 'node:worker_threads'
import { runUnitJob, type UnitJob, type UnitResult } from './read-unit.ts'
import type { Call } from './unit-facts.ts'

export type FromWorker = { readonly calls: readonly Call[] } | { readonly result: UnitResult }
/** `took`: a batch of calls is in the state. */
export type ToWorker = UnitJob | 'took'

/** Batches on their way. */
const MOST_WAITING = 8

let waiting = 0
let wake: () => void = () => {}

parentPort?.on('message', (message: ToWorker) => {
  if (message === 'took') {
    waiting -= 1
    wake()
    return
  }
  const post = (answer: FromWorker): void => parentPort?.postMessage(answer)
  const give = (calls: readonly Call[]): void => {
    waiting += 1
    post({ calls })
  }
  void runUnitJob(message, give, isTaken).then((result) => post({ result }))
})

async function isTaken(): Promise<void> {
  while (waiting > MOST_WAITING) await new Promise<void>((resolve) => (wake = resolve))
}
