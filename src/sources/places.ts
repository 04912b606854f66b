/**
 * Where agents keep their logs on this machine: the places that formats name, looked up on disk. Only folders that are there are
 * given, each once, by the path that links lead to. Never throws for what is on the disk.
 */
import fs from 'node:fs'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { Format, Place, RowsKept } from '../formats/format.ts'
import { escapeGlob } from './globs.ts'
import { expandTemplate } from './place-templates.ts'
import { toProblem, type OnProblem } from './walk.ts'

export type FoundPlace = {
  /** Whose files they are: the format's id, or `import` for what the user named and no place is known for. */
  readonly agent: string
  /** Absolute, links resolved. */
  readonly root: string
  /** Patterns relative to the root. */
  readonly files: readonly string[]
  readonly rows?: readonly RowsKept[]
}

export type PlaceOptions = {
  readonly env: NodeJS.ProcessEnv
  readonly home: string
  readonly platform: NodeJS.Platform
  /** Working directories, to look in for places that lie in projects: `./.devflow`. */
  readonly folders: readonly string[]
  readonly onProblem?: OnProblem
}

/** All that is needed of a format here. */
export type Placed = Pick<Format, 'id' | 'places'>

/** In the order of the formats, each format's roots sorted. */
export function findPlaces(formats: readonly Placed[], options: PlaceOptions): readonly FoundPlace[] {
  const folders: Working[] = []
  for (const path of new Set(options.folders)) {
    const names = firstNames(path)
    // Those of old sessions may be hundreds of thousands, and most are gone.
    if (names === undefined || names.size > 0) folders.push({ path, names })
  }
  return formats.flatMap((format) => {
    const found = (format.places ?? []).flatMap((place) =>
      foldersOf(place, folders, options)
        .filter((root) => !isFlat(place) || place.files.some((name) => isFile(join(root, name), options)))
        .map((root) => toFound(format, root, place)),
    )
    return joinNested(found.sort((a, b) => (a.root < b.root ? -1 : a.root > b.root ? 1 : 0)))
  })
}

/**
 * Of the places that lie in no working directory. Agents write there, on behalf of the user: what their logs say about this machine is
 * believed. Logs that lie in a project, or were named, may be anybody's.
 */
export function ownRoots(
  formats: readonly Placed[],
  { userHome: home, ...machine }: { readonly userHome: string } & Pick<PlaceOptions, 'env' | 'platform'>,
): readonly string[] {
  return findPlaces(formats, { ...machine, home, folders: [] }).map(({ root }) => root)
}

/** A working directory, with the names in it. */
type Working = { readonly path: string; readonly names: ReadonlySet<string> | undefined }

/** More than this is no project's folder, and listing it costs more than asking for each place. */
const MAX_NAMES = 1000

/**
 * In lower case, as some file systems take them; undefined where only asking tells. One listing in place of a question for each
 * place: the folders of old sessions are thousands, and most are gone.
 */
function firstNames(folder: string): ReadonlySet<string> | undefined {
  const names = new Set<string>()
  let directory: fs.Dir | undefined
  try {
    directory = fs.opendirSync(folder, { bufferSize: 128 })
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
      if (names.size >= MAX_NAMES) return undefined
      names.add(entry.name.toLowerCase())
    }
    return names
  } catch (error) {
    return toProblem(error) === undefined ? names : undefined
  } finally {
    directory?.closeSync()
  }
}

function mayHold({ names }: Working, path: string): boolean {
  const [first = ''] = path.replace(/^(?:\.\/)+/, '').split('/')
  return (
    names === undefined || !/^[\w.-]+$/.test(first) || /^\.*$/.test(first) || names.has(first.toLowerCase())
  )
}

function toFound({ id: agent }: Placed, root: string, { files, rows }: Place): FoundPlace {
  return { agent, root, files, ...(rows !== undefined && { rows }) }
}

function foldersOf(
  { folders }: Place,
  working: readonly Working[],
  options: PlaceOptions,
): readonly string[] {
  const roots = folders
    .flatMap((template) => expandTemplate(template, options))
    .flatMap((path) => {
      if (isAbsolute(path)) return [path]
      return working.filter((folder) => mayHold(folder, path)).map((folder) => resolve(folder.path, path))
    })
    .map((path) => realFolder(path, options.onProblem))
  return [...new Set(roots.filter((root) => root !== undefined))]
}

/** The folder that a path leads to; undefined when there is none. */
export function realFolder(path: string, onProblem?: OnProblem): string | undefined {
  return isFolder(path, onProblem) ? ask(path, () => fs.realpathSync(path), onProblem) : undefined
}

function isFolder(path: string, onProblem?: OnProblem): boolean {
  const stat = ask(path, () => fs.statSync(path, { throwIfNoEntry: false }), onProblem)
  return stat?.isDirectory() ?? false
}

function ask<T>(path: string, question: () => T, onProblem: OnProblem = () => {}): T | undefined {
  try {
    return question()
  } catch (error) {
    const problem = toProblem(error)
    if (problem !== undefined) onProblem(path, problem)
    return undefined
  }
}

function isFile(path: string, { onProblem }: PlaceOptions): boolean {
  return ask(path, () => fs.statSync(path, { throwIfNoEntry: false }), onProblem)?.isFile() ?? false
}

/** Files by their names, in the folder itself: nothing below it is theirs, and without them there is no place. */
export function isFlat({ files }: Pick<Place, 'files'>): boolean {
  return files.every((name) => /^[\w.-]+$/.test(name))
}

/**
 * A root inside another becomes part of it: no file is met twice. Roots are sorted, so an outer one comes first. One that holds
 * nothing below itself stays apart.
 */
function joinNested(places: readonly FoundPlace[]): readonly FoundPlace[] {
  const joined: FoundPlace[] = []
  for (const place of places) {
    const at = joined.findIndex(
      (one) => isInside(one.root, place.root) && (one.root === place.root || !isFlat(one)),
    )
    const outer = joined[at]
    if (outer === undefined) joined.push(place)
    else joined[at] = withInner(outer, place)
  }
  return joined
}

/** True for the folder itself, too. */
export function isInside(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

function withInner(outer: FoundPlace, inner: FoundPlace): FoundPlace {
  const below = relative(outer.root, inner.root).split(sep).join('/')
  const prefix = below === '' ? '' : `${escapeGlob(below)}/`
  // What `**/x` asks for in the outer folder, it asks for in the inner one.
  const added = inner.files.filter((glob) => !(glob.startsWith('**/') && outer.files.includes(glob)))
  const files = [
    ...new Set([...outer.files, ...added.map((glob) => join(prefix, glob).split(sep).join('/'))]),
  ]
  const rows = [...(outer.rows ?? []), ...(inner.rows ?? []).filter((row) => !outer.rows?.includes(row))]
  return { ...outer, files, ...(rows.length > 0 && { rows }) }
}
