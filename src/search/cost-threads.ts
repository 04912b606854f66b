/**
 * Units read for costs on as many threads as the machine has, this one among them; here alone, where there is too little to be worth
 * a thread's start. Threads are started as soon as enough was found, while the rest is looked for.
 */
import os from 'node:os'
import { setImmediate } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { createWork, takeUnits, type OnScan, type SizedUnit, type Work } from './cost-work.ts'
import type { UnitScan } from './cost-unit.ts'
import { workerScript } from '../sources/worker-script.ts'

const WORTH_BYTES = 16 * 1024 * 1024
const MOST_THREADS = 8

export type Threads = {
  /** A file was found that will be read. */
  expect(bytes: number): void
  /** In any order. Throws where a thread dies: costs with a hole in them would look like all of them. */
  scan(units: readonly SizedUnit[], onScan: OnScan): Promise<void>
  close(): void
}

export function createThreads(): Threads {
  const script = workerScript('cost-worker', import.meta.url)
  const most = script === undefined ? 0 : Math.min(os.availableParallelism(), MOST_THREADS) - 1
  const threads: Thread[] = []
  const start = (count: number): void => {
    if (script === undefined) return
    while (threads.length < Math.min(most, count)) threads.push(startThread(script))
  }
  let expected = { files: 0, bytes: 0 }
  return {
    expect(bytes) {
      expected = { files: expected.files + 1, bytes: expected.bytes + bytes }
      if (expected.bytes >= WORTH_BYTES) start(expected.files - 1)
    },
    async scan(units, onScan) {
      const bytes = units.reduce((sum, one) => sum + one.bytes, 0)
      if (bytes >= WORTH_BYTES) start(units.length - 1)
      const others = bytes >= WORTH_BYTES ? threads : []
      const work = createWork(units)
      // What the others send is taken in between, so that it does not pile up.
      await Promise.all([
        takeUnits(work, onScan, others.length > 0 ? () => setImmediate() : undefined),
        ...others.map((thread) => thread.read(work, onScan)),
      ])
    },
    close() {
      for (const thread of threads) thread.close()
    },
  }
}

type Sent = { readonly scans: readonly (readonly [number, UnitScan])[]; readonly isLast: boolean }
type Thread = { read(work: Work, onScan: OnScan): Promise<void>; close(): void }

function startThread(script: URL): Thread {
  const worker = new Worker(script)
  let failed: Error | undefined
  let reading: { readonly onScan: OnScan; end(error?: Error): void } | undefined
  const fail = (error: Error): void => {
    failed ??= error
    reading?.end(failed)
  }
  worker.on('message', ({ scans, isLast }: Sent) => {
    for (const [number, scan] of scans) reading?.onScan(number, scan)
    if (isLast) reading?.end()
  })
  worker.on('error', fail)
  worker.on('exit', () => fail(new Error('a reader of costs ended')))
  return {
    read: (work, onScan) =>
      new Promise((resolve, reject) => {
        if (failed !== undefined) return reject(failed)
        reading = { onScan, end: (error) => (error === undefined ? resolve() : reject(error)) }
        worker.postMessage(work)
      }),
    close: () => void worker.terminate(),
  }
}
