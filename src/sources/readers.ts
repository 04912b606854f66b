/**
 * Units read on as many threads as the machine has, where there are enough of them to be worth a thread's start; else here. The
 * results are the same.
 */
import fs from 'node:fs'
import os from 'node:os'
import { Worker } from 'node:worker_threads'
import { nextTurn } from './next-turn.ts'
import { runUnitJob, type UnitJob, type UnitResult } from './read-unit.ts'
import type { Call } from './unit-facts.ts'
import type { FromWorker, ToWorker } from './unit-worker.ts'

export type Readers = {
  /** Waits for a free reader, then reads. */
  read(job: UnitJob, onCalls: (calls: readonly Call[]) => void): Promise<UnitResult>
  /** How many read at a time. */
  readonly width: number
  close(): Promise<void>
}

/** A thread's start and its own copy of the program take as long as reading some MB. */
const WORTH_BYTES = 16 * 1024 * 1024
/** Each has a heap of its own, and all of them together stay under 300 MB on any machine. */
const MOST_THREADS = 2
/** In MB: a limit makes V8 let go of what it no longer needs before it takes more. */
const HEAP = { maxOldGenerationSizeMb: 200, maxYoungGenerationSizeMb: 16 }

export function createReaders(bytes: number): Readers {
  const script = workerScript()
  const threads = Math.min(os.availableParallelism(), MOST_THREADS)
  if (bytes < WORTH_BYTES || threads < 2 || script === undefined)
    return { read: readHere(), width: 1, close: async () => {} }
  const enter = createTurns()
  const idle = Array.from({ length: threads }, () => createThread(script, enter))
  const all = [...idle]
  const waiting: ((thread: Thread) => void)[] = []
  const take = (): Promise<Thread> => {
    const free = idle.pop()
    return free === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(free)
  }
  return {
    width: threads,
    async read(job, onCalls) {
      const thread = await take()
      try {
        return await thread.run(job, onCalls)
      } finally {
        const next = waiting.shift()
        if (next === undefined) idle.push(thread)
        else next(thread)
      }
    },
    close: async () => void (await Promise.all(all.map((thread) => thread.close()))),
  }
}

/** Units read in a row, in this thread. */
const READ_A_TURN = 50

function readHere(): Readers['read'] {
  let read = 0
  return async (job, onCalls) => {
    read += 1
    if (read % READ_A_TURN === 0) await nextTurn()
    return runUnitJob(job, onCalls)
  }
}

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
  run(job: UnitJob, onCalls: (calls: readonly Call[]) => void): Promise<UnitResult>
  close(): Promise<unknown>
}

type Waiting = {
  readonly onCalls: (calls: readonly Call[]) => void
  readonly done: (result: UnitResult) => void
  readonly failed: (error: unknown) => void
}

/** One job at a time. Listeners stay for the thread's life: taking the last one away would stop its port for good. */
function createThread(script: URL, turns: Turns): Thread {
  let worker: Worker | undefined
  let current: Waiting | undefined
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
  const finish = (result: UnitResult): void => {
    const [waiting, failed] = [current, failure]
    leave()
    leave = () => {}
    current = undefined
    failure = undefined
    if (failed === undefined) waiting?.done(result)
    else waiting?.failed(failed.error)
  }
  /** What cannot be taken, on a full disk, fails the unit once its thread is free again. */
  const take = (calls: readonly Call[]): void => {
    try {
      if (failure === undefined) current?.onCalls(calls)
    } catch (error) {
      failure = { error }
    }
  }
  const start = (): Worker => {
    const started = new Worker(script, { resourceLimits: HEAP })
    // A thread that dies, of a unit that takes all its memory, takes no other unit along.
    const died = (reason: string): void => {
      if (worker === started) worker = undefined
      finish({ type: 'failed', cause: 'internal', message: reason })
    }
    started.on('message', (message: FromWorker) => {
      if (message === 'large') enter(started)
      else if ('calls' in message) {
        take(message.calls)
        started.postMessage('took' satisfies ToWorker)
      } else finish(message.result)
    })
    started.on('error', (error) => died(error.message))
    started.on('exit', (code) => died(`a reader ended with code ${code}`))
    return started
  }
  return {
    run(job, onCalls) {
      worker ??= start()
      const busy = worker
      return new Promise((done, failed) => {
        current = { onCalls, done, failed }
        busy.postMessage(job satisfies ToWorker)
      })
    },
    close: async () => worker?.terminate(),
  }
}

/** Beside this module in the package, one folder up in the command line's bundle; not there when run from the sources. */
function workerScript(): URL | undefined {
  const places = [new URL('./unit-worker.js', import.meta.url), new URL('../unit-worker.js', import.meta.url)]
  return places.find((place) => fs.existsSync(place))
}
