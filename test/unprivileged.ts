/** What somebody without rights may do: root passes every check of permissions, and tests often run as root. */
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
