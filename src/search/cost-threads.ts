/**
 * Units read for costs on as many threads as the machine has, this one among them; here alone, where there is too little to be worth
 * a thread's start.
 */
import os from 'node:os'
import { setImmediate } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { createWork, takeUnits, type OnScan, type SizedUnit, type Work } from './cost-work.ts'
import type { UnitScan } from './cost-unit.ts'
import { workerScript } from '../sources/worker-script.ts'

const WORTH_BYTES = 16 * 1024 * 1024
const MOST_THREADS = 8

/** In any order. Throws where a thread dies: costs with a hole in them would look like all of them. */
export async function scanUnits(units: readonly SizedUnit[], onScan: OnScan): Promise<void> {
  const script = workerScript('cost-worker', import.meta.url)
  const bytes = units.reduce((sum, one) => sum + one.bytes, 0)
  const threads = Math.min(os.availableParallelism(), MOST_THREADS, units.length)
  const others = bytes < WORTH_BYTES || script === undefined ? 0 : threads - 1
  const work = createWork(units)
  const ended = script && Array.from({ length: others }, () => runThread(script, work, onScan))
  // What the others send is taken in between, so that it does not pile up.
  await Promise.all([
    takeUnits(work, onScan, others > 0 ? () => setImmediate() : undefined),
    ...(ended ?? []),
  ])
}

type Sent = { readonly scans: readonly (readonly [number, UnitScan])[]; readonly isLast: boolean }

function runThread(script: URL, work: Work, onScan: OnScan): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(script, { workerData: work })
    worker.on('message', ({ scans, isLast }: Sent) => {
      for (const [number, scan] of scans) onScan(number, scan)
      if (!isLast) return
      resolve()
      void worker.terminate()
    })
    worker.on('error', reject)
    worker.on('exit', () => reject(new Error('a reader of costs ended')))
  })
}
