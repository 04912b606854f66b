/**
 * Who makes an outline: a process of its own where there is much to read, whose memory goes with it, else this one. What comes out is the
 * same.
 */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { HansardError } from '../errors.ts'
import { buildOutline, type OutlineJob, type OutlineProgress } from './outline-build.ts'
import type { OutlineNote } from './outline-files.ts'
import type { FromOutlineWorker } from './outline-worker.ts'
import { runBehind, workerScript } from '../sources/worker-script.ts'

/** A process's start takes as long as some MB. */
const WORTH_BYTES = 2 * 1024 * 1024
/** Reading leaves much behind at once: collected early, it stays small. Megabytes. */
const LIMITS = ['--max-semi-space-size=4', '--max-old-space-size=2048']

export function makeOutline(
  job: OutlineJob,
  bytes: number,
  onProgress: (progress: OutlineProgress) => void,
  signal: AbortSignal,
): Promise<OutlineNote> {
  const script = workerScript('outline-worker', import.meta.url)
  if (bytes < WORTH_BYTES || script === undefined) return buildOutline(job, onProgress)
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(script), [], { execArgv: LIMITS, stdio: 'ignore' })
    const end = (): void => void child.kill()
    signal.addEventListener('abort', end, { once: true })
    if (child.pid !== undefined) runBehind(child.pid)
    child.on('message', (said: FromOutlineWorker) => {
      if ('progress' in said) return onProgress(said.progress)
      if ('note' in said) resolve(said.note)
      else reject(new HansardError(said.failed.code, said.failed.message))
      return end()
    })
    child.on('error', (error) => reject(new HansardError('io', error.message)))
    child.on('exit', () => {
      signal.removeEventListener('abort', end)
      reject(new HansardError('io', 'the process that made an outline ended'))
    })
    child.send(job)
  })
}
