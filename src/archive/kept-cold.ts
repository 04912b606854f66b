/** Packs what has gone cold: kept files whose source has long not changed, with their older versions. Says what that saved. */
import { messageOf } from '../errors.ts'
import type { Archive } from './archive.ts'
import { openKept } from './kept.ts'
import { acquireLock } from './lock.ts'

export type Packed = {
  readonly files: number
  /** What those files took up before, and how much less that is now. */
  readonly bytes: number
  readonly saved: number
}

/** `before`: an instant. One that cannot be packed stays as it is, and is told of. Throws `locked` while a sync is at work. */
export async function packCold(
  archive: Archive,
  before: string,
  onProblem: (path: string, reason: string) => void,
): Promise<Packed> {
  const release = acquireLock(archive.files, archive.home)
  const packed = { files: 0, bytes: 0, saved: 0 }
  try {
    for (const place of openKept(archive).places()) {
      for await (const path of place.paths()) {
        try {
          const file = place.file(path)
          if (file === undefined || file.modifiedAt >= before) continue
          const held = place.bytesHeld(path)
          if (!(await place.pack(path))) continue
          packed.files += 1
          packed.bytes += held
          packed.saved += held - place.bytesHeld(path)
        } catch (error) {
          onProblem(`${place.root}/${path}`, messageOf(error))
        }
      }
    }
    return packed
  } finally {
    release()
  }
}
