/** Paths that formats may name, and folders that no planted link leads elsewhere. */
import { dirname, join, sep } from 'node:path'
import { HansardError } from '../errors.ts'
import type { Files } from '../journal/files.ts'

/** Relative, below, and plain: what formats are allowed to name. */
export function checkPath(path: string): string {
  const parts = path.split('/')
  const bad = path.includes('\0') || path.includes('\\') || parts.some((part) => part === '' || part === '..')
  if (!bad) return path
  throw new HansardError('unsafe-path', `not a path below the root: ${JSON.stringify(path)}`)
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** `<stem>.<n>.<ext>`: what an earlier execution's file is renamed to. */
export function numbered(path: string, n: number): string {
  const dot = path.lastIndexOf('.')
  return `${path.slice(0, dot)}.${n}${path.slice(dot)}`
}

/** The path that `numbered` was given, where this is one that it made. */
export function unnumbered(path: string): string | undefined {
  const [, stem, ending] = /^(.*[^/])\.[1-9]\d{0,8}(\.[^./]*)$/s.exec(path) ?? []
  return stem === undefined || ending === undefined ? undefined : `${stem}${ending}`
}

/** The number in a name that `numbered` made of the path; undefined for any other name. */
export function numberIn(path: string, name: string): number | undefined {
  const own = nameOf(path)
  const dot = own.lastIndexOf('.')
  const middle = name.slice(dot + 1, name.length - (own.length - dot))
  const isSibling = /^[1-9]\d{0,8}$/.test(middle) && numbered(own, Number(middle)) === name
  return isSibling ? Number(middle) : undefined
}

/**
 * Makes each folder below `trusted` down to the one asked for, and refuses one that is a link: a planted link would lead writes
 * elsewhere. What `trusted` itself is, and what is above it, was the caller's choice.
 */
export function makeSafeFolder(files: Files, trusted: string, folder: string): void {
  files.makeFolder(trusted)
  for (const at of foldersBelow(trusted, folder)) {
    if (checkFolder(files, at)) continue
    files.makeFolder(at)
    files.syncFolder(dirname(at))
  }
}

/** True when the folder is there and no link is on the way to it; false when it is not there. Throws for a link. */
export function isSafeFolder(files: Files, trusted: string, folder: string): boolean {
  return foldersBelow(trusted, folder).every((at) => checkFolder(files, at))
}

function foldersBelow(trusted: string, folder: string): readonly string[] {
  const parts = folder.slice(trusted.length).split(sep).filter(Boolean)
  return parts.map((_, index) => join(trusted, ...parts.slice(0, index + 1)))
}

function checkFolder(files: Files, path: string): boolean {
  const kind = files.kind(path)
  if (kind === undefined || kind === 'folder') return kind === 'folder'
  throw new HansardError('unsafe-path', `${path} is not a folder`, {
    hint: 'remove it, or choose another place',
  })
}
