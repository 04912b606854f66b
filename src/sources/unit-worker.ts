/** A thread that reads units for a sync: jobs in, batches of calls and results out, in order. */
import { parentPort } from 'node:worker_threads'
import { runUnitJob, type UnitJob, type UnitResult } from './read-unit.ts'
import type { Call } from './unit-facts.ts'

export type FromWorker = { readonly calls: readonly Call[] } | { readonly result: UnitResult }

parentPort?.on('message', (job: UnitJob) => {
  const post = (message: FromWorker): void => parentPort?.postMessage(message)
  void runUnitJob(job, (calls) => post({ calls })).then((result) => post({ result }))
})
