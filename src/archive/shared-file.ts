/**
 * A small file that several processes rewrite from what it holds: an index beside the runs. One at a time, so that no change is
 * lost; a lock that a crash left is taken over.
 */
import { join } from 'node:path'
import { writeWhole, type Files } from '../journal/files.ts'
import { readWholeFile } from './bytes.ts'
import { sleepForLock } from './lock.ts'

/** How long a change may take that is not ours. After that a lock that is still held is an error. */
const WAIT_MS = 2000

export function updateShared(
  files: Files,
  folder: string,
  name: string,
  change: (current: string | undefined) => string,
): void {
  const release = sleepForLock(files, folder, `.${name}.lock`, WAIT_MS)
  try {
    const changed = change(readWholeFile(files, join(folder, name))?.toString('utf8'))
    writeWhole(files, folder, name, Buffer.from(changed))
  } finally {
    release()
  }
}
