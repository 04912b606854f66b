/**
 * Files made aside and put in place together: nothing at the target is touched before all of it is known to fit. What is there
 * and the same stays as it is; what is there and holds something else is replaced only by force, and nothing else is removed.
 */
import fs from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { HansardError, fromSystemError, isHansardError } from '../errors.ts'
import { ensureFolder, nodeFiles, writeWhole } from '../journal/files.ts'
import { readWholeFile } from './bytes.ts'
import { outputExists, sameContent } from './stage.ts'

export type Staging = {
  /** A folder of its own below the root, empty at first. */
  readonly folder: string
  /** What is in it: relative paths, in order. */
  paths(): readonly string[]
  place(options: PlaceOptions): Placed
  /** The same error, speaking of the place a file was meant for. */
  restate(error: unknown): unknown
  /** Throws away what was not placed, and the folders that were made for it and stayed empty. */
  remove(): void
}

export type PlaceOptions = {
  readonly force: boolean
  /** Shared files, changed from what they hold. */
  readonly updates: readonly Update[]
  /** Files that may not stand beside the new ones: the other spelling of the same thing. */
  readonly superseded: readonly string[]
}

export type Update = { readonly path: string; readonly change: (current: string | undefined) => string }

/** Absolute paths. */
export type Placed = { readonly written: readonly string[]; readonly unchanged: readonly string[] }

const PREFIX = '.hansard-converting-'

/** What a conversion that was killed has left. No reader takes it for a transcript. */
export function isStagingName(name: string): boolean {
  return name.startsWith(PREFIX)
}

export function openStaging(root: string): Staging {
  const made = missingFolders(root)
  const folder = makeStaging(root)
  const remove = (): void => {
    process.off('exit', remove)
    fs.rmSync(folder, { recursive: true, force: true })
    for (const path of made) if (!removeEmpty(path)) return
  }
  // Whoever ends the process on a signal ends a conversion without a trace.
  process.once('exit', remove)
  return {
    folder,
    paths: () => pathsBelow(folder),
    place: (options) => place(folder, root, options),
    restate(error) {
      if (!isHansardError(error)) return error
      const { code, message, hint, cause } = error
      return new HansardError(code, message.replaceAll(folder, root), { ...(hint && { hint }), cause })
    },
    remove,
  }
}

/** The root and those above it that are not there, deepest first. */
function missingFolders(root: string): readonly string[] {
  const missing: string[] = []
  for (let at = root; nodeFiles.kind(at) === undefined && dirname(at) !== at; at = dirname(at))
    missing.push(at)
  return missing
}

function makeStaging(root: string): string {
  try {
    nodeFiles.makeFolder(root)
    return fs.mkdtempSync(join(root, PREFIX))
  } catch (error) {
    throw fromSystemError(error, root)
  }
}

function removeEmpty(folder: string): boolean {
  try {
    fs.rmdirSync(folder)
    return true
  } catch {
    return false
  }
}

function pathsBelow(folder: string, below = ''): string[] {
  return fs
    .readdirSync(join(folder, below), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((found) => {
      const path = below === '' ? found.name : `${below}/${found.name}`
      return found.isDirectory() ? pathsBelow(folder, path) : [path]
    })
}

function place(from: string, root: string, { force, updates, superseded }: PlaceOptions): Placed {
  const paths = pathsBelow(from)
  const staged = new Set(paths)
  const extra = superseded.filter((path) => !staged.has(path))
  refuseLinks(root, [...paths, ...extra, ...updates.map(({ path }) => path)])

  const isThere = (path: string): boolean => nodeFiles.kind(join(root, path)) !== undefined
  const isSame = (path: string): boolean => sameContent(nodeFiles, join(from, path), join(root, path))
  const same = new Set(paths.filter((path) => isThere(path) && (isIgnoreFile(path) || isSame(path))))
  const stale = extra.filter(isThere)
  const inTheWay = [...paths.filter((path) => isThere(path) && !same.has(path)), ...stale]
  const [first] = inTheWay
  if (first !== undefined && !force) throw outputExists(join(root, first), inTheWay.length - 1)

  const changed = changeShared(root, updates)
  const fresh = paths.filter((path) => !same.has(path))
  for (const path of fresh) putInPlace(join(from, path), join(root, path))
  for (const path of stale) nodeFiles.remove(join(root, path))
  for (const { path, content } of changed.written) writeShared(root, path, content)
  for (const folder of new Set([...fresh, ...stale].map((path) => dirname(join(root, path))))) {
    nodeFiles.syncFolder(folder)
  }
  const toReport = (all: readonly string[]): readonly string[] =>
    all.filter((path) => !isIgnoreFile(path)).map((path) => join(root, path))
  return {
    written: toReport([...fresh, ...changed.written.map(({ path }) => path)]),
    unchanged: toReport([...same, ...changed.unchanged]),
  }
}

/** A `.gitignore` that is there was somebody's decision. */
function isIgnoreFile(path: string): boolean {
  return path === '.gitignore' || path.endsWith('/.gitignore')
}

/** No link below the root is followed: a planted one would lead writes elsewhere. */
function refuseLinks(root: string, paths: readonly string[]): void {
  const folders = new Set<string>()
  for (const path of paths) {
    for (let at = dirname(path); at !== '.' && !folders.has(at); at = dirname(at)) folders.add(at)
  }
  for (const folder of folders) {
    const kind = nodeFiles.kind(join(root, folder))
    if (kind === undefined || kind === 'folder') continue
    throw new HansardError('unsafe-path', `${join(root, folder)} is not a folder`, {
      hint: 'remove it, or choose another place with --out',
    })
  }
}

type Changed = {
  readonly written: readonly { readonly path: string; readonly content: string }[]
  readonly unchanged: readonly string[]
}

function changeShared(root: string, updates: readonly Update[]): Changed {
  const before = new Map<string, string | undefined>()
  const after = new Map<string, string>()
  for (const { path, change } of updates) {
    if (!before.has(path)) {
      before.set(path, readWholeFile(nodeFiles, join(root, path))?.toString('utf8'))
    }
    after.set(path, change(after.get(path) ?? before.get(path)))
  }
  const all = [...after].map(([path, content]) => ({ path, content }))
  return {
    written: all.filter(({ path, content }) => content !== before.get(path)),
    unchanged: all.filter(({ path, content }) => content === before.get(path)).map(({ path }) => path),
  }
}

function putInPlace(from: string, to: string): void {
  try {
    ensureFolder(nodeFiles, dirname(to))
    nodeFiles.rename(from, to)
  } catch (error) {
    throw fromSystemError(error, to)
  }
}

function writeShared(root: string, path: string, content: string): void {
  const target = join(root, path)
  try {
    ensureFolder(nodeFiles, dirname(target))
    writeWhole(nodeFiles, dirname(target), basename(target), Buffer.from(content))
  } catch (error) {
    throw fromSystemError(error, target)
  }
}
