/**
 * What the user named, as places: the known ones that it lies in or holds, else a tree of some format told by its content, else
 * one that nothing is known about. A file of a known place keeps that place's root, so that it is never kept twice.
 */
import fs from 'node:fs'
import os from 'node:os'
import { basename, dirname, relative, sep } from 'node:path'
import { fromSystemError, HansardError } from '../errors.ts'
import { raw } from '../formats/raw.ts'
import type { Format } from '../formats/format.ts'
import { detect } from './detect.ts'
import { escapeGlob, parseGlobs } from './globs.ts'
import { openSource } from './open.ts'
import { findPlaces, isFlat, isInside, type FoundPlace, type Placed, type PlaceOptions } from './places.ts'
import { IMPORT } from './unit-place.ts'
import { walk, type OnProblem } from './walk.ts'

export type PlaceOfOptions = Partial<Omit<PlaceOptions, 'folders'>> & {
  readonly onProblem?: OnProblem
  /** What the user says that it is in: of a folder, what is called like its files, or all where nothing is. */
  readonly format?: string
}

/** Never none. Throws `not-found`, `not-permitted`, or `unsafe-path` for a pipe or device. */
export async function placesOf(
  path: string,
  formats: readonly Format[],
  options: PlaceOfOptions = {},
): Promise<readonly FoundPlace[]> {
  const named = resolveNamed(path)
  const known = knownPlaces(named, formats, options)
  const { format: id } = options
  const own = named.isFolder ? known.filter(({ agent }) => agent === id) : []
  if (known.length > 0) return own.length > 0 ? own : known
  const place = await byContent(named.real, named.isFolder, formats)
  const format = named.isFolder ? formats.find((one) => one.id === id) : undefined
  return [format === undefined ? place : { ...place, files: filesLike(format, place.root) }]
}

function filesLike(format: Format, root: string): readonly string[] {
  const names = namesOf(format)
  const { done } = walk(root, { files: names }).next()
  return done === true ? ['**'] : names
}

/** Whether what a folder holds is told by its content: no place is known that it lies in, or that lies in it. Throws as `placesOf`. */
export function isFolderOfAny(path: string, formats: readonly Placed[], options: PlaceOfOptions): boolean {
  const named = resolveNamed(path)
  return named.isFolder && knownPlaces(named, formats, options).length === 0
}

function knownPlaces(
  { real, isFolder }: Named,
  formats: readonly Placed[],
  { env = process.env, home = os.homedir(), platform = process.platform, onProblem }: PlaceOfOptions,
): readonly FoundPlace[] {
  // A place in a project shows by the folder that it lies in, however far up.
  const folders = [...(isFolder ? [real] : []), ...ancestorsOf(real)]
  const known = findPlaces(formats, { env, home, platform, folders, ...(onProblem && { onProblem }) })
  const around = known.flatMap((place) => narrowed(place, real, isFolder))
  // Formats may share a folder, never a file.
  if (around.length > 0 && !(isFolder && around.every(isFlat))) return isFolder ? around : around.slice(0, 1)
  return isFolder ? known.filter(({ root }) => isInside(real, root)) : []
}

type Named = { readonly real: string; readonly isFolder: boolean }

function resolveNamed(path: string): Named {
  let real: string
  let stat: fs.Stats
  try {
    real = fs.realpathSync(path)
    stat = fs.statSync(real)
  } catch (error) {
    throw fromSystemError(error, path)
  }
  if (stat.isDirectory() || stat.isFile()) return { real, isFolder: stat.isDirectory() }
  throw new HansardError('unsafe-path', `${path} is neither a file nor a folder`, {
    hint: 'write what it gives to a file, and name that',
  })
}

function ancestorsOf(path: string): readonly string[] {
  const above = dirname(path)
  return above === path ? [] : [above, ...ancestorsOf(above)]
}

/** The place with only the files that were named; none where it does not hold them. */
function narrowed(place: FoundPlace, real: string, isFolder: boolean): readonly FoundPlace[] {
  if (!isInside(place.root, real)) return []
  const below = relative(place.root, real).split(sep).join('/')
  const globs = parseGlobs(place.files)
  if (!isFolder) return globs.matches(below) ? [{ ...place, files: [escapeGlob(below)] }] : []
  const files = globs.narrow(below)
  return files.length === 0 ? [] : [{ ...place, files: below === '' ? place.files : files }]
}

/** Files looked at to tell whose a folder is. */
const LOOKED_AT = 20

async function byContent(real: string, isFolder: boolean, formats: readonly Format[]): Promise<FoundPlace> {
  const root = isFolder ? real : dirname(real)
  const told = await formatOf(real, isFolder, formats)
  if (!isFolder) return toPlace(told?.format, root, [escapeGlob(basename(real))])
  if (told === undefined) return toPlace(undefined, root, ['**'])
  // What tells the format may be called otherwise than where its program keeps it: then any name may count.
  const names = namesOf(told.format)
  const globs = parseGlobs(names)
  const isNamed = told.paths.every((path) => globs.matches(relative(root, path).split(sep).join('/')))
  return toPlace(told.format, root, isNamed ? names : ['**'])
}

function toPlace(format: Format | undefined, root: string, files: readonly string[]): FoundPlace {
  const rows = format?.places?.flatMap(({ rows }) => rows ?? []) ?? []
  return { agent: format?.id ?? IMPORT, root, files, ...(rows.length > 0 && { rows }) }
}

/** A copy of a place may begin at any of its folders: only names tell what counts. */
export function namesOf({ places = [] }: Format): readonly string[] {
  const names = places
    .filter((place) => !isFlat(place))
    .flatMap(({ files }) => files.map((glob) => glob.split('/').at(-1) ?? '**'))
  return names.length === 0
    ? ['**']
    : [...new Set(names.map((name) => (name === '**' ? '**' : `**/${name}`)))]
}

/** One format that every file looked at agrees on, and the files that tell it; a folder of several is nobody's. */
async function formatOf(
  real: string,
  isFolder: boolean,
  formats: readonly Format[],
): Promise<{ readonly format: Format; readonly paths: readonly string[] } | undefined> {
  const telling = formats.filter(({ id }) => id !== raw.id)
  const found = new Map<Format, string[]>()
  for (const path of isFolder ? firstFiles(real) : [real]) {
    const detected = await detectAt(path, telling)
    if (detected !== undefined) found.set(detected, [...(found.get(detected) ?? []), path])
  }
  const [one, ...others] = found
  return one === undefined || others.length > 0 ? undefined : { format: one[0], paths: one[1] }
}

async function detectAt(path: string, formats: readonly Format[]): Promise<Format | undefined> {
  try {
    const source = await openSource(path)
    // A zip file, which is refused here: what it holds says nothing of the files beside it.
    return source.kind === 'folder' ? undefined : (await detect(source, { formats }))?.format
  } catch {
    // Whoever reads it says why it cannot be read.
    return undefined
  }
}

function firstFiles(root: string): readonly string[] {
  const paths: string[] = []
  for (const { absolute, size } of walk(root, { files: ['**'] })) {
    if (size > 0) paths.push(absolute)
    if (paths.length >= LOOKED_AT) break
  }
  return paths
}
