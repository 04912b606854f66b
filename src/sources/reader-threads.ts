/**
 * Threads that read units, each one at a time, with the next ones waiting there: none has to ask for its next while this thread is
 * busy. As long as all have enough before them, this thread reads short logs itself, for it would have nothing to do. Loaded where there
 * is enough to read: starting threads is as much to load as a format.
 */
import { Worker } from 'node:worker_threads'
import { nextTurn } from '../transcript/next-turn.ts'
import type { Readers } from './readers.ts'
import { mayBeShort, runShortJob, type UnitJob } from './read-unit.ts'
import { createUnitPass, takeWhole, type ReadUnit, type Taker } from './unit-pass.ts'
import type { FromWorker, ToWorker } from './unit-worker.ts'
import { createFlag } from './v8-flag.ts'

/** In MB: a limit makes V8 let go of what it no longer needs before it takes more. */
const HEAP = { maxOldGenerationSizeMb: 200, maxYoungGenerationSizeMb: 16 }
/** Units that a thread has before it, with the one that it reads: enough for the time that the state takes to be written. */
const MOST_QUEUED = 16
/** And as many that it does not come to its end while this thread reads one. */
const ENOUGH_QUEUED = 8
/**
 * Bytes of bytecode that V8 takes into a function from those that it calls, and what it would take by itself. It compiles each function
 * once for each thread, on a processor that would read meanwhile, and most of a first sync is over before more of it pays.
 */
const INLINED_BYTES = 300
const USUAL_INLINED_BYTES = 920

/** `most`: threads. The first is enough as long as all units are short. Throws where not even that can be had. */
export function createThreads(script: URL, most: number): Readers {
  const enter = createTurns()
  // Before there is anything to read: what is to be read is looked for, or copied, meanwhile.
  const all = [createThread(script, enter)]
  let isOpen = true
  const inlining = createFlag('max-inlined-bytecode-size-cumulative', INLINED_BYTES, USUAL_INLINED_BYTES)
  const free = (): Thread => all.reduce((a, b) => (b.waiting() < a.waiting() ? b : a))
  let isReading = false
  const startAnother = (): void => {
    try {
      all.push(createThread(script, enter))
    } catch {
      // The system has no thread to spare: those that there are take longer.
    }
  }
  const readThere = (job: UnitJob, taker: Taker, isShort: boolean): Promise<ReadUnit> => {
    if (!isShort && all.length < most && free().waiting() > 0) startAnother()
    return free().run(job, taker)
  }
  /** Undefined for what is no short log. */
  const readHere = async (job: UnitJob, taker: Taker): Promise<ReadUnit | undefined> => {
    isReading = true
    try {
      // What others have read is put in the state first.
      await nextTurn()
      const { onCalls, onSessions, end } = createUnitPass(job, taker)
      const result = await runShortJob(job, onCalls, { onSessions })
      return result && takeWhole(end(result), taker)
    } finally {
      isReading = false
    }
  }
  return {
    threads: most,
    width: most * MOST_QUEUED,
    async read(job, taker) {
      if (!isOpen) throw new Error('the readers are closed')
      inlining.set()
      const isShort = mayBeShort(job)
      if (!isShort || isReading || free().waiting() <= ENOUGH_QUEUED) return readThere(job, taker, isShort)
      return (await readHere(job, taker)) ?? readThere(job, taker, false)
    },
    async close() {
      isOpen = false
      inlining.usual()
      await Promise.all(all.map((thread) => thread.close()))
    },
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
      if (queue.length === 0) return
      try {
        worker = start()
        for (const { job } of queue) worker.postMessage(job satisfies ToWorker)
      } catch (error) {
        for (const { failed } of queue.splice(0)) failed(error)
      }
    }
    started.on('message', (message: FromWorker) => {
      if (message === 'large') enter(started)
      else if ('read' in message) {
        take((taker) => void takeWhole(message, taker))
        finish(message.read)
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
  worker = start()
  return {
    waiting: () => queue.length,
    async run(job, taker) {
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
