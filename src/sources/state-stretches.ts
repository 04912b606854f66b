/**
 * Stretches of files that were all found unchanged, known by one digest each: as long as nothing in one has changed, its files need
 * not be compared one by one. Where a stretch ends is told by the names in it, so that a file that comes or goes changes one of them.
 */
import { createHash } from 'node:crypto'
import type { Database } from '../sqlite/driver.ts'
import type { SeenFile } from './state-files.ts'
import { prepared } from './state-statements.ts'

export type Stretches = {
  /** Whether these files, in this order, are known and need nothing. */
  isKnown(stretch: readonly SeenFile[]): boolean
  /** They were compared, and this many had changed. */
  compared(stretch: readonly SeenFile[], changes: number): void
  /** Remembers what was found. Stretches that were not met again are forgotten as soon as anything is new. */
  settle(): void
}

/** `isToKeep`: a file that is only read in place needs nothing then, and something when all is to be kept. */
export function openStretches(database: Database, place: number, isToKeep: boolean): Stretches {
  const known = new Set(
    prepared(database, 'SELECT digest FROM stretches WHERE place = ?')
      .all(place)
      .map(({ digest }) => String(digest)),
  )
  const met: string[] = []
  const unchanged: string[] = []
  let hasChanges = false
  return {
    isKnown(stretch) {
      const digest = digestOf(stretch, isToKeep)
      if (!known.has(digest)) return false
      met.push(digest)
      return true
    },
    compared(stretch, changes) {
      if (changes > 0) hasChanges = true
      else unchanged.push(digestOf(stretch, isToKeep))
    },
    settle() {
      if (!hasChanges && unchanged.length === 0) return
      database.transaction(() => {
        prepared(
          database,
          'DELETE FROM stretches WHERE place = ? AND digest NOT IN (SELECT value FROM json_each(?))',
        ).run(place, JSON.stringify(met))
        const add = prepared(database, 'INSERT OR IGNORE INTO stretches (place, digest) VALUES (?, ?)')
        for (const digest of unchanged) add.run(place, digest)
      })
    },
  }
}

/** One file in so many ends a stretch. */
const MEAN = 128
const MOST = 1024

/** Files one after the other, as stretches. */
export function* inStretches(files: Iterable<SeenFile>): Generator<readonly SeenFile[], void, undefined> {
  let stretch: SeenFile[] = []
  for (const file of files) {
    stretch.push(file)
    if (!endsStretch(file.path) && stretch.length < MOST) continue
    yield stretch
    stretch = []
  }
  if (stretch.length > 0) yield stretch
}

function endsStretch(path: string): boolean {
  let hash = 0
  for (let at = 0; at < path.length; at += 1) hash = (Math.imul(hash, 31) + path.charCodeAt(at)) | 0
  // The low bits of such a sum say little about the first characters.
  return (hash ^ (hash >>> 15)) % MEAN === 0
}

/** A NUL is in no path, and a newline in no stamp. */
function digestOf(stretch: readonly SeenFile[], isToKeep: boolean): string {
  const hash = createHash('sha256').update(isToKeep ? 'keep\n' : 'look\n')
  for (const { path, stamp } of stretch) hash.update(`${path}\0${stamp}\n`)
  return hash.digest('base64')
}
