/**
 * Threads that read units, each one at a time, with the next ones waiting there: none has to ask for its next while this thread is
 * busy. Loaded where there is enough to read: starting threads is as much to load as a format.
 */
import { Worker } from 'node:worker_threads'
import type { Readers, ReadUnit, Taker } from './readers.ts'
import type { UnitJob } from './read-unit.ts'
import type { FromWorker, ToWorker } from './unit-worker.ts'

/** In MB: a limit makes V8 let go of what it no longer needs before it takes more. */
const HEAP = { maxOldGenerationSizeMb: 200, maxYoungGenerationSizeMb: 16 }

export function createThreads(script: URL, threads: number): Readers {
  const enter = createTurns()
  const all = Array.from({ length: threads }, () => createThread(script, enter))
  return {
    threads,
    width: threads * MOST_QUEUED,
    read: (job, taker) => all.reduce((a, b) => (b.waiting() < a.waiting() ? b : a)).run(job, taker),
    close: async () => void (await Promise.all(all.map((thread) => thread.close()))),
  }
}

/** Units that a thread has before it, with the one that it reads: enough for the time that the state takes to be written. */
const MOST_QUEUED = 16

/** One at a time: gives what is called when it is done. */
type Turns = () => Promise<() => void>

function createTurns(): Turns {
  let last = Promise.resolve()
  return async () => {
    const before = last
    let done: () => void = () => {}
    last = new Promise((resolve) => (done = resolve))
    await before
    return done
  }
}

type Thread = {
  waiting(): number
  run(job: UnitJob, taker: Taker): Promise<ReadUnit>
  close(): Promise<unknown>
}

type Waiting = {
  readonly job: UnitJob
  readonly taker: Taker
  readonly done: (read: ReadUnit) => void
  readonly failed: (error: unknown) => void
}

/** Jobs are done in the order they came in. Listeners stay for the thread's life: taking the last one away would stop its port for good. */
function createThread(script: URL, turns: Turns): Thread {
  let worker: Worker | undefined
  /** The first is being read. */
  const queue: Waiting[] = []
  let failure: { readonly error: unknown } | undefined
  /** For the unit that is read: ends its turn, or the wait for it. */
  let leave: () => void = () => {}
  const enter = (started: Worker): void => {
    let isOver = false
    const turn = turns()
    leave = () => {
      isOver = true
      void turn.then((done) => done())
    }
    void turn.then(() => {
      if (!isOver) started.postMessage('enter' satisfies ToWorker)
    })
  }
  const finish = (read: ReadUnit): void => {
    const [waiting, failed] = [queue.shift(), failure]
    leave()
    leave = () => {}
    failure = undefined
    if (failed === undefined) waiting?.done(read)
    else waiting?.failed(failed.error)
  }
  /** What cannot be taken, on a full disk, fails the unit once its thread is free again. */
  const take = (give: (taker: Taker) => void): void => {
    try {
      if (failure === undefined && queue[0] !== undefined) give(queue[0].taker)
    } catch (error) {
      failure = { error }
    }
  }
  const start = (): Worker => {
    const started = new Worker(script, { resourceLimits: HEAP })
    // A thread that dies, of a unit that takes all its memory, takes no other unit along.
    const died = (reason: string): void => {
      if (worker !== started) return
      worker = undefined
      finish({ result: { type: 'failed', cause: 'internal', message: reason }, bills: new Map() })
      if (queue.length > 0) worker = start()
      for (const { job } of queue) worker?.postMessage(job satisfies ToWorker)
    }
    started.on('message', (message: FromWorker) => {
      if (message === 'large') enter(started)
      else if ('read' in message) {
        const { read, last, packed } = message
        if (packed !== undefined) take((taker) => taker.packed?.(packed))
        if (last !== undefined) take((taker) => taker.calls(last))
        finish(read)
      } else {
        if ('calls' in message) take((taker) => taker.calls(message.calls))
        else take((taker) => taker.sessions(message.part))
        started.postMessage('took' satisfies ToWorker)
      }
    })
    started.on('error', (error) => died(error.message))
    started.on('exit', (code) => died(`a reader ended with code ${code}`))
    return started
  }
  // Before there is anything to read: what is to be read is looked for, or copied, meanwhile.
  worker = start()
  return {
    waiting: () => queue.length,
    run(job, taker) {
      worker ??= start()
      const busy = worker
      return new Promise((done, failed) => {
        queue.push({ job, taker, done, failed })
        busy.postMessage(job satisfies ToWorker)
      })
    },
    async close() {
      const last = worker
      worker = undefined
      await last?.terminate()
    },
  }
}
