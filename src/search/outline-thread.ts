/** Who makes an outline: a thread where there is much to read, else this one. What comes out is the same. */
import fs from 'node:fs'
import { Worker } from 'node:worker_threads'
import { HansardError } from '../errors.ts'
import { buildOutline, type OutlineJob, type OutlineProgress } from './outline-build.ts'
import type { OutlineNote } from './outline-files.ts'
import type { FromOutlineWorker } from './outline-worker.ts'

/** A thread's start takes as long as some MB. */
const WORTH_BYTES = 2 * 1024 * 1024
/** Reading leaves much behind at once: collected early, it stays small. Megabytes. */
const LIMITS = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 1024 }

export function makeOutline(
  job: OutlineJob,
  bytes: number,
  onProgress: (progress: OutlineProgress) => void,
  signal: AbortSignal,
): Promise<OutlineNote> {
  const script = workerScript()
  if (bytes < WORTH_BYTES || script === undefined) return buildOutline(job, onProgress)
  return new Promise((resolve, reject) => {
    const worker = new Worker(script, { resourceLimits: LIMITS })
    const end = (): void => void worker.terminate()
    signal.addEventListener('abort', end, { once: true })
    worker.on('message', (said: FromOutlineWorker) => {
      if ('progress' in said) return onProgress(said.progress)
      if ('note' in said) resolve(said.note)
      else reject(new HansardError(said.failed.code, said.failed.message))
      signal.removeEventListener('abort', end)
      return end()
    })
    worker.on('error', (error) => reject(new HansardError('io', error.message)))
    worker.on('exit', () => reject(new HansardError('io', 'the thread that made an outline ended')))
    worker.postMessage(job)
  })
}

/** Beside this module in the package, one folder up in the command line's bundle; not there when run from the sources. */
function workerScript(): URL | undefined {
  const places = [
    new URL('./outline-worker.js', import.meta.url),
    new URL('../outline-worker.js', import.meta.url),
  ]
  return places.find((place) => fs.existsSync(place))
}
