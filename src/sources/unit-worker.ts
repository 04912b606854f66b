/**
 * A thread that reads units for a sync: jobs in, batches of calls and results out, in order. It reads no faster than its calls are
 * taken: what waits between two threads has no other bound.
 */
import { parentPort } from 'node:worker_threads'
import { collect } from './one-at-a-time.ts'
import { runUnitJob, type UnitJob, type UnitResult } from './read-unit.ts'
import type { Call } from './unit-facts.ts'

/** `large`: it waits for `enter` before it goes on. */
export type FromWorker = { readonly calls: readonly Call[] } | { readonly result: UnitResult } | 'large'
/** `took`: a batch of calls is in the state. */
export type ToWorker = UnitJob | 'took' | 'enter'

/** Batches on their way. */
const MOST_WAITING = 8

/** Jobs that came while one was being done. */
const queue: UnitJob[] = []
let isBusy = false
let waiting = 0
let wake: () => void = () => {}
let entered: () => void = () => {}

parentPort?.on('message', (message: ToWorker) => {
  if (message === 'took') {
    waiting -= 1
    wake()
    return
  }
  if (message === 'enter') return entered()
  queue.push(message)
  if (!isBusy) void work()
})

async function work(): Promise<void> {
  isBusy = true
  for (let job = queue.shift(); job !== undefined; job = queue.shift()) await read(job)
  isBusy = false
}

async function read(job: UnitJob): Promise<void> {
  const post = (answer: FromWorker): void => parentPort?.postMessage(answer)
  const give = (calls: readonly Call[]): void => {
    waiting += 1
    post({ calls })
  }
  let leave: Promise<void> | undefined
  const enter = (): Promise<void> =>
    (leave ??= new Promise((resolve) => {
      entered = resolve
      post('large')
    }))
  const result = await runUnitJob(job, give, { isTaken, enter })
  // The next such unit may be another thread's: nothing of this one may be left here.
  if (leave !== undefined) collect()
  post({ result })
}

async function isTaken(): Promise<void> {
  if (waiting <= MOST_WAITING) return
  await new Promise<void>((resolve) => (wake = resolve))
  await isTaken()
}
