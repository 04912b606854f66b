/**
 * What the server does besides answering, in a process of its own: taking in logs and indexing them may keep a processor busy for
 * minutes and take hundreds of megabytes, and whoever looks at a page should notice neither. The process begins with the first work and
 * ends, with its memory, when there was none for a while. Without the built program there is none, and the work is done here.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Archive } from '../archive/archive.ts'
import { HansardError, type ErrorCode } from '../errors.ts'
import type { SyncReport } from '../sources/sync.ts'
import { doWork, type Done, type Work, type WorkOptions, type WorkProgress } from './behind-work.ts'
import { runBehind, workerScript } from '../sources/worker-script.ts'

export type Behind = {
  /** Throws what the work throws; `io` when the process ended over it. Stops soon after the signal. */
  readonly work: <W extends Work>(work: W, options?: WorkOptions) => Promise<Done<W>>
  close(): void
}

export type ToBehind =
  | { readonly number: number; readonly work: Work; readonly home: string }
  | { readonly number: number; readonly stop: true }
export type FromBehind =
  | { readonly number: number; readonly progress: WorkProgress }
  | { readonly number: number; readonly done: unknown }
  | { readonly number: number; readonly failed: Failed }

type Failed = { readonly code: ErrorCode | undefined; readonly message: string; readonly hint?: string }

const IDLE_MS = 20_000
/** The same since it read a log, when it has prepared one: what it holds saves reading that whole with the next line. */
const HOLDING_MS = 10 * 60_000

type Waiting = {
  readonly kind: Work['kind']
  readonly resolve: (done: unknown) => void
  readonly reject: (error: Error) => void
  readonly onProgress: (progress: WorkProgress) => void
}

type Begun = {
  readonly child: ChildProcess
  readonly waiting: Map<number, Waiting>
  /** It holds what it read of logs, and is worth keeping until then; milliseconds since 1970, 0 where it holds nothing. */
  heldUntil: number
}

export function openBehind(archive: Archive): Behind {
  const script = workerScript('behind-worker', import.meta.url)
  if (script === undefined)
    return { work: (work, options = {}) => doWork(archive, work, options), close() {} }
  let begun: Begun | undefined
  let idle: NodeJS.Timeout | undefined
  let number = 0
  const end = (): void => {
    clearTimeout(idle)
    begun?.child.kill()
    begun = undefined
  }
  const hear = (own: Begun, said: FromBehind): void => {
    const { waiting } = own
    const one = waiting.get(said.number)
    if ('progress' in said) return one?.onProgress(said.progress)
    waiting.delete(said.number)
    if ('done' in said) {
      if (one !== undefined && isWorthHolding(one.kind, said.done, own.heldUntil > 0))
        own.heldUntil = Date.now() + HOLDING_MS
      one?.resolve(said.done)
    } else one?.reject(errorOf(said.failed))
    if (waiting.size > 0) return undefined
    clearTimeout(idle)
    idle = setTimeout(end, Math.max(IDLE_MS, own.heldUntil - Date.now()))
    return void idle.unref()
  }
  const start = (file: URL): Begun => {
    const child = fork(fileURLToPath(file), [], { serialization: 'advanced', stdio: 'ignore' })
    const own: Begun = { child, waiting: new Map(), heldUntil: 0 }
    if (child.pid !== undefined) runBehind(child.pid)
    child.on('message', (said: FromBehind) => hear(own, said))
    child.on('error', () => child.kill())
    child.on('exit', () => {
      if (begun === own) begun = undefined
      for (const { reject } of own.waiting.values()) reject(new HansardError('io', ENDED))
    })
    return own
  }
  return {
    work: <W extends Work>(work: W, { signal, onProgress = () => {} }: WorkOptions = {}) => {
      clearTimeout(idle)
      const { child, waiting } = (begun ??= start(script))
      const own = (number += 1)
      const stop = (): void => void child.send({ number: own, stop: true } satisfies ToBehind, () => {})
      signal?.addEventListener('abort', stop, { once: true })
      return new Promise<unknown>((resolve, reject) => {
        waiting.set(own, { kind: work.kind, resolve, reject, onProgress })
        child.send({ number: own, work, home: archive.home } satisfies ToBehind, (error) => {
          if (error === null) return
          waiting.delete(own)
          reject(new HansardError('io', error.message))
        })
        // What `doWork` gives for this work, sent as it is.
      }).finally(() => signal?.removeEventListener('abort', stop)) as Promise<Done<W>>
    },
    close: end,
  }
}

/** After a log was prepared, or, where one is, something came. */
function isWorthHolding(kind: Work['kind'], done: unknown, isHolding: boolean): boolean {
  if (kind === 'prepare') return done === true
  return kind === 'sync' && isHolding && (done as SyncReport).sessions > 0
}

const ENDED = 'the process that takes in logs ended'

/** What nobody foresaw has no code. */
function errorOf({ code, message, hint }: Failed): Error {
  if (code === undefined) return new Error(message)
  return new HansardError(code, message, hint === undefined ? {} : { hint })
}
