/**
 * What records the calls that pass: a thread of its own, so that parsing, redacting and writing never hold up a byte. One that dies,
 * hangs or falls behind changes nothing for the agent: it is said once, and calls that come later get a new one. What was handed over is
 * recorded before the process ends, however it ends but by being killed.
 */
import type { IncomingMessage } from 'node:http'
import { defaultHome } from '../../archive/archive.ts'
import { workerScript } from '../../sources/worker-script.ts'
import type { Session } from '../../transcript/session.ts'
import { createCallLog, type CallLogOptions } from '../calls/call-log.ts'
import type { Parts } from '../calls/call-parts.ts'
import { createReporter, toStderr, type Failure } from '../report.ts'
import { onTermination } from '../termination.ts'
import type { Watch } from './forward.ts'
import { createHandOver, UNWATCHED, type HandOver } from './hand-over.ts'
import type { OutboxOptions } from './outbox.ts'
import { startRecorder } from './recorder-thread.ts'
import { createSpill } from '../spill.ts'
import { createTakeOver } from './take-over.ts'
import type { Route } from './upstreams.ts'

export type RecordingOptions = CallLogOptions & {
  readonly parts?: Parts
  /** Another thread than ours, and how patient we are with it. */
  readonly recorder?: {
    readonly script: URL
    /** What it is given beside the options. */
    readonly data?: object
    /** How long it may say nothing. */
    readonly silenceMs?: number
    /** Between its starts. */
    readonly restMs?: number
  }
  /** Bytes that may wait to be recorded. */
  readonly budget?: number
}

export type Recording = {
  /** What passes from then on is recorded as it does. */
  readonly ready: Promise<void>
  readonly watch: (request: IncomingMessage, route: Route) => Watch
  close(): Promise<readonly Session[]>
}

/** Where calls are recorded: apart, or here where there is no thread's script, or where options are functions, which stay in their thread. */
type Lane = Pick<HandOver, 'watch'> & {
  readonly ready: Promise<void>
  readonly isOver: () => boolean
  /** Waits until all is written; for a process that goes down. */
  readonly leave: () => void
  readonly sync: () => void
  readonly end: () => Promise<readonly Session[]>
}

/** Milliseconds between a thread's start and the next: one that dies of every call must not be all that we do. */
const REST_MS = 10_000

export function openRecording({ parts, recorder, budget, ...options }: RecordingOptions): Recording {
  const onFailure = once(options.onFailure ?? toStderr)
  const report = createReporter(onFailure)
  const script = recorder?.script ?? workerScript('recorder-worker', import.meta.url)
  const isHere = parts !== undefined || options.files !== undefined || options.now !== undefined
  const leftOut = (): void =>
    report.misuse('more passes than can be recorded: calls are recorded without their end')
  const spill = createSpill(options.home ?? defaultHome())
  const start = (): Lane => {
    const bounds = { leftOut, spill, ...(budget !== undefined && { budget }) }
    if (isHere || script === undefined) return recordHere({ ...options, onFailure }, parts, bounds)
    return startRecorder({
      script,
      data: { ...cloneable(options), ...recorder?.data },
      onFailure,
      report,
      ...(recorder?.silenceMs !== undefined && { silenceMs: recorder.silenceMs }),
      ...bounds,
    })
  }
  let lane = start()
  let begun = performance.now()
  let isClosed = false
  const current = (): Lane | undefined => {
    if (!lane.isOver() || isClosed) return lane
    if (performance.now() - begun < (recorder?.restMs ?? REST_MS)) return undefined
    begun = performance.now()
    return (lane = start())
  }
  const forget = onTermination({
    terminate: report.guard('what passed', () => lane.leave()),
    flushSync: report.guard('what passed', () => lane.sync()),
  })
  return {
    ready: lane.ready,
    watch: (request, route) => current()?.watch(request, route) ?? UNWATCHED,
    async close() {
      isClosed = true
      const sessions = await lane.end()
      forget()
      return sessions
    },
  }
}

type Bounds = Pick<OutboxOptions, 'leftOut' | 'spill' | 'budget'>

function recordHere(options: CallLogOptions, parts: Parts | undefined, bounds: Bounds): Lane {
  const taken = createTakeOver(createCallLog(options, parts))
  const handOver: HandOver = createHandOver({
    send(parcel) {
      taken.take(parcel)
      handOver.took(parcel.buffer)
    },
    ...bounds,
  })
  return {
    watch: handOver.watch,
    ready: Promise.resolve(),
    isOver: () => false,
    leave() {
      handOver.flushAll()
      taken.leave()
    },
    sync: () => handOver.flush(),
    end() {
      handOver.flushAll()
      return taken.end()
    },
  }
}

/** Functions stay in their thread. */
function cloneable(options: CallLogOptions): object {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => typeof value !== 'function'))
}

/** A thread that was started again says the same again. */
function once(tell: (failure: Failure) => void): (failure: Failure) => void {
  const told = new Set<string>()
  return (failure) => {
    if (told.has(failure.message)) return
    told.add(failure.message)
    tell(failure)
  }
}
