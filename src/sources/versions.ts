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
import { ListedFile, type OpenListed } from './listed-file.ts'
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
): OpenSource {
  const damage = new Map<string, Damage>()
  const [only] = paths
  const folder = paths.length === 1 && only !== undefined ? posix.dirname(only) : '.'
  const damaged = (found: Damage): void => void damage.set(found.file, found)
  const reopen: OpenListed<string> = ({ path: name }, path) => {
    const file = place.file(path, versions.get(path))
    if (file !== undefined) return toUnpacked(file, name, damaged, place)
    throw new HansardError('not-found', `${path} is not kept any more`)
  }
  const open = (path: string): SourceFile | undefined => {
    const file = place.file(path, versions.get(path))
    const name = posix.relative(folder, path)
    if (file?.database !== undefined) return toUnpacked(file, name, damaged, place)
    const { sizeBytes, modifiedAt } = file ?? {}
    if (sizeBytes === undefined || modifiedAt === undefined) return undefined
    return new ListedFile({ path: name, sizeBytes, modifiedAt }, path, reopen)
  }
  return {
    path: posix.join(place.root.replaceAll('\\', '/'), paths.length === 1 && only !== undefined ? only : '.'),
    kind: paths.length === 1 ? 'file' : 'folder',
    list: async () => paths.map(open).filter((file) => file !== undefined),
    find: async (wanted) => {
      const path = posix.join(folder, wanted)
      return isBelow(wanted, path) ? open(path) : undefined
    },
    damage: () => [...damage.values()],
  }
}

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

/** From the oldest to the newest. `here`: what lies in place, newer than all that is kept. */
export function versionsOf(
  place: KeptPlace,
  paths: readonly string[],
  here?: () => Promise<OpenSource>,
): readonly UnitVersion[] {
  const newest = here && { versions: new Map(), open: here }
  if (newest !== undefined && paths.every((path) => place.file(path) === undefined)) return [newest]
  const kept = snapshotsOf(place, paths).map((versions): UnitVersion => ({
    versions,
    open: async () => keptSource(place, paths, versions),
  }))
  return newest === undefined ? kept : [...kept, newest]
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

/** From the oldest state of the unit to the newest: each version of each file in one of them, with the others as they then were. */
function snapshotsOf(place: KeptPlace, paths: readonly string[]): readonly Versions[] {
  const held = paths.map((path) => [path, place.versions(path)] as const)
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
