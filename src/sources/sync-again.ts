/** What could not be taken in whole, and is as it was then: told with every sync, and not read again. */
import fs from 'node:fs'
import { join } from 'node:path'
import { parseGlobs } from './globs.ts'
import type { FoundPlace } from './places.ts'
import type { LookOptions } from './sync-look.ts'

/** Of places that were just looked at: how many files there are of the kind. */
export function tellAgain(
  places: ReadonlyMap<number, FoundPlace>,
  { files, problems, exclude }: Pick<LookOptions, 'files' | 'problems' | 'exclude'>,
): number {
  let count = 0
  for (const [place, { root, files: patterns }] of places) {
    const halves = files.halves(place)
    if (halves.length === 0) continue
    const globs = parseGlobs(patterns)
    for (const { id, path, problem, reason } of halves) {
      const absolute = join(root, path)
      // A sync may be of some files of a place.
      if (!globs.matches(path) || exclude.isExcluded(root, path)) continue
      if (isGone(absolute)) {
        // What was kept of it is all that there will be.
        files.gone(id)
        continue
      }
      problems.add(problem, `${absolute}: ${reason}`)
      count += 1
    }
  }
  return count
}

/** One that may not be looked at is there. */
function isGone(path: string): boolean {
  try {
    return fs.lstatSync(path, { throwIfNoEntry: false }) === undefined
  } catch {
    return false
  }
}
