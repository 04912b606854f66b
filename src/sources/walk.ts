/**
 * The regular files below a folder that patterns ask for, one after the other, sorted within each folder: a million files take
 * the memory of some thousand names, also where they lie in one folder. Links are never followed. What cannot be looked into is told of,
 * and the rest goes on.
 */
import fs from 'node:fs'
import os from 'node:os'
import { join, sep } from 'node:path'
import { isStagingName } from '../archive/staging.ts'
import { messageOf, systemCode } from '../errors.ts'
import { createSortedTexts } from '../journal/sorted-texts.ts'
import { parseExclude, type Exclusion } from './exclude.ts'
import { parseGlobs, type Globs, type GlobState } from './globs.ts'
import { toStamp, type Stamp } from './stamp.ts'

export type WalkedFile = {
  /** Relative to the root, with `/`. */
  readonly path: string
  readonly absolute: string
  readonly stamp: Stamp
  readonly size: number
}

export type ProblemCause =
  /** A link that leads out of the tree, or nowhere. */
  | 'link'
  | 'not-permitted'
  /** Folders in folders past what anybody means. */
  | 'too-deep'
  /** An agent's settings that cannot be understood. */
  | 'settings'
  /** A name that is no UTF-8: what it names cannot be opened by it. */
  | 'name'
  | 'io'

export type Problem = { readonly cause: ProblemCause; readonly reason: string }
export type OnProblem = (path: string, problem: Problem) => void

export type WalkOptions = {
  /** Patterns relative to the root: those of a place. */
  readonly files: readonly string[]
  /** As parsed, or as people write it. */
  readonly exclude?: Exclusion | readonly string[]
  /** Told the absolute path. */
  readonly onProblem?: OnProblem
}

export function* walk(root: string, options: WalkOptions): Generator<WalkedFile, void, undefined> {
  for (const found of visit(root, options)) if ('stamp' in found) yield found
}

export type WalkedFolder = { readonly path: string; readonly absolute: string }

/** The folders that files may be in, the root first. Each is given before it is looked into. */
export function* walkFolders(root: string, options: WalkOptions): Generator<WalkedFolder, void, undefined> {
  for (const found of visit(root, { ...options, isFolders: true })) {
    if (!('stamp' in found)) yield { path: found.path, absolute: join(root, found.path) }
  }
}

function* visit(
  root: string,
  { files, exclude, onProblem = () => {}, isFolders = false }: WalkOptions & { readonly isFolders?: boolean },
): Generator<WalkedFile | Folder, void, undefined> {
  const globs = parseGlobs(files)
  const exclusion =
    exclude !== undefined && 'startAt' in exclude ? exclude : parseExclude(exclude ?? [], HOME)
  const excluded = exclusion.globs
  const first: Folder = { path: '', state: globs.start, excluded: exclusion.startAt(root), depth: 0 }
  if (excluded.isWhole(first.excluded)) return
  const open: Generator<WalkedFile | Folder, void, undefined>[] = []
  const enter = (folder: Folder): void => {
    open.push(listFolder(root, folder, { globs, excluded, onProblem, isFolders }))
  }
  try {
    yield first
    enter(first)
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      const { value, done } = top.next()
      if (done === true || value === undefined) open.pop()
      else {
        yield value
        if (!('stamp' in value)) enter(value)
      }
    }
  } finally {
    // Names of a folder may wait on disk.
    for (const left of open) left.return()
  }
}

/** A system's refusal as a problem; undefined for what just went away, as files of a live agent do. */
export function toProblem(error: unknown): Problem | undefined {
  const code = systemCode(error)
  if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
  const cause = code === 'EACCES' || code === 'EPERM' ? 'not-permitted' : 'io'
  return { cause, reason: code ?? messageOf(error) }
}

type Folder = {
  readonly path: string
  readonly state: GlobState
  readonly excluded: GlobState
  readonly depth: number
}
type Ways = {
  readonly globs: Globs
  readonly excluded: Globs
  readonly onProblem: OnProblem
  readonly isFolders: boolean
}
/** `unknown`: some file systems do not say beforehand what a name is. */
type Kind = 'folder' | 'link' | 'unknown'

const HOME = { home: os.homedir() }
const MAX_DEPTH = 64
/** Names asked of the system at a time. */
const BUFFERED = 256
/** Programs' parts, never an agent's log. */
const PASSED_OVER: ReadonlySet<string> = new Set(['.git', 'node_modules'])

