/** Whether what sync knows is all there is to know here. Asked before answers that read no log, so nothing that reads one is loaded. */
import fs from 'node:fs'
import { join } from 'node:path'
import type { Archive } from '../archive/archive.ts'
import { isStagingName } from '../archive/staging.ts'
import { isDamagedDatabase } from '../sqlite/errors.ts'
import { isSettled } from './state-billing.ts'
import { openStateFiles, type SeenFile, type StateFiles } from './state-files.ts'
import { peekState, type State } from './state.ts'
import { deadUnits } from './sync-running.ts'
import { toStamp } from './stamp.ts'

/** Asked without the lock, which is left to those who have something to write. */
export async function isCurrent(archive: Archive): Promise<boolean> {
  const state = await peekState(archive)
  try {
    return state !== undefined && isStateCurrent(state, archive)
  } finally {
    state?.close()
  }
}

export function isStateCurrent({ database, isNew }: State, archive: Archive): boolean {
  try {
    const files = openStateFiles(database)
    return (
      !isNew &&
      files.countDirty() === 0 &&
      isSettled(database) &&
      areJournalsKnown(files, archive.home) &&
      deadUnits(database, archive).length === 0
    )
  } catch (error) {
    // Whoever holds the lock finds the same damage, and begins anew.
    if (isDamagedDatabase(error)) return false
    throw error
  }
}

/** As sync notes them: by device, inode, size and time of change. */
function areJournalsKnown(files: StateFiles, home: string): boolean {
  const root = join(home, 'sessions')
  const seen = [...journalsIn(root)]
  const place = files.findPlace('journal', root)
  if (place === undefined) return seen.length === 0
  return files.countIn(place) === seen.length && files.areKnown(place, seen)
}

/** What a sync's walk meets there, without what it takes to walk anywhere. Where the two differ, a sync looks again. */
function* journalsIn(root: string): Generator<SeenFile> {
  for (const folder of namesIn(root)) {
    if (isStagingName(folder.name) || !folder.isDirectory()) continue
    for (const { name } of namesIn(join(root, folder.name))) {
      if (!name.startsWith('journal-') || !name.endsWith('.jsonl')) continue
      const stat = fs.lstatSync(join(root, folder.name, name), { throwIfNoEntry: false })
      if (stat?.isFile()) yield { path: `${folder.name}/${name}`, stamp: toStamp(stat), size: stat.size }
    }
  }
}

function namesIn(folder: string): readonly fs.Dirent[] {
  try {
    return fs.readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}
