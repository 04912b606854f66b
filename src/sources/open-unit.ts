/** The files of a unit, opened: those that were kept of it with all their versions, and those that lie where its agent wrote them. */
import { openArchive } from '../archive/archive.ts'
import { openKept, type KeptFiles, type KeptPlace } from '../archive/kept.ts'
import { isHansardError } from '../errors.ts'
import { nodeFiles } from '../journal/files.ts'
import { isLong, type FileLists } from './file-lists.ts'
import { oneAtATime } from './one-at-a-time.ts'
import type { OpenSource } from './open.ts'
import type { UnitPlace } from './unit-place.ts'
import { versionsOf, type UnitVersion } from './versions.ts'

/** `enter`: before what takes much memory. `onLong`: told of rows of many MB. See `oneAtATime`. */
export type Gate = { readonly enter: () => Promise<void>; readonly onLong?: () => void }

/** Of what is read in place, all that was kept of it before is an older version. None when it is nowhere. */
export async function openVersions(
  { home, agent, root, paths, isKept }: UnitPlace,
  lists?: FileLists,
): Promise<readonly UnitVersion[]> {
  const kept = keptIn(home).place(agent, root)
  if (isKept) return versionsOf(kept, paths, { lists })
  const { openFiles } = await import('./open-files.ts')
  const open = (): Promise<OpenSource> => openFiles(root, paths, lists)
  if (await isThere(open, isLong(paths, lists) ? paths : undefined)) {
    // Of a place that is read for the first time, no file needs to be looked for.
    return isNew(kept) ? [{ versions: new Map(), open }] : versionsOf(kept, paths, { here: open, lists })
  }
  return paths.some((path) => kept.file(path) !== undefined) ? versionsOf(kept, paths, { lists }) : []
}

export function gated(versions: readonly UnitVersion[], { enter, onLong }: Gate): readonly UnitVersion[] {
  return versions.map((version) => ({
    ...version,
    open: async () => oneAtATime(await version.open(), enter, onLong),
  }))
}

export function goneMessage({ root, unit }: UnitPlace): string {
  return `${root}/${unit} is gone, and nothing of it was kept`
}

/** Nothing was kept of it. */
export function isNew({ folder }: KeptPlace): boolean {
  return nodeFiles.kind(folder) === undefined
}

/** `long`: its paths, where they are too many to list them all for this. */
async function isThere(open: () => Promise<OpenSource>, long?: readonly string[]): Promise<boolean> {
  try {
    const source = await open()
    for (const path of long ?? []) if ((await source.find(path)) !== undefined) return true
    return long === undefined && (await source.list()).length > 0
  } catch (error) {
    if (isHansardError(error) && error.code === 'not-found') return false
    throw error
  }
}

/** By archive, of which a process reads one: opened anew for each of a million units, it would be looked for anew each time. */
const kepts = new Map<string, KeptFiles>()

export function keptIn(home: string): KeptFiles {
  const kept = kepts.get(home) ?? openKept(openArchive(home))
  kepts.set(home, kept)
  return kept
}
