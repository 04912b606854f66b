/** Units of which older versions are held: what only those have is read with the newest, and what they have no more of is let go. */
import type { KeptPlace } from '../archive/kept.ts'
import type { ReadItem, ReadOptions } from '../formats/format.ts'
import { isPartOf, surveyNewest, surveyOlder, type Newer, type ReadVersion } from './coverage.ts'
import { withKeys } from './entry-keys.ts'
import { createFileLists, type FileLists } from './file-lists.ts'
import { mergeVersions, type Version } from './merge-versions.ts'
import type { OpenSource } from './open.ts'
import { factsOver, type VersionFacts } from './version-facts.ts'
import { createVersionNames } from './version-names.ts'
import {
  heldVersions,
  keptSource,
  readSnapshot,
  type FormatOf,
  type HeldVersions,
  type ToldVersion,
  type Versions,
} from './versions.ts'

/** From the oldest to the newest, of which there is one. */
export async function* readMerged(
  told: readonly ToldVersion[],
  paths: readonly string[],
  options: ReadOptions,
): AsyncGenerator<readonly ReadItem[]> {
  const readOf = createRead(told, paths)
  const ordered = await partsFirst(told.map((version) => ({ version, read: readOf(version) })))
  const last = ordered.at(-1) as Ordered
  let newer = await surveyNewest(last.read)
  const found = new Map<ToldVersion, VersionFacts>([[last.version, { ...newer, isPart: false }]])
  // Told once of what is new to the reader, though versions are read several times. Entries of versions are told apart by all they say.
  const whole = { ...options, isForFacts: false }
  const versions: Version[] = [{ read: readOf(last.version, whole), keys: newer.keys }]
  for (const { version, read, isPart } of ordered.slice(0, -1).toReversed()) {
    const survey = await surveyOlder(read, newer)
    newer = survey.newer
    found.set(version, { ...survey.own, isPart })
    versions.unshift({ read, keys: survey.coverage.keys, coverage: survey.coverage })
  }
  const facts = factsOver(told.map((version) => found.get(version) as VersionFacts))
  yield* mergeVersions(
    versions.map((version, at) => {
      const fuller = newer.fuller[versions.length - 1 - at]
      return fuller === undefined ? version : { ...version, fuller }
    }),
    facts,
  )
}

/** Each version told what the older ones are: it may say less of itself than they do. */
function createRead(
  told: readonly ToldVersion[],
  paths: readonly string[],
): (version: ToldVersion, options?: ReadOptions) => ReadVersion {
  const named = createVersionNames(told, paths)
  const sources = new Map<ToldVersion, Promise<OpenSource>>()
  const openOnce = (version: ToldVersion): Promise<OpenSource> => {
    const opened = sources.get(version) ?? version.open()
    sources.set(version, opened)
    return opened
  }
  return (version, options = {}) => {
    const { id } = version.format
    const before = told.slice(0, told.indexOf(version)).filter(({ format }) => format.id === id)
    return async function* () {
      const older = await Promise.all(before.map(openOnce))
      const items = readSnapshot(version, paths, version.format, {
        ...options,
        ...(older.length > 0 && { older }),
      })
      yield* withKeys(named(version, items), id)
    }
  }
}

type Ordered = { readonly version: ToldVersion; readonly read: ReadVersion; readonly isPart: boolean }

/**
 * A version that was cut out of the one before has nothing to say that this one does not, and is read without what stood around it: which
 * call it is, what came after. It goes before all others, so that they have the word.
 */
async function partsFirst(all: readonly Omit<Ordered, 'isPart'>[]): Promise<readonly Ordered[]> {
  const parts: Ordered[] = []
  const others: Ordered[] = []
  let whole: Newer | undefined
  for (const one of all) {
    const isPart = whole !== undefined && (await isPartOf(one.read, whole))
    if (isPart) parts.push({ ...one, isPart })
    else {
      others.push({ ...one, isPart })
      if (one !== all.at(-1)) whole = await surveyNewest(one.read)
    }
  }
  return [...parts, ...others]
}

type HeldVersion = { readonly path: string; readonly version: number }

/** Files that are read to find out, at most: of a unit of a hundred thousand that were all rewritten, each by itself would take weeks. */
const MOST_LOOKED_AT = 20_000
/** Of any unit: its newest state, the state before, and the newest once more for what was only added to. */
const LEAST_READS = 4

/**
 * Older versions of the unit's files that hold nothing which the newer ones lack: in no format known, all but an empty one may. Those of
 * many files are looked at together, as they were at one time, and in halves where that holds anything; what is not found out stays.
 */
export async function coveredVersions(
  place: KeptPlace,
  paths: readonly string[],
  formatOf: FormatOf,
): Promise<readonly HeldVersion[]> {
  const held = heldVersions(place, paths)
  if (held.length === 0) return []
  const lists = createFileLists()
  try {
    return await coveredAmong(held, { place, paths, formatOf, lists })
  } finally {
    lists.close()
  }
}

type Looking = {
  readonly place: KeptPlace
  readonly paths: readonly string[]
  readonly formatOf: FormatOf
  readonly lists: FileLists
}

async function coveredAmong(
  held: readonly HeldVersions[],
  { place, paths, formatOf, lists }: Looking,
): Promise<readonly HeldVersion[]> {
  let readsLeft = Math.max(LEAST_READS, Math.floor(MOST_LOOKED_AT / paths.length))
  const readAt = async (versions: Versions): Promise<ReadVersion | undefined> => {
    const open = async (): Promise<OpenSource> => keptSource(place, paths, versions, lists)
    const format = await formatOf(await open())
    if (format === undefined) {
      // Looked at all the same.
      readsLeft -= 1
      return undefined
    }
    const read = keyedRead({ versions, open, format }, paths)
    return () => ((readsLeft -= 1), read())
  }
  let newer = await surveyNewest((await readAt(new Map())) ?? readNothing)
  const covered: HeldVersion[] = []
  const look = async (group: readonly HeldVersion[]): Promise<void> => {
    if (group.length === 0 || readsLeft <= 0) return
    const read = await readAt(new Map(group.map(({ path, version }) => [path, version])))
    const survey = read && (await surveyOlder(read, newer))
    if (survey?.coverage.isCovered === true) {
      for (const one of group) covered.push(one)
    } else if (group.length > 1 && readsLeft > 0) {
      const half = group.length >> 1
      await look(group.slice(0, half))
      await look(group.slice(half))
    } else if (survey !== undefined) newer = survey.newer
  }
  // From the newest of the older ones back: what is not let go of may cover what is older yet.
  for (let back = 1, left = held; left.length > 0; left = left.filter(([, { length }]) => length >= back)) {
    const group = left.map(([path, versions]) => ({ path, version: versions.at(-back) as number }))
    const others: HeldVersion[] = []
    for (const one of group) (place.file(one.path, one.version)?.sizeBytes === 0 ? covered : others).push(one)
    await look(others)
    back += 1
  }
  return covered
}

async function* readNothing(): AsyncGenerator<never> {}

function keyedRead(version: ToldVersion, paths: readonly string[]): ReadVersion {
  return () => withKeys(readSnapshot(version, paths, version.format, {}), version.format.id)
}
