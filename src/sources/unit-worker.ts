/**
 * A thread that reads units for a sync: jobs in, batches of calls and results out, in order. It reads no faster than its calls are
 * taken: what waits between two threads has no other bound. The last batch comes with the result, for most units have no other.
 */
import { parentPort } from 'node:worker_threads'
import { collect } from './one-at-a-time.ts'
import type { CallTable } from './call-rows.ts'
import { packCalls, type PackedCalls } from './packed-calls.ts'
import { runUnitJob, type SessionsPart, type UnitJob } from './read-unit.ts'
import type { ReadUnit } from './readers.ts'
import { createCallPacker } from './state-own-bill.ts'

/** `large`: it waits for `enter` before it goes on. */
export type FromWorker =
  | { readonly calls: CallTable }
  | { readonly part: SessionsPart }
  | { readonly read: ReadUnit; readonly last?: CallTable; readonly packed?: PackedCalls }
  | 'large'
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
  const packer = createCallPacker()
  let last: CallTable | undefined
  let isOnly = true
  const give = (calls: CallTable | undefined): void => {
    if (last !== undefined) {
      waiting += 1
      isOnly = false
      post({ calls: last })
    }
    last = calls
  }
  let hasParts = false
  const onSessions = (part: SessionsPart): void => {
    // Nothing is read any more: what that took is not needed while parts are made and taken.
    if (!hasParts) collect()
    hasParts = true
    give(undefined)
    packer.forget(part.sessions)
    waiting += 1
    post({ part })
  }
  let leave: Promise<void> | undefined
  const enter = (): Promise<void> =>
    (leave ??= new Promise((resolve) => {
      entered = resolve
      post('large')
    }))
  const result = await runUnitJob(job, (calls) => give(packer.pack(calls)), {
    onSessions,
    isTaken,
    enter,
  })
  // The next such unit may be another thread's: nothing of this one may be left here.
  if (leave !== undefined) collect()
  const mayPack = job.mayPack === true && isOnly && !hasParts && result.type === 'read'
  const packed = mayPack && last !== undefined ? packCalls(last, result.facts.sessions) : undefined
  const calls = packed === undefined ? last && { last } : { packed }
  post({ read: { result, bills: packer.bills() }, ...calls })
}

async function isTaken(): Promise<void> {
  if (waiting <= MOST_WAITING) return
  await new Promise<void>((resolve) => (wake = resolve))
  await isTaken()
}