function* listFolder(
  root: string,
  folder: Folder,
  ways: Ways,
): Generator<WalkedFile | Folder, void, undefined> {
  const { globs, excluded, onProblem } = ways
  if (folder.depth > MAX_DEPTH) {
    onProblem(join(root, folder.path), { cause: 'too-deep', reason: `more than ${MAX_DEPTH} folders down` })
    return
  }
  const below = join(root, folder.path, sep)
  for (const found of namesIn(root, folder, ways)) {
    const [name, kind] = toNamed(found)
    const path = folder.path === '' ? name : `${folder.path}/${name}`
    const absolute = below + name
    if (kind === 'link') {
      if (!leadsInside(root, absolute)) {
        onProblem(absolute, { cause: 'link', reason: 'a link out of the folder, not followed' })
      }
      continue
    }
    const stat = kind === 'folder' ? undefined : statOf(absolute, onProblem)
    if (stat === undefined && kind !== 'folder' && isGarbled(name)) onProblem(absolute, GARBLED)
    if (stat?.isFile() && (kind === undefined || globs.ends(folder.state, name))) {
      yield { path, absolute, stamp: toStamp(stat), size: stat.size }
    } else if (kind === 'folder' || (kind === 'unknown' && stat?.isDirectory())) {
      const state = globs.step(folder.state, name)
      yield { path, state, excluded: excluded.step(folder.excluded, name), depth: folder.depth + 1 }
    }
  }
}

/** A name that may matter, and behind a NUL, which is in none, what it is where that is no file that is asked for. */
type Named = string

function toNamed(found: Named): readonly [name: string, kind: Kind | undefined] {
  const end = found.indexOf('\0')
  return end === -1 ? [found, undefined] : [found.slice(0, end), found.slice(end + 1) as Kind]
}

/** Sorted. Nothing else is held, and not even all of these: a folder may have a million. */
function namesIn(
  root: string,
  folder: Folder,
  { globs, excluded, onProblem, isFolders }: Ways,
): Iterable<Named> {
  const names = createSortedTexts()
  const absolute = join(root, folder.path)
  let directory: fs.Dir | undefined
  try {
    directory = fs.opendirSync(absolute, { bufferSize: BUFFERED })
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
      const { name } = entry
      const kind = kindOf(entry)
      if (kind === undefined || (isFolders && kind === 'file')) continue
      const mayMatter =
        kind === 'file' ? globs.ends(folder.state, name) : globs.step(folder.state, name).length > 0
      if (!mayMatter || excluded.ends(folder.excluded, name)) continue
      if (kind !== 'file' && (PASSED_OVER.has(name) || isStagingName(name))) continue
      names.add(kind === 'file' ? name : `${name}\0${kind}`)
    }
  } catch (error) {
    const problem = toProblem(error) ?? (isGarbled(folder.path) ? GARBLED : undefined)
    if (problem !== undefined) onProblem(absolute, problem)
  } finally {
    directory?.closeSync()
  }
  return names.inOrder()
}

const GARBLED: Problem = { cause: 'name', reason: 'its name is not UTF-8: rename it, to have it taken in' }

/** Decoding puts this in place of bytes that are no UTF-8. A name may also hold it and be there. */
function isGarbled(name: string): boolean {
  return name.includes('\uFFFD')
}

function kindOf(entry: fs.Dirent): Kind | 'file' | undefined {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'folder'
  if (entry.isSymbolicLink()) return 'link'
  const isSpecial = entry.isFIFO() || entry.isSocket() || entry.isBlockDevice() || entry.isCharacterDevice()
  return isSpecial ? undefined : 'unknown'
}

function statOf(path: string, onProblem: OnProblem): fs.Stats | undefined {
  try {
    // Numbers: as large ones they take twice the time, which is most of a sync of nothing new.
    return fs.lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    const problem = toProblem(error)
    if (problem !== undefined) onProblem(path, problem)
    return undefined
  }
}

/** What a link inside the tree leads to is found there under its own name. */
function leadsInside(root: string, link: string): boolean {
  try {
    const [real, target] = [fs.realpathSync(root), fs.realpathSync(link)]
    return target === real || target.startsWith(join(real, '/'))
  } catch {
    return false
  }
}
