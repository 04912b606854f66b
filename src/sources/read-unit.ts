/**
 * One unit read for the state: its format told by its content, its items counted as they come. Runs in this thread or in a worker,
 * and needs nothing but where the archive is and what the unit consists of.
 */
import { openArchive } from '../archive/archive.ts'
import { outlineSession } from '../archive/read-session.ts'
import { openKept } from '../archive/kept.ts'
import { isHansardError, messageOf } from '../errors.ts'
import type { Format, ReadItem, ReadOptions } from '../formats/format.ts'
import { raw } from '../formats/raw.ts'
import { journal } from '../journal/format.ts'
import type { Source } from '../transcript/source.ts'
import { detect, getFormat } from './detect.ts'
import { describeSource } from './describe.ts'
import { allFormats } from './formats.ts'
import { openFiles } from './open-files.ts'
import { ownFiles } from './own-files.ts'
import { readItems } from './read.ts'
import { createUnitReading, type Call, type UnitFacts } from './unit-facts.ts'
import { keptSource, readUnit } from './versions.ts'

export type UnitPlace = {
  /** The archive's folder. */
  readonly home: string
  readonly agent: string
  readonly root: string
  /** What the unit is called, relative to the root. */
  readonly unit: string
  /** Its files, relative to the root. */
  readonly paths: readonly string[]
  /** Read from what is kept, or where it lies. */
  readonly isKept: boolean
}
export type UnitJob = UnitPlace & {
  /** As it was told the last time; told anew when absent. */
  readonly format?: string
}

export type UnitResult =
  | {
      readonly type: 'read'
      readonly format: string
      readonly facts: UnitFacts
      /** Of a journal: the files that were written beside it, absolute. */
      readonly own?: readonly string[]
    }
  /** Nothing to read: an empty file, or in no format known here. */
  | { readonly type: 'unknown'; readonly looks: string }
  | { readonly type: 'failed'; readonly cause: string; readonly message: string }

/** Never throws. */
export async function runUnitJob(
  job: UnitJob,
  onCalls: (calls: readonly Call[]) => void,
): Promise<UnitResult> {
  try {
    if (job.agent === journal.id) return await readRecorded(job, onCalls)
    const format = await formatOf(job)
    if (typeof format === 'string') return { type: 'unknown', looks: format }
    const reading = createUnitReading(onCalls, placeName(job))
    for await (const items of readPlaced(job, format, { drift: reading.drift })) reading.add(items)
    return { type: 'read', format: format.id, facts: reading.end() }
  } catch (error) {
    const cause = isHansardError(error) ? error.code : 'internal'
    return { type: 'failed', cause, message: messageOf(error) }
  }
}

/** The same for a unit wherever it is read: kept or in place. */
export function placeName({ agent, root, unit }: UnitPlace): string {
  return JSON.stringify([agent, root, unit])
}

/** The items of a unit, from its kept files and all their versions, or where it lies. */
export async function* readPlaced(
  place: UnitPlace,
  format: Format,
  options: ReadOptions = {},
): AsyncGenerator<readonly ReadItem[]> {
  const { home, agent, root, paths, isKept } = place
  if (isKept) yield* readUnit(openKept(openArchive(home)).place(agent, root), paths, format, options)
  else yield* readItems(await openFiles(root, paths), format, options)
}

/** A session of the archive itself. */
async function readRecorded(
  { home, paths }: UnitJob,
  onCalls: (calls: readonly Call[]) => void,
): Promise<UnitResult> {
  const archive = openArchive(home)
  const id = paths[0]?.split('/')[0] ?? ''
  const reading = createUnitReading(onCalls, undefined)
  for await (const items of outlineSession(archive, id)) reading.add(items)
  const own = await ownFiles(archive, id)
  return { type: 'read', format: journal.id, facts: reading.end(), own }
}

const TOLD: readonly Format[] = allFormats.filter((format) => format !== raw)

/** The format, or what the unit looks like where it is in none. */
async function formatOf(job: UnitJob): Promise<Format | string> {
  if (job.format !== undefined) return getFormat(job.format, allFormats)
  const { home, agent, root, paths, isKept } = job
  const source: Source = isKept
    ? keptSource(openKept(openArchive(home)).place(agent, root), paths)
    : await openFiles(root, paths)
  return (await detect(source, { formats: TOLD }))?.format ?? describeSource(source)
}
