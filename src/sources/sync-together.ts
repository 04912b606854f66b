/** Files that nothing was kept of yet: on disk many at a time, and only then noted. While some are on their way, the next are copied. */
import fs from 'node:fs'
import { join } from 'node:path'
import type { Kept, KeptPlace } from '../archive/kept.ts'
import { HansardError } from '../errors.ts'
import type { SourceFile } from '../transcript/source.ts'
import type { FoundPlace } from './places.ts'
import { createSettledTogether } from './settled-together.ts'
import { toStamp } from './stamp.ts'
import type { KnownFile } from './state-files.ts'
import type { Shared } from './sync-take.ts'
import { openedLate, unitOf } from './unit-of.ts'

export type Together = { take(file: KnownFile, place: FoundPlace): Promise<void>; settle(): Promise<void> }

type Told = {
  readonly count: (change: Pick<Kept, 'change' | 'bytesRead'>) => void
  /** Takes in one that something is kept of. */
  readonly takeOne: (file: KnownFile, place: FoundPlace) => Promise<void>
  readonly failed: (file: KnownFile, place: FoundPlace, error: unknown) => void
  /** Some are noted, this one last. */
  readonly kept: (last: KnownFile) => void
  /** All of it was read where it lies, by a sync that began then. */
  readonly readSince: number | undefined
}

type Waiting = {
  readonly file: KnownFile
  readonly place: FoundPlace
  readonly result: Kept
  readonly unit: string
  /** What is kept is what was read before. */
  readonly isRead: boolean
}

export function createTogether(shared: Shared, told: Told): Together {
  const { count, failed, readSince } = told
  const { kept, database, files } = shared
  const targets = new Map<FoundPlace, KeptPlace>()
  const placeOf = (place: FoundPlace): KeptPlace => {
    const target = targets.get(place) ?? kept.together.place(place.agent, place.root)
    targets.set(place, target)
    return target
  }
  const settling = createSettledTogether<Waiting>({
    settle: () => kept.settle(),
    // They are taken in again.
    failed(all, error) {
      for (const { file, place } of all) failed(file, place, error)
    },
    note(all) {
      database.transaction(() => {
        for (const { file, result, unit, isRead } of all) {
          count(result)
          if (isRead) files.keptBehind(file.id, result)
          else files.taken(file, unit, { bytes: result.bytes, tail: result.tail })
        }
      })
      const last = all.at(-1)
      if (last !== undefined) told.kept(last.file)
    },
  })
  return {
    settle: () => settling.end(),
    async take(file, place) {
      const target = placeOf(place)
      // A crash may have left it kept and not noted: what replaces bytes is on disk before they go.
      if (target.file(file.path) !== undefined) return told.takeOne(file, place)
      const result = await target.keep(file.path, { file: join(place.root, file.path) })
      const unit = await unitOf(place.agent, copyOf(target, file), target.namedFormat(file.path))
      // What could not be opened then is of no unit yet.
      const isRead = readSince !== undefined && file.unit !== undefined && isAsLooked(place, file, readSince)
      await settling.add({ file, place, result, unit, isRead }, result.bytesRead)
    },
  }
}

/** The kept copy. */
function copyOf(target: KeptPlace, file: KnownFile): SourceFile {
  return openedLate(file, async () => {
    const found = target.file(file.path)
    if (found !== undefined) return found
    throw new HansardError('not-found', `${file.path} is not kept`)
  })
}

/** The coarsest clock that a file system has: what was written within it may be written again without being seen. */
const TICK_MS = 2000

/** Whether the file is what it was when it was looked at, and was so for long enough to tell. `since`: when the sync began. */
function isAsLooked({ root }: FoundPlace, { path, stamp }: KnownFile, since: number): boolean {
  const now = fs.lstatSync(join(root, path), { throwIfNoEntry: false })
  return now !== undefined && toStamp(now) === stamp && now.mtimeMs < since - TICK_MS
}
