/** Units read for costs on as many threads as the machine has; here, where there is too little to be worth a thread's start. */
import fs from 'node:fs'
import os from 'node:os'
import { Worker } from 'node:worker_threads'
import { scanUnit, type UnitScan, type UnitToScan } from './cost-unit.ts'

/** `number`: what its calls are told by. */
export type SizedUnit = UnitToScan & { readonly bytes: number; readonly number: number }

export type OnScan = (number: number, scan: UnitScan) => void

const WORTH_BYTES = 16 * 1024 * 1024
const MOST_THREADS = 8
/** Of a thread's work at a time: a message for each unit would take longer than small ones to read. */
const TOGETHER_BYTES = 8 * 1024 * 1024
const MOST_TOGETHER = 64

/** In any order. Throws where a thread dies: costs with a hole in them would look like all of them. */
export async function scanUnits(units: readonly SizedUnit[], onScan: OnScan): Promise<void> {
  const script = workerScript()
  const threads = Math.min(os.availableParallelism(), MOST_THREADS)
  const bytes = units.reduce((sum, one) => sum + one.bytes, 0)
  if (bytes < WORTH_BYTES || threads < 2 || script === undefined) {
    for (const unit of units) onScan(unit.number, await scanUnit(unit))
    return
  }
  const waiting = batchesOf(units).toReversed()
  await Promise.all(Array.from({ length: threads }, () => runThread(script, waiting, onScan)))
}

/** The largest first, so that no thread is left with one when the others are done. */
function batchesOf(units: readonly SizedUnit[]): SizedUnit[][] {
  const batches: SizedUnit[][] = []
  let held = Number.POSITIVE_INFINITY
  for (const unit of units.toSorted((a, b) => b.bytes - a.bytes)) {
    const { bytes } = unit
    const last = batches.at(-1)
    if (last === undefined || held + bytes > TOGETHER_BYTES || last.length >= MOST_TOGETHER) {
      batches.push([unit])
      held = bytes
    } else {
      last.push(unit)
      held += bytes
    }
  }
  return batches
}

function runThread(script: URL, waiting: SizedUnit[][], onScan: OnScan): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(script)
    let batch: SizedUnit[] | undefined
    const next = (): void => {
      batch = waiting.pop()
      if (batch !== undefined) {
        worker.postMessage(batch)
        return
      }
      resolve()
      void worker.terminate()
    }
    worker.on('message', (scans: readonly UnitScan[]) => {
      for (const [at, scan] of scans.entries()) onScan(batch?.[at]?.number ?? 0, scan)
      next()
    })
    worker.on('error', reject)
    worker.on('exit', () => reject(new Error('a reader of costs ended')))
    next()
  })
}

/** Beside this module in the package, one folder up in the command line's bundle; not there when run from the sources. */
function workerScript(): URL | undefined {
  const places = [new URL('./cost-worker.js', import.meta.url), new URL('../cost-worker.js', import.meta.url)]
  return places.find((place) => fs.existsSync(place))
}
