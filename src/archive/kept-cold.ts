/** Packs what has gone cold: kept files whose source has long not changed, with their older versions. Says what that saved. */
import { messageOf } from '../errors.ts'
import type { Archive } from './archive.ts'
import { openKept, type KeptPlace } from './kept.ts'
import { acquireLock } from './lock.ts'

export type Packed = {
  readonly files: number
  /** What those files took up before, and how much less that is now. */
  readonly bytes: number
  readonly saved: number
}

/** Of the files that are old enough, packed already or not. */
export type PackProgress = {
  readonly done: number
  readonly of: number
  readonly bytes: number
  readonly ofBytes: number
}

type OnProblem = (path: string, reason: string) => void

/** `before`: an instant. One that cannot be packed stays as it is, and is told of. Throws `locked` while a sync is at work. */
export async function packCold(
  archive: Archive,
  before: string,
  onProblem: OnProblem,
  onProgress?: (progress: PackProgress) => void,
): Promise<Packed> {
  const release = acquireLock(archive.files, archive.home)
  const packed = { files: 0, bytes: 0, saved: 0 }
  try {
    const cold = await findCold(archive, before, onProblem)
    const ofBytes = cold.reduce((sum, { held }) => sum + held, 0)
    let bytes = 0
    for (const [at, { place, path, held }] of cold.entries()) {
      try {
        if (await place.pack(path)) {
          packed.files += 1
          packed.bytes += held
          packed.saved += held - place.bytesHeld(path)
        }
      } catch (error) {
        onProblem(`${place.root}/${path}`, messageOf(error))
      }
      bytes += held
      onProgress?.({ done: at + 1, of: cold.length, bytes, ofBytes })
    }
    return packed
  } finally {
    release()
  }
}

type Cold = { readonly place: KeptPlace; readonly path: string; readonly held: number }

async function findCold(archive: Archive, before: string, onProblem: OnProblem): Promise<readonly Cold[]> {
  const cold: Cold[] = []
  for (const place of openKept(archive).places()) {
    for await (const path of place.paths()) {
      try {
        const file = place.file(path)
        if (file !== undefined && file.modifiedAt < before)
          cold.push({ place, path, held: place.bytesHeld(path) })
      } catch (error) {
        onProblem(`${place.root}/${path}`, messageOf(error))
      }
    }
  }
  return cold
}
