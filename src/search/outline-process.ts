/**
 * Who makes an outline: a process of its own where there is much to read, whose memory goes with it, else this one. What comes out is the
 * same.
 */
import { fork } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import { fileURLToPath } from 'node:url'
import { HansardError } from '../errors.ts'
import { buildOutline, type OutlineJob, type OutlineProgress } from './outline-build.ts'
import type { OutlineNote } from './outline-files.ts'
import type { FromOutlineWorker } from './outline-worker.ts'

/** A process's start takes as long as some MB. */
const WORTH_BYTES = 2 * 1024 * 1024
/** Reading leaves much behind at once: collected early, it stays small. Megabytes. */
const LIMITS = ['--max-semi-space-size=4', '--max-old-space-size=2048']
/** Behind whoever looks at what is there already. */
const NICE = 5

export function makeOutline(
  job: OutlineJob,
  bytes: number,
  onProgress: (progress: OutlineProgress) => void,
  signal: AbortSignal,
): Promise<OutlineNote> {
  const script = workerScript()
  if (bytes < WORTH_BYTES || script === undefined) return buildOutline(job, onProgress)
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(script), [], { execArgv: LIMITS, stdio: 'ignore' })
    const end = (): void => void child.kill()
    signal.addEventListener('abort', end, { once: true })
    if (child.pid !== undefined) behind(child.pid)
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

function behind(pid: number): void {
  try {
    os.setPriority(pid, NICE)
  } catch {
    // It is done as soon as anything else.
  }
}

/** Beside this module in the package, one folder up in the command line's bundle; not there when run from the sources. */
function workerScript(): URL | undefined {
  const places = [
    new URL('./outline-worker.js', import.meta.url),
    new URL('../outline-worker.js', import.meta.url),
  ]
  return places.find((place) => fs.existsSync(place))
}
