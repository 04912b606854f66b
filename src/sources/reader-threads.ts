/** Threads that read units, each one at a time. Loaded where there is enough to read: starting threads is as much to load as a format. */
import { Worker } from 'node:worker_threads'
import type { Readers } from './readers.ts'
import type { UnitJob, UnitResult } from './read-unit.ts'
import type { Call } from './unit-facts.ts'
import type { FromWorker, ToWorker } from './unit-worker.ts'

/** In MB: a limit makes V8 let go of what it no longer needs before it takes more. */
const HEAP = { maxOldGenerationSizeMb: 200, maxYoungGenerationSizeMb: 16 }

export function createThreads(script: URL, threads: number): Readers {
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
