/**
 * A thread that reads units for a sync: jobs in, batches of calls and results out, in order. It reads no faster than its calls are
 * taken: what waits between two threads has no other bound.
 */
import { parentPort } from 'node:worker_threads'
import { collect } from './one-at-a-time.ts'
import type { CallTable } from './call-rows.ts'
import { runUnitJob, type SessionsPart, type UnitJob } from './read-unit.ts'
import { createUnitPass, type WholeUnit } from './unit-pass.ts'

/** `large`: it waits for `enter` before it goes on. */
export type FromWorker = { readonly calls: CallTable } | { readonly part: SessionsPart } | WholeUnit | 'large'
/** `took`: a batch of calls, or of sessions, is in the state. */
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
  let hasParts = false
  const { onCalls, onSessions, end } = createUnitPass(job, {
    calls(calls) {
      waiting += 1
      post({ calls })
    },
    sessions(part) {
      // Nothing is read any more: what that took is not needed while parts are made and taken.
      if (!hasParts) collect()
      hasParts = true
      waiting += 1
      post({ part })
    },
  })
  let leave: Promise<void> | undefined
  const enter = (): Promise<void> =>
    (leave ??= new Promise((resolve) => {
      entered = resolve
      post('large')
    }))
  const result = await runUnitJob(job, onCalls, { onSessions, isTaken, enter })
  // The next such unit may be another thread's: nothing of this one may be left here.
  if (leave !== undefined) collect()
  post(end(result))
}

async function isTaken(): Promise<void> {
  if (waiting <= MOST_WAITING) return
  await new Promise<void>((resolve) => (wake = resolve))
  await isTaken()
}
