/** A process that makes one outline: a job in, how far it is and what came of it out. It ends with who started it. */
import { isHansardError, messageOf, type ErrorCode } from '../errors.ts'
import { buildOutline, type OutlineJob, type OutlineProgress } from './outline-build.ts'
import type { OutlineNote } from './outline-files.ts'

export type FromOutlineWorker =
  | { readonly progress: OutlineProgress }
  | { readonly note: OutlineNote }
  | { readonly failed: { readonly code: ErrorCode; readonly message: string } }

process.on('disconnect', () => process.exit())
process.on('message', (job: OutlineJob) => {
  const post = (said: FromOutlineWorker): void => void process.send?.(said)
  buildOutline(job, (progress) => post({ progress })).then(
    (note) => post({ note }),
    (error: unknown) =>
      post({ failed: { code: isHansardError(error) ? error.code : 'io', message: messageOf(error) } }),
  )
})
