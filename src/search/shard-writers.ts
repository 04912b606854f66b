/** Who writes the shards: a thread for each where there is enough to write, else this one. What comes out is the same. */
import { Worker } from 'node:worker_threads'
import type { Archive } from '../archive/archive.ts'
import { HansardError } from '../errors.ts'
import type { Batch, BatchResult } from './index-batch.ts'
import type { FromIndexWorker, ToIndexWorker } from './index-worker.ts'
import type { Turns } from './turns.ts'
import { workerScript } from '../sources/worker-script.ts'

export type ShardWriter = {
  /** One batch at a time. Throws what is wrong with the shard: `UnusableShard` when it has to be built again. */
  write(batch: Batch): Promise<BatchResult>
  /** After it, all that was written is in the shard's own file. */
  close(): Promise<void>
}

/** The shard turned out to be damaged. */
export class UnusableShard extends Error {
  readonly shard: number
  constructor(shard: number, message: string) {
    super(message)
    this.shard = shard
  }
}

/** In MB: a limit makes V8 let go of what it no longer needs before it takes more. */
const HEAP = { maxOldGenerationSizeMb: 200, maxYoungGenerationSizeMb: 16 }

/** A thread's start and its own copy of the program take as long as indexing some MB. */
const WORTH_BYTES = 8 * 1024 * 1024

export function canUseThreads(bytes: number): boolean {
  return bytes >= WORTH_BYTES && workerScript('index-worker', import.meta.url) !== undefined
}

/** In a thread of its own, which waits for its turn with large entries. `isBegun`: another thread wrote to the shard before. */
export function writeInThread(
  archive: Archive,
  number: number,
  { turns, isBegun }: { readonly turns: Turns; readonly isBegun: boolean },
): ShardWriter {
  const worker = new Worker(workerScript('index-worker', import.meta.url) as URL, { resourceLimits: HEAP })
  let waiting: { done(said: FromIndexWorker): void; failed(error: Error): void } | undefined
  let leave: () => void = () => {}
  const end = (error: Error): void => {
    leave()
    const current = waiting
    waiting = undefined
    current?.failed(error)
  }
  const enter = (): void => {
    const turn = turns()
    leave = () => void turn.then((over) => over())
    void turn.then(() => post({ enter: true }))
  }
  worker.on('message', (said: FromIndexWorker) => {
    if ('large' in said) return said.large === 'waits' ? enter() : leave()
    const current = waiting
    waiting = undefined
    current?.done(said)
  })
  worker.on('error', (error) => end(new HansardError('io', error.message)))
  worker.on('exit', (code) => end(new HansardError('io', `an indexing thread ended with code ${code}`)))
  const post = (message: ToIndexWorker): void => worker.postMessage(message)
  const ask = (message: ToIndexWorker): Promise<FromIndexWorker> =>
    new Promise((done, failed) => {
      waiting = { done, failed }
      post(message)
    })
  post({ open: { home: archive.home, shard: number, isBegun } })
  return {
    async write(batch) {
      const said = await ask({ batch })
      if ('result' in said) return said.result
      const failure =
        'failed' in said ? said.failed : { code: 'io' as const, message: 'closed', isUnusable: false }
      if (failure.isUnusable) throw new UnusableShard(number, failure.message)
      throw new HansardError(failure.code, failure.message)
    },
    async close() {
      try {
        await ask({ close: true })
      } finally {
        await worker.terminate()
      }
    },
  }
}
