/** Units of which older versions are held: what only those have is read with the newest, and what they have no more of is let go. */
import type { KeptPlace } from '../archive/kept.ts'
import type { Format, ReadItem, ReadOptions } from '../formats/format.ts'
import { surveyNewest, surveyOlder, type ReadVersion } from './coverage.ts'
import { withKeys } from './entry-keys.ts'
import { mergeVersions, type Version } from './merge-versions.ts'
import type { OpenSource } from './open.ts'
import {
  keptSource,
  readSnapshot,
  type FormatOf,
  type ToldVersion,
  type UnitVersion,
  type Versions,
} from './versions.ts'

/** From the oldest to the newest, of which there is one. */
export async function* readMerged(
  told: readonly ToldVersion[],
  paths: readonly string[],
  options: ReadOptions,
): AsyncGenerator<readonly ReadItem[]> {
  const last = told.at(-1) as ToldVersion
  // Told once of what is new to the reader, though versions are read several times.
  const reads = told.map((version) => keyedRead(version, paths, version.format))
  let newer = await surveyNewest(reads.at(-1) as ReadVersion)
  // Entries of versions are told apart by all that they say.
  const whole = { ...options, isForFacts: false }
  const versions: Version[] = [{ read: keyedRead(last, paths, last.format, whole) }]
  for (const read of reads.slice(0, -1).toReversed()) {
    const survey = await surveyOlder(read, newer)
    newer = survey.newer
    versions.unshift({ read, coverage: survey.coverage })
  }
  yield* mergeVersions(versions, newer.facts)
}

/** Older versions of the unit's files that hold nothing which the newer ones lack: in no format known, all but an empty one may. */
export async function coveredVersions(
  place: KeptPlace,
  paths: readonly string[],
  formatOf: FormatOf,
): Promise<readonly { readonly path: string; readonly version: number }[]> {
  const covered: { readonly path: string; readonly version: number }[] = []
  for (const path of paths) {
    const held = place.versions(path)
    if (held.length === 0) continue
    const readAt = async (versions: Versions): Promise<ReadVersion | undefined> => {
      const open = async (): Promise<OpenSource> => keptSource(place, paths, versions)
      const format = await formatOf(await open())
      return format && keyedRead({ versions, open }, paths, format)
    }
    let newer = await surveyNewest((await readAt(new Map())) ?? readNothing)
    for (const version of held.toReversed()) {
      if (place.file(path, version)?.sizeBytes === 0) {
        covered.push({ path, version })
        continue
      }
      const read = await readAt(new Map([[path, version]]))
      if (read === undefined) continue
      const survey = await surveyOlder(read, newer)
      if (survey.coverage.isCovered) covered.push({ path, version })
      else newer = survey.newer
    }
  }
  return covered
}

async function* readNothing(): AsyncGenerator<never> {}

function keyedRead(
  version: UnitVersion,
  paths: readonly string[],
  format: Format,
  options: ReadOptions = {},
): ReadVersion {
  return () => withKeys(readSnapshot(version, paths, format, options), format.id)
}
