/**
 * Which older versions of a path there are, by one listing of their folder, which is remembered as long as it is true: a place may have
 * a hundred thousand files that were rewritten. Of each name a few bytes are held.
 */
import { basename, dirname } from 'node:path'
import { createIdSet, type IdSet } from '../formats/id-set.ts'
import type { Files } from '../journal/files.ts'
import { PACKED } from './kept-find.ts'
import type { KeptTree } from './kept-tree.ts'

export type KeptVersions = {
  /** Sorted; all that are there, and maybe some that were. */
  of(path: string): readonly number[]
  /**
   * Does what adds or takes away this file among the versions. Only for who has the archive's lock: nobody else changes the folder
   * meanwhile, and it need not be listed again.
   */
  change(at: string, work: () => void): void
}

/** A folder as it was at a time. */
type Listed = { readonly names: IdSet; highest: number; count: number; modified: number | undefined }

const OLDER = /\.([1-9]\d{0,8})(?:\.gz)?$/
/** Of one path, each is asked for by its name; what has more is listed. */
const MOST_ASKED = 1000
/** All folders' names together; 16 bytes each. */
const MOST_NAMES = 2_000_000
/** Clocks of file systems tick every few ms, FAT's every 2 s: a folder listed in the tick of its last change may have another in the same. */
const TICK_MS = 2000

export function openVersions(files: Files, older: KeptTree): KeptVersions {
  const listed = new Map<string, Listed>()
  let total = 0

  const modifiedOf = (folder: string): number | undefined => files.identityAt(folder)?.modified
  const remember = (folder: string, now: Listed): void => {
    if (total + now.count > MOST_NAMES) {
      listed.clear()
      total = 0
    }
    total += now.count
    listed.set(folder, now)
  }
  const forget = (folder: string): void => {
    total -= listed.get(folder)?.count ?? 0
    listed.delete(folder)
  }
  const remembered = (folder: string, modified: number | undefined): Listed | undefined => {
    const known = listed.get(folder)
    if (known === undefined || (modified !== undefined && known.modified === modified)) return known
    forget(folder)
    return undefined
  }
  const list = (folder: string, modified: number | undefined): Listed => {
    const now: Listed = { names: createIdSet(), highest: 0, count: 0, modified }
    for (const name of files.list(folder)) add(now, name)
    return now
  }

  return {
    of(path) {
      const lies = older.lies(path)
      if (lies === undefined) return []
      const { folder, names } = lies
      // Before it is listed: what changes in between is then seen the next time.
      const modified = modifiedOf(folder)
      let known = remembered(folder, modified)
      if (known === undefined) {
        known = list(folder, modified)
        if (modified !== undefined && Date.now() - modified >= TICK_MS) remember(folder, known)
      }
      if (known.count === 0) return []
      return known.highest > MOST_ASKED ? among(files.list(folder), names) : asked(known, names)
    },
    change(at, work) {
      const folder = dirname(at)
      const before = modifiedOf(folder)
      const known = remembered(folder, before) ?? list(folder, before)
      forget(folder)
      work()
      add(known, basename(at))
      known.modified = modifiedOf(folder)
      remember(folder, known)
    },
  }
}

function add(listed: Listed, name: string): void {
  const version = versionOf(name)
  if (version === undefined) return
  // Packed or not is the same version.
  if (listed.names.take(name.endsWith(PACKED) ? name.slice(0, -PACKED.length) : name)) listed.count += 1
  if (version > listed.highest) listed.highest = version
}

function versionOf(name: string): number | undefined {
  const found = OLDER.exec(name)?.[1]
  return found === undefined ? undefined : Number(found)
}

function asked({ names, highest }: Listed, own: readonly string[]): readonly number[] {
  const found: number[] = []
  for (let version = 1; version <= highest; version += 1) {
    if (own.some((name) => names.has(`${name}.${version}`))) found.push(version)
  }
  return found
}

function among(there: readonly string[], own: readonly string[]): readonly number[] {
  const found = new Set<number>()
  for (const name of there) {
    const version = versionOf(name)
    if (version !== undefined && own.some((one) => isOf(one, name))) found.add(version)
  }
  return [...found].sort((a, b) => a - b)
}

/** Nothing but the version stands behind. */
function isOf(own: string, name: string): boolean {
  return name.startsWith(`${own}.`) && OLDER.exec(name)?.index === own.length
}
