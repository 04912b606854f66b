/** Turns a kept file that has gone cold into a packed one, and lets go of the plain one once the packed one reads the same. */
import { fromSystemError } from '../errors.ts'
import type { Files } from '../journal/files.ts'
import { chunksOf, commonLength, openContent } from './kept-content.ts'
import { removeQuietly, writeNew } from './kept-copy.ts'
import { toMembers } from './kept-members.ts'
import type { Shelf } from './kept-shelf.ts'

/** False when it stays as it is: packed already, or no smaller when packed. */
export async function packFile(files: Files, shelf: Shelf, path: string, version?: number): Promise<boolean> {
  const stored = shelf.locate(path, version)
  if (stored === undefined || stored.isPacked) return false
  const temporary = shelf.temporary()
  const plain = openContent(files, stored)
  try {
    const members = toMembers(chunksOf(openContent(files, stored)))
    const packedBytes = await writeNew(files, temporary, members, plain.identity.modified)
    if (packedBytes >= plain.size || !isWhole(files, temporary, plain.size, stored.at)) return false
    shelf.putPacked(path, version, temporary)
    return true
  } catch (error) {
    throw fromSystemError(error, path)
  } finally {
    plain.close()
    removeQuietly(files, temporary)
  }
}

/** True when the packed file holds all that the plain one holds now: it may have grown since. */
function isWhole(files: Files, temporary: string, size: number, at: string): boolean {
  const packed = openContent(files, { at: temporary, isPacked: true })
  const plain = openContent(files, { at, isPacked: false })
  try {
    return packed.size === size && plain.size === size && commonLength(packed, plain) === size
  } finally {
    packed.close()
    plain.close()
  }
}
