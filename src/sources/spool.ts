/**
 * Standard input on disk, so that it can be looked at like any file and is never held in memory. In the archive's own folder, for
 * its owner alone, and gone when the import ends; one that a killed import has left goes with a later one.
 */
import { createHash, randomBytes } from 'node:crypto'
import fs from 'node:fs'
import { join } from 'node:path'
import type { Archive } from '../archive/archive.ts'
import { fromSystemError, HansardError } from '../errors.ts'
import { ensureFolder } from '../journal/files.ts'
import { diskFullMessage, wouldFill } from './disk.ts'
import type { Disk } from './sync.ts'

export type Spooled = {
  readonly path: string
  /** From its content: the same input twice is the same. */
  readonly name: string
  remove(): void
}

/** What standard input is kept under. */
export const STDIN_ROOT = 'stdin'

/** Throws `not-a-transcript` when there is nothing, `disk-full` before too little of the disk is free. */
export async function spool(
  archive: Archive,
  chunks: AsyncIterable<Buffer>,
  disk?: (folder: string) => Disk,
): Promise<Spooled> {
  const folder = join(archive.home, 'index')
  ensureFolder(archive.files, folder)
  removeOld(folder)
  const path = join(folder, `${PREFIX}${randomBytes(8).toString('hex')}`)
  const remove = (): void => fs.rmSync(path, { force: true })
  const hash = createHash('sha256')
  let bytes = 0
  let unasked = ASK_BYTES
  try {
    const file = fs.openSync(path, 'wx', 0o600)
    try {
      for await (const chunk of chunks) {
        unasked += chunk.length
        if (unasked >= ASK_BYTES) {
          // All of it is kept as well, beside what is spooled.
          if (wouldFill(archive.home, ASK_BYTES + bytes, disk)) throw tooFull()
          unasked = 0
        }
        hash.update(chunk)
        bytes += chunk.length
        for (let from = 0; from < chunk.length;) from += fs.writeSync(file, chunk, from)
      }
    } finally {
      fs.closeSync(file)
    }
    if (bytes === 0) throw new HansardError('not-a-transcript', 'standard input is empty')
  } catch (error) {
    remove()
    throw fromSystemError(error, 'standard input')
  }
  return { path, name: hash.digest('hex').slice(0, 16), remove }
}

const PREFIX = 'stdin-'
/** The disk is asked again after so many bytes. */
const ASK_BYTES = 16 * 1024 * 1024
const OLD_MS = 24 * 3_600_000

function removeOld(folder: string): void {
  for (const name of fs.readdirSync(folder)) {
    if (!name.startsWith(PREFIX)) continue
    const path = join(folder, name)
    const stat = fs.lstatSync(path, { throwIfNoEntry: false })
    if (stat !== undefined && Date.now() - stat.mtimeMs > OLD_MS) fs.rmSync(path, { force: true })
  }
}

function tooFull(): HansardError {
  return new HansardError('disk-full', diskFullMessage('standard input'), {
    hint: 'free some space and run the command again',
  })
}
