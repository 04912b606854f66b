/** A thread that makes an outline: a job in, how far it is and what came of it out. */
import { parentPort } from 'node:worker_threads'
import { isHansardError, messageOf, type ErrorCode } from '../errors.ts'
import { buildOutline, type OutlineJob, type OutlineProgress } from './outline-build.ts'
import type { OutlineNote } from './outline-files.ts'

export type FromOutlineWorker =
  | { readonly progress: OutlineProgress }
  | { readonly note: OutlineNote }
  | { readonly failed: { readonly code: ErrorCode; readonly message: string } }

parentPort?.on('message', (job: OutlineJob) => {
  const post = (said: FromOutlineWorker): void => parentPort?.postMessage(said)
  buildOutline(job, (progress) => post({ progress })).then(
    (note) => post({ note }),
    (error: unknown) =>
      post({ failed: { code: isHansardError(error) ? error.code : 'io', message: messageOf(error) } }),
  )
})
