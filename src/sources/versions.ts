/**
 * A unit read from what is kept of it, over all versions that are held: after a source was truncated, rewritten or removed, all
 * that was ever kept of it still shows. Origins name files by their path in the place.
 */
import { posix } from 'node:path'
import type { KeptPlace } from '../archive/kept.ts'
import { HansardError } from '../errors.ts'
import type { Format, ReadItem, ReadOptions } from '../formats/format.ts'
import { letGo } from '../formats/let-go.ts'
import type { Damage } from '../transcript/damage.ts'
import type { Source, SourceFile } from '../transcript/source.ts'
import { isGzip } from './gzip.ts'
import { isLong, type FileLists } from './file-lists.ts'
import { ListedFile, type Listed, type OpenListed } from './listed-file.ts'
import type { OpenSource } from './open.ts'
import { toSourceFile } from './source-file.ts'
import { isZstd } from './zstd.ts'

/** Which version of which path; those not named are the newest. */
export type Versions = ReadonlyMap<string, number>

/** The unit's kept files as a source: one alone is a file source, whose siblings are found among what else is kept. */
export function keptSource(
  place: KeptPlace,
  paths: readonly string[],
  versions: Versions = new Map(),
  lists?: FileLists,
): OpenSource {
  const damage = new Map<string, Damage>()
  const [only] = paths
  const folder = paths.length === 1 && only !== undefined ? posix.dirname(only) : '.'
  /** Rows of a database are told of each by itself, once however often they are loaded; of others the last that was found. */
  const damaged = (found: Damage): void => {
    const { file, line } = found
    const isOne = line === undefined || damage.size < MOST_DAMAGE
    damage.set(line === undefined ? file : `${file}\n${isOne ? line : ''}`, found)
  }
  const openAs = (path: string, name: string): SourceFile | undefined =>
    place.file(path, versions.get(path), (found) => damaged({ ...found, file: name }))
  const reopen: OpenListed<string> = ({ path: name }, path) => {
    const file = openAs(path, name)
    if (file !== undefined) return toUnpacked(file, name, damaged, place)
    throw new HansardError('not-found', `${path} is not kept any more`)
  }
  const open = (path: string): SourceFile | undefined => {
    const name = folder === '.' ? path : posix.relative(folder, path)
    const file = openAs(path, name)
    if (file?.database !== undefined) return toUnpacked(file, name, damaged, place)
    const { sizeBytes, modifiedAt } = file ?? {}
    if (sizeBytes === undefined || modifiedAt === undefined) return undefined
    return new ListedFile({ path: name, sizeBytes, modifiedAt }, path, reopen)
  }
  return {
    path: posix.join(place.root.replaceAll('\\', '/'), paths.length === 1 && only !== undefined ? only : '.'),
    kind: paths.length === 1 ? 'file' : 'folder',
    list: async () =>
      isLong(paths, lists)
        ? manyKept(paths, open, lists, reopen)
        : paths.map(open).filter((file) => file !== undefined),
    find: async (wanted) => {
      const path = posix.join(folder, wanted)
      return isBelow(wanted, path) ? open(path) : undefined
    },
    damage: () => [...damage.values()],
  }
}

/** Of what is no plain file, as a database, nothing but its path is believed: it is opened again. */
function manyKept(
  paths: readonly string[],
  open: (path: string) => SourceFile | undefined,
  lists: FileLists,
  reopen: OpenListed<string>,
): readonly SourceFile[] {
  const list = lists.begin<Listed & { readonly isPlain: boolean }>()
  for (const path of paths) {
    const file = open(path)
    if (file === undefined) continue
    const { sizeBytes, modifiedAt } = file
    list.add({ path, sizeBytes, modifiedAt, isPlain: file instanceof ListedFile })
  }
  return list.end((file) =>
    file.isPlain ? new ListedFile(file, file.path, reopen) : reopen(file, file.path),
  )
}

