/**
 * Marks files that are being appended to. A machine that loses its power may keep the new size and lose the bytes; those last
 * 4 KB are looked at before anything is appended again, and a mark says for a longer piece that more must be.
 */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { ensureFolder, writeWhole, type Files } from '../journal/files.ts'
import { removeQuietly } from './kept-copy.ts'

export type Growing = {
  has(path: string): boolean
  /** On disk when it returns. */
  mark(path: string): void
  /** Losing this costs reading a file again, nothing else: it is not synced. */
  unmark(path: string): void
}

export function openGrowing(files: Files, place: string): Growing {
  const folder = join(place, 'growing')
  const nameOf = (path: string): string => createHash('sha256').update(path).digest('hex').slice(0, 32)
  /** Where nothing has ever grown, no name has to be made up. */
  const isMade = (): boolean => files.kind(folder) !== undefined
  /** Marks that could not be written: the disk fails, and this process still knows. */
  const held = new Set<string>()
  return {
    has: (path) => held.has(path) || (isMade() && files.kind(join(folder, nameOf(path))) !== undefined),
    mark(path) {
      held.add(path)
      ensureFolder(files, folder)
      writeWhole(files, folder, nameOf(path), Buffer.from(`${JSON.stringify({ path })}\n`))
    },
    unmark(path) {
      held.delete(path)
      if (isMade()) removeQuietly(files, join(folder, nameOf(path)))
    },
  }
}
