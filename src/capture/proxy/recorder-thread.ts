/** The forwarding thread's hold on the recorder's thread: starts it, hears it, and waits for it at the end, but not for ever. */
import v8 from 'node:v8'
import { Worker } from 'node:worker_threads'
import type { Session } from '../../transcript/session.ts'
import type { Failure, Reporter } from '../report.ts'
import { createHandOver, type HandOver } from './hand-over.ts'
import type { OutboxOptions } from './outbox.ts'
import type { FromRecorder, ToRecorder } from './serve-recorder.ts'

export type RecorderThread = Pick<HandOver, 'watch'> & {
  /** When it listens, or when that has taken too long. */
  readonly ready: Promise<void>
  readonly isOver: () => boolean
  readonly leave: () => void
  readonly sync: () => void
  readonly end: () => Promise<readonly Session[]>
}

export type RecorderOptions = Pick<OutboxOptions, 'leftOut' | 'spill' | 'budget'> & {
  readonly script: URL
  readonly data: object
  readonly onFailure: (failure: Failure) => void
  readonly report: Reporter
  /** After which nothing is expected any more. */
  readonly silenceMs?: number
}

/**
 * A recorder that runs out of memory ends alone, and not with the agent's calls. The lower the limit, the less garbage lies about: this
 * is what the longest request takes, twice.
 */
const LIMITS = { maxOldGenerationSizeMb: 640, maxYoungGenerationSizeMb: 6 }
/**
 * What passes is garbage at once: collected more often, it takes shorter each time, and a tenth of the memory; and there is so little of
 * it that V8's other threads would take longer to wake up than they help, on a processor that somebody may need. Of what lives longer, V8
 * would let as much again lie about.
 */
const FLAGS = ['--semi-space-growth-factor=1', '--no-parallel-scavenge', '--heap-growing-percent=40']
const SILENCE_MS = 30_000
/** For a thread to start: nobody waits longer for it. */
const STARTING_MS = 2000
/** While a process goes down. */
const LEAVING_MS = 5000

export function startRecorder(options: RecorderOptions): RecorderThread {
  const { script, data, onFailure, report, silenceMs = SILENCE_MS, ...bounds } = options
  const worker = new Worker(script, { workerData: data, resourceLimits: LIMITS, name: 'hansard recorder' })
  let isOver = false
  let heard = performance.now()
  let ended: (sessions: readonly Session[]) => void = () => {}
  let listens: () => void = () => {}
  const ready = new Promise<void>((resolve) => (listens = resolve))
  const late = setTimeout(() => listens(), STARTING_MS)
  void ready.then(() => clearTimeout(late))
  const post = (message: ToRecorder, given: readonly ArrayBuffer[] = []): void =>
    worker.postMessage(message, given)
  const handOver = createHandOver({
    send(parcel) {
      post(parcel, [parcel.buffer])
      const { parcels, since } = handOver.out()
      if (parcels > 1 && performance.now() - Math.max(since, heard) > silenceMs)
        report.misuse(
          `the recorder’s thread says nothing for ${silenceMs / 1000} s: calls wait to be recorded`,
        )
    },
    ...bounds,
  })
  const over = (why: unknown): void => {
    if (isOver) return
    isOver = true
    handOver.stop()
    report.failed({ what: 'what the recorder’s thread had in hand', error: why })
    listens()
    ended([])
  }
  worker.on('message', (said: FromRecorder) => {
    heard = performance.now()
    if (said === 'alive') return undefined
    if (said === 'ready') return listens()
    if ('took' in said) return handOver.took(said.took)
    if ('failure' in said) return onFailure(said.failure)
    isOver = true
    handOver.stop()
    return ended(said.sessions)
  })
  // A thread's start unsets them.
  worker.on('online', () => {
    for (const flag of FLAGS) v8.setFlagsFromString(flag)
  })
  worker.on('messageerror', over)
  worker.on('error', over)
  worker.on('exit', () => over(new Error('the thread ended')))

  return {
    watch: handOver.watch,
    ready,
    isOver: () => isOver,
    sync() {
      if (isOver) return
      handOver.flush()
      post('sync')
    },
    leave() {
      if (isOver) return
      handOver.flushAll()
      const done = new Int32Array(new SharedArrayBuffer(4))
      post({ leave: done })
      isOver = true
      if (Atomics.wait(done, 0, 0, LEAVING_MS) === 'timed-out')
        report.misuse('the recorder’s thread had not written everything when the process ended')
    },
    async end() {
      if (isOver) return []
      heard = performance.now()
      const sessions = new Promise<readonly Session[]>((resolve) => (ended = resolve))
      const watch = setInterval(() => {
        if (performance.now() - heard > silenceMs) over(new Error('the thread says nothing'))
      }, silenceMs / 10)
      await handOver.drained()
      if (!isOver) post('end')
      const all = await sessions
      clearInterval(watch)
      await worker.terminate()
      return all
    },
  }
}