/** Rows that are told of one by one; of those behind, the last. */
const MOST_DAMAGE = 10_000

/** Formats name what they look for by what files say: nothing above the place is looked for, nor what no file is called. */
function isBelow(wanted: string, path: string): boolean {
  if (wanted.startsWith('/') || wanted.includes('\0') || /\p{Cs}/u.test(wanted)) return false
  return path !== '.' && path !== '..' && !path.startsWith('../') && !path.endsWith('/')
}

/** A state that the unit was in. */
export type UnitVersion = {
  /** Of its kept files; none for the newest, and for what is read where it lies. */
  readonly versions: Versions
  /** As often as it is asked to. */
  readonly open: () => Promise<OpenSource>
}

/** Tells what a version is in; undefined for no format known. Versions of one file may be in different ones. */
export type FormatOf = (source: Source) => Promise<Format | undefined>

/** From the oldest to the newest. `here`: what lies in place, newer than all that is kept. `lists`: for very many files. */
export function versionsOf(
  place: KeptPlace,
  paths: readonly string[],
  { here, lists }: { readonly here?: () => Promise<OpenSource>; readonly lists?: FileLists | undefined } = {},
): readonly UnitVersion[] {
  const newest = here && { versions: new Map(), open: here }
  if (newest !== undefined && paths.every((path) => place.file(path) === undefined)) return [newest]
  const kept = snapshotsOf(place, paths).map((versions): UnitVersion => ({
    versions,
    open: async () => keptSource(place, paths, versions, lists),
  }))
  const all = newest === undefined ? kept : [...kept, newest]
  // Each list would be another on disk, and versions are read any number of times.
  return isLong(paths, lists) ? all.map(openedOnce) : all
}

/** Looked for once, for telling what it is and for reading it. */
export function openedOnce(version: UnitVersion): UnitVersion {
  let opened: Promise<OpenSource> | undefined
  const open = async (): Promise<OpenSource> => {
    const source = await version.open()
    let listed: ReturnType<OpenSource['list']> | undefined
    return { ...source, list: () => (listed ??= source.list()) }
  }
  return { ...version, open: () => (opened ??= open()) }
}

export type ToldVersion = UnitVersion & { readonly format: Format }

/** Every item of the unit, over its versions. One alone is in the format given; of several, each is told. */
export function readVersions(
  all: readonly UnitVersion[],
  paths: readonly string[],
  format: Format,
  options: VersionOptions = {},
): AsyncGenerator<readonly ReadItem[]> {
  const [only] = all
  // Nearly all have one: each generator on the way takes as long for a short log as looking at some of its lines.
  return all.length === 1 && only !== undefined
    ? readSnapshot(only, paths, format, options)
    : readSeveral(all, paths, format, options)
}

type VersionOptions = ReadOptions & { readonly formatOf?: FormatOf }

async function* readSeveral(
  all: readonly UnitVersion[],
  paths: readonly string[],
  format: Format,
  { formatOf, ...options }: VersionOptions,
): AsyncGenerator<readonly ReadItem[]> {
  const told: ToldVersion[] = []
  for (const version of all) {
    const own = formatOf === undefined ? format : await formatOf(await version.open())
    if (own !== undefined) told.push({ ...version, format: own })
  }
  const [last] = told.slice(-1)
  if (last === undefined) return
  if (told.length === 1) {
    yield* readSnapshot(last, paths, last.format, options)
    return
  }
  const { readMerged } = await import('./versions-merged.ts')
  yield* readMerged(told, paths, options)
}

