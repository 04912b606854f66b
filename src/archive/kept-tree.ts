/**
 * A folder of kept files by the paths they had. Two paths never share a file: where a file system takes two names for one, or a
 * file became a folder, the second gets another name. Nothing is reached through a link.
 */
import { join, sep } from 'node:path'
import { HansardError } from '../errors.ts'
import type { FileKind, Files } from '../journal/files.ts'
import { createSortedTexts } from '../journal/sorted-texts.ts'
import { fromNames, otherNames, toNames } from './kept-names.ts'
import { makeSafeFolder } from './safe-path.ts'

export type KeptTree = {
  /** Where the file is, absolute; undefined when it is not there. */
  find(path: string, suffix?: string): string | undefined
  /** Where the file is or is to be. Its folders are there when this returns. */
  make(path: string, suffix?: string): string
  /** The folder that the file would be in, if that is there, and the names it may have in it. */
  lies(path: string): { readonly folder: string; readonly names: readonly string[] } | undefined
  /** Every file with this suffix, in the order of paths but for names that had to be changed. */
  walk(suffix?: string): Generator<string>
}

/** Folders remembered: those of a place, and no more of one with any number. */
const MOST_FOLDERS = 1000

/** `join` for one name below a folder, neither of which has anything to be resolved: it would look at every character of both. */
const below = (folder: string, name: string): string => folder + sep + name

export function openTree(files: Files, trusted: string, root: string): KeptTree {
  const isCaseBlind = createCaseProbe(files, trusted)

  /** What has exactly this name. `other` for what has it in another case. */
  const stands = (folder: string, name: string): FileKind | undefined => {
    const kind = files.kind(below(folder, name))
    if (kind === undefined || !isCaseBlind()) return kind
    return files.list(folder).includes(name) ? kind : 'other'
  }
  /** The first of the names it may have; nearly always the one it has. */
  const firstOf = (name: string, is: (other: string) => boolean): string | undefined =>
    is(name) ? name : otherNames(name).find((other) => other !== name && is(other))

  /** Folders found before, by the names that lead to them. A file in one that went away since is not there either. */
  const found = new Map<string, string>()
  const remember = (key: string, folder: string): string => {
    if (found.size >= MOST_FOLDERS) found.clear()
    found.set(key, folder)
    return folder
  }
  const findFolder = (names: readonly string[]): string | undefined => {
    const key = names.join('/')
    const known = found.get(key)
    if (known !== undefined) return known
    const last = names.at(-1)
    if (last === undefined) return files.kind(root) === 'folder' ? root : undefined
    const above = findFolder(names.slice(0, -1))
    const own = above && firstOf(last, (other) => stands(above, other) === 'folder')
    return above !== undefined && own !== undefined ? remember(key, below(above, own)) : undefined
  }
  const makeFolder = (names: readonly string[]): string => {
    const key = names.join('/')
    const known = found.get(key)
    if (known !== undefined && files.kind(known) === 'folder') return known
    let folder = root
    makeSafeFolder(files, trusted, folder)
    for (const name of names) {
      const above = folder
      const there = firstOf(name, (other) => stands(above, other) === 'folder')
      const found = there ?? firstOf(name, (other) => stands(above, other) === undefined)
      if (found === undefined) throw taken(join(above, name))
      folder = join(above, found)
      if (there !== undefined) continue
      files.makeFolder(folder)
      files.syncFolder(above)
    }
    return remember(key, folder)
  }

  return {
    find(path, suffix = '') {
      // Most places hold nothing that is packed, or older: one look is enough to know.
      if (suffix !== '' && files.kind(root) === undefined) return undefined
      const names = namesOf(path)
      const folder = findFolder(names.slice(0, -1))
      if (folder === undefined) return undefined
      const found = firstOf(names.at(-1) as string, (n) => stands(folder, n + suffix) === 'file')
      return found && below(folder, found + suffix)
    },
    make(path, suffix = '') {
      const names = namesOf(path)
      const folder = makeFolder(names.slice(0, -1))
      const own = names.at(-1) as string
      const found =
        firstOf(own, (n) => stands(folder, n + suffix) === 'file') ??
        firstOf(own, (n) => stands(folder, n + suffix) === undefined)
      if (found === undefined) throw taken(join(folder, own))
      return join(folder, found + suffix)
    },
    lies(path) {
      if (files.kind(root) === undefined) return undefined
      const names = namesOf(path)
      const folder = findFolder(names.slice(0, -1))
      if (folder === undefined) return undefined
      const last = names.at(-1) as string
      return { folder, names: [...new Set([last, ...otherNames(last)])] }
    },
    walk: (suffix = '') => walk(files, root, [], suffix),
  }
}

/** One file is looked for in several trees, and again: its names are found once. */
let lately: { readonly path: string; readonly names: readonly string[] } | undefined

function namesOf(path: string): readonly string[] {
  if (lately?.path !== path) lately = { path, names: toNames(path) }
  return lately.names
}

function* walk(files: Files, folder: string, above: readonly string[], suffix: string): Generator<string> {
  // By what paths are sorted by, then the name, which no NUL is in either: a folder may have a million.
  const found = createSortedTexts()
  for (const name of files.list(folder)) {
    const kind = files.kind(join(folder, name))
    if (kind === 'folder') found.add(`${plainName(name)}/\0${name}`)
    else if (kind === 'file' && name.endsWith(suffix)) found.add(`${plainName(name)}\0${name}`)
  }
  for (const text of found.inOrder()) {
    const [key = '', name = ''] = text.split('\0')
    if (key.endsWith('/')) yield* walk(files, join(folder, name), [...above, name], suffix)
    else {
      const path = fromNames([...above, name.slice(0, name.length - suffix.length)])
      if (path !== undefined) yield path
    }
  }
}

/** For the order of paths. */
function plainName(name: string): string {
  return name.includes('%') ? (fromNames([name]) ?? name) : name
}

/** Whether the disk takes `PLACE.JSON` for the place's own file. */
function createCaseProbe(files: Files, folder: string): () => boolean {
  let known: boolean | undefined
  return () => {
    // Before the place's own file is there, nobody can tell.
    if (known === undefined && files.kind(join(folder, 'place.json')) === undefined) return false
    return (known ??= files.kind(join(folder, 'PLACE.JSON')) !== undefined)
  }
}

function taken(path: string): HansardError {
  return new HansardError('unsafe-path', `${path} is in the way of a kept file`, {
    hint: 'remove it: it is none of ours',
  })
}
