/**
 * What the server does besides answering, in a process of its own: taking in logs and indexing them may keep a processor busy for
 * minutes and take hundreds of megabytes, and whoever looks at a page should notice neither. The process begins with the first work and
 * ends, with its memory, when there was none for a while. Without the built program there is none, and the work is done here.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Archive } from '../archive/archive.ts'
import { HansardError, type ErrorCode } from '../errors.ts'
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

type Waiting = {
  readonly resolve: (done: unknown) => void
  readonly reject: (error: Error) => void
  readonly onProgress: (progress: WorkProgress) => void
}

type Begun = { readonly child: ChildProcess; readonly waiting: Map<number, Waiting> }

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
  const hear = ({ waiting }: Begun, said: FromBehind): void => {
    const one = waiting.get(said.number)
    if ('progress' in said) return one?.onProgress(said.progress)
    waiting.delete(said.number)
    if ('done' in said) one?.resolve(said.done)
    else one?.reject(errorOf(said.failed))
    if (waiting.size > 0) return undefined
    clearTimeout(idle)
    idle = setTimeout(end, IDLE_MS)
    return void idle.unref()
  }
  const start = (file: URL): Begun => {
    const child = fork(fileURLToPath(file), [], { serialization: 'advanced', stdio: 'ignore' })
    const own: Begun = { child, waiting: new Map() }
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
        waiting.set(own, { resolve, reject, onProgress })
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

const ENDED = 'the process that takes in logs ended'

/** What nobody foresaw has no code. */
function errorOf({ code, message, hint }: Failed): Error {
  if (code === undefined) return new Error(message)
  return new HansardError(code, message, hint === undefined ? {} : { hint })
}