/** Bytes of an origin, by their uncompressed offset: also in files that the agent itself compressed. */
export async function readOrigin(
  place: KeptPlace,
  origin: {
    readonly file: string
    readonly version?: number
    readonly byteOffset: number
    readonly byteLength: number
  },
): Promise<Buffer | undefined> {
  const { file: path, version, byteOffset, byteLength } = origin
  const kept = place.file(path, version)
  if (kept === undefined) return undefined
  const head = await kept.head(4)
  if (!isGzip(head) && !isZstd(head)) return place.readAt(path, version, byteOffset, byteLength)
  const parts: Buffer[] = []
  let at = 0
  for await (const chunk of toUnpacked(kept, path, () => {}, place).chunks()) {
    parts.push(chunk.subarray(Math.max(0, byteOffset - at), Math.max(0, byteOffset + byteLength - at)))
    at += chunk.length
    if (at >= byteOffset + byteLength) break
  }
  return Buffer.concat(parts)
}

export type HeldVersions = readonly [path: string, versions: readonly number[]]

/** Of the files that have older versions: most have none, and there may be a million of them. */
export function heldVersions(place: KeptPlace, paths: readonly string[]): readonly HeldVersions[] {
  const held: HeldVersions[] = []
  for (const path of paths) {
    const versions = place.versions(path)
    if (versions.length > 0) held.push([path, versions])
  }
  return held
}

/** From the oldest state of the unit to the newest: each version of each file in one of them, with the others as they then were. */
function snapshotsOf(place: KeptPlace, paths: readonly string[]): readonly Versions[] {
  const held = heldVersions(place, paths)
  const most = held.reduce((most, [, versions]) => Math.max(most, versions.length), 0)
  return Array.from({ length: most + 1 }, (_, round) => {
    const found = held.flatMap(([path, versions]) => {
      const version = versions[Math.max(0, versions.length - most + round)]
      return version === undefined ? [] : [[path, version] as const]
    })
    return new Map(found)
  })
}

/** One state of the unit. Origins name its files by their paths in the place. */
export async function* readSnapshot(
  { versions, open }: UnitVersion,
  paths: readonly string[],
  format: Format,
  options: ReadOptions,
): AsyncGenerator<readonly ReadItem[]> {
  const source = await open()
  const folder = source.kind === 'file' ? posix.dirname(paths[0] as string) : '.'
  const toPath = (name: string): string => (folder === '.' ? name : posix.join(folder, name))
  // Where entries came from is no fact of a session's.
  const isPlain = options.isForFacts === true || (folder === '.' && versions.size === 0)
  for await (const items of format.read(source, options)) {
    const all = isPlain ? items : items.map((item) => renamed(item, toPath, versions))
    yield all
    // Whoever asks for more is done with these, and frames that wait hold on to what they were given: the format's as well.
    letGo(items, all)
  }
  const damage = source.damage()
  if (damage.length === 0) return
  yield damage.map((damage) => renamed({ type: 'damage', damage }, toPath, versions))
}

function renamed(item: ReadItem, toPath: (name: string) => string, versions: Versions): ReadItem {
  if (item.type === 'session') return item
  if (item.type === 'damage') {
    return { type: 'damage', damage: { ...item.damage, file: toPath(item.damage.file) } }
  }
  const { entry } = item
  if (entry.origin === undefined) return item
  const file = toPath(entry.origin.file)
  const version = versions.get(file)
  return {
    type: 'entry',
    entry: { ...entry, origin: { ...entry.origin, file, ...(version !== undefined && { version }) } },
  }
}

/** Agents compress logs themselves; a database that was kept as rows is one already. */
function toUnpacked(
  file: SourceFile,
  path: string,
  damaged: (damage: Damage) => void,
  place: KeptPlace,
): SourceFile {
  const { sizeBytes, modifiedAt } = file
  if (file.database !== undefined) return { ...file, path }
  const log = async (): Promise<SourceFile | undefined> => place.file(`${file.path}-wal`)
  const { tail } = file
  return toSourceFile({
    path,
    sizeBytes,
    modifiedAt,
    raw: (options) => file.chunks(options),
    begin: (bytes) => file.head(bytes),
    ...(tail !== undefined && { end: (bytes) => tail(bytes) }),
    damaged,
    log,
  })
}
