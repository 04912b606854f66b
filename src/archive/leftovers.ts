/** Temporary files that processes left which died while they wrote: nobody will ever rename them. */
import { join } from 'node:path'
import { systemCode } from '../errors.ts'
import type { Files } from '../journal/files.ts'

/** `.<name>.<pid>.<random>.tmp`, as `writeWhole` and stages name them. */
const TEMPORARY = /^\..+\.(\d{1,10})\.[a-z0-9]{1,8}\.tmp$/

export function removeLeftovers(files: Files, folder: string): void {
  for (const name of files.list(folder)) {
    const pid = Number(TEMPORARY.exec(name)?.[1])
    if (Number.isNaN(pid) || isAlive(pid) || files.kind(join(folder, name)) !== 'file') continue
    try {
      files.remove(join(folder, name))
    } catch (error) {
      // Somebody else recovers, too.
      if (systemCode(error) !== 'ENOENT') throw error
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return systemCode(error) !== 'ESRCH'
  }
}
