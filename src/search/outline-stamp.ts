/** What tells that a session which no pass has read yet has grown. */
import fs from 'node:fs'
import type { Archive } from '../archive/archive.ts'

export function segmentSizes(archive: Archive, id: string): readonly number[] {
  return archive.segments(id).map((path) => fs.statSync(path, { throwIfNoEntry: false })?.size ?? 0)
}
