/**
 * Names that are not there, known from one look at their folder: of a new file that is kept, a dozen names are asked for before it has
 * one. Only for folders that nobody else writes to meanwhile. Names that a disk may take for another are always asked for.
 */
import { basename, dirname } from 'node:path'
import type { Files } from '../journal/files.ts'

export type AbsentNames = {
  /** True when the folder was looked at, and nothing of the name was there. */
  isAbsent(path: string): boolean
  /** It was asked for and is not there: its folder is looked at, for the next that is asked for. */
  missed(path: string): void
  /** Something has this name from now on. */
  came(path: string): void
  /** The folder was made, and there is nothing in it yet. */
  made(folder: string): void
}

/** Folders in use at a time, and names held of each: of one with more, each is asked for. */
const MOST_FOLDERS = 8
const MOST_NAMES = 20_000

export function createAbsentNames({ list }: Pick<Files, 'list'>): AbsentNames {
  /** Undefined for one that has too many. The one that was asked for last is the last. */
  const folders = new Map<string, Set<string> | undefined>()
  let latest = ''
  /** One with many folders in it is asked for between any two of them, and must not be listed anew each time. */
  const namesIn = (folder: string): Set<string> | undefined => {
    const names = folders.get(folder)
    if (folder === latest || !folders.has(folder)) return names
    folders.delete(folder)
    folders.set(folder, names)
    latest = folder
    return names
  }
  const remember = (folder: string, names: Set<string> | undefined): void => {
    if (folders.size >= MOST_FOLDERS) folders.delete(folders.keys().next().value as string)
    folders.set(folder, names)
    latest = folder
  }
  return {
    isAbsent(path) {
      const name = foldedName(path)
      const names = name === undefined ? undefined : namesIn(dirname(path))
      return name !== undefined && names !== undefined && !names.has(name)
    },
    missed(path) {
      const folder = dirname(path)
      if (folders.has(folder)) return
      const names = list(folder, MOST_NAMES + 1)
      remember(
        folder,
        names.length > MOST_NAMES ? undefined : new Set(names.map((name) => name.toLowerCase())),
      )
    },
    came(path) {
      const folder = dirname(path)
      const names = namesIn(folder)
      if (names === undefined) return
      names.add(basename(path).toLowerCase())
      if (names.size > MOST_NAMES) folders.set(folder, undefined)
    },
    made(folder) {
      if (!folders.has(folder)) remember(folder, new Set())
    },
  }
}

/** In lower case, for disks that see no difference; undefined for one that has other spellings. */
function foldedName(path: string): string | undefined {
  const name = basename(path)
  // oxlint-disable-next-line no-control-regex
  return /[^\x20-\x7e]/.test(name) ? undefined : name.toLowerCase()
}
