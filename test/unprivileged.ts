/** What somebody without rights may do: root passes every check of permissions, and tests often run as root. */
import { execFileSync } from 'node:child_process'
import { chmodSync } from 'node:fs'

const NOBODY = 65_534

/** Runs it with the file at `path` closed to whoever runs it. Synchronous: the whole process is somebody else meanwhile. */
export function withClosed<T>(path: string, run: () => T): T {
  chmodSync(path, 0o000)
  const isRoot = process.geteuid?.() === 0
  if (isRoot) process.seteuid?.(NOBODY)
  try {
    return run()
  } finally {
    if (isRoot) process.seteuid?.(0)
    chmodSync(path, 0o700)
  }
}

export type Unprivileged = {
  /** The folder that everything lies in, which may be read. */
  readonly base: string
  /** What is theirs, to write to and to close. */
  readonly own: readonly string[]
  /** What nobody may look into meanwhile. */
  readonly closed?: readonly string[]
}

/** The same for what takes its time: nothing else may go on in the process. */
export async function unprivileged<T>(
  { base, own, closed = [] }: Unprivileged,
  run: () => Promise<T>,
): Promise<T> {
  const isRoot = process.geteuid?.() === 0
  if (isRoot) {
    execFileSync('chmod', ['-R', 'a+rX', base])
    execFileSync('chown', ['-R', `${NOBODY}`, ...own])
  }
  for (const path of closed) chmodSync(path, 0o000)
  if (isRoot) process.seteuid?.(NOBODY)
  try {
    return await run()
  } finally {
    if (isRoot) process.seteuid?.(0)
    for (const path of closed) chmodSync(path, 0o700)
  }
}
