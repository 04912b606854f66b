/**
 * A place that is new is read where it lies, and kept right behind: lists and costs need not wait for copies. Its files stay pending until
 * their bytes are on disk, so that whatever happens in between, the next sync keeps them; and what is kept in another state than it was
 * read in is read again.
 */
import { join } from 'node:path'
import { readReplayed } from '../archive/replayed.ts'
import type { SourceFile } from '../transcript/source.ts'
import { useAtOnce } from './at-once.ts'
import { wouldFill } from './disk.ts'
import { nextTurn } from '../transcript/next-turn.ts'
import type { FoundPlace } from './places.ts'
import { settleBills } from './state-billing.ts'
import type { KnownFile } from './state-files.ts'
import { endLoad } from './state-load-end.ts'
import { refreshSessions } from './state-sessions.ts'
import { pendingOf, type Looked } from './sync-look.ts'
import { isReadAlone, readDirty, WORTH_READING_BESIDE, type Counts, type DirtyReading } from './sync-read.ts'
import type { Shared, Taken } from './sync-take.ts'
import { openedLate, unitOf } from './unit-of.ts'

/** By the state's own number. */
export type Ahead = ReadonlyMap<number, FoundPlace>

/**
 * What is read within half a minute. Of more, bytes are kept from the first moment on: agents delete their logs, and a sync that is
 * stopped half way must have kept half of them.
 */
const MOST_BYTES = 4 * 1024 * 1024 * 1024

/** Those of the places that are read first. None where kept files may not be what is read: redacted, or not at all. */
export async function placesAhead(
  { places }: Pick<Looked, 'places'>,
  { archive, database, files, options }: Shared,
  { bytes }: { readonly bytes: number },
): Promise<Ahead> {
  const ahead = new Map<number, FoundPlace>()
  if (options.keep === false || options.keep === 'redacted') return ahead
  // What was named is noted beside what is kept.
  if (options.format !== undefined) return ahead
  if (bytes < WORTH_READING_BESIDE || bytes > MOST_BYTES) return ahead
  if (wouldFill(archive.home, bytes, options.disk)) return ahead
  for (const [id, place] of places) {
    if (place.rows !== undefined || !files.isUntouched(id) || !(await isReadAlone(place.agent))) continue
    if (pendingOf({ places: new Map([[id, place]]) }, database).files > 0) ahead.set(id, place)
  }
  return ahead
}

const BATCH = 200

/** Begins to read all files of these places. */
export async function readAhead(
  ahead: Ahead,
  shared: Shared,
  reading: Pick<DirtyReading, 'more'>,
): Promise<void> {
  const { database, files, options } = shared
  const { createOurs, openAt } = await import('./sync-take.ts')
  const isOurs = createOurs(shared)
  let after = 0
  for (let batch = files.pending(after, BATCH); batch.length > 0; batch = files.pending(after, BATCH)) {
    const noted = new Map<number, { readonly file: number; readonly unit: string }[]>()
    let last: KnownFile | undefined
    for (const file of batch) {
      if (options.signal?.aborted) return
      after = file.id
      const place = ahead.get(file.place)
      if (place === undefined) continue
      if (await isOurs(join(place.root, file.path))) {
        files.ours(file.id)
        continue
      }
      const unit = await unitHere(file, place, () => openAt(place, file))
      if (unit === undefined) continue
      const known = noted.get(file.place) ?? []
      known.push({ file: file.id, unit })
      noted.set(file.place, known)
      last = file
    }
    database.transaction(() => {
      for (const [place, all] of noted) files.ahead(place, all)
    })
    if (last !== undefined) reading.more(last)
    await nextTurn()
  }
}

/** Undefined for what is gone or may not be read: its unit is read without it, and whoever keeps it finds out and tells of it. */
async function unitHere(
  file: KnownFile,
  { agent, root }: FoundPlace,
  open: () => Promise<SourceFile>,
): Promise<string | undefined> {
  try {
    useAtOnce(join(root, file.path), { follow: false }, () => {})
    return await unitOf(agent, openedLate(file, open))
  } catch {
    return undefined
  }
}

/** Keeps what was read ahead, as it is now, and reads again what is no longer what was read. `since`: when the sync began. */
export async function keepBehind(
  ahead: Ahead,
  shared: Shared,
  { counts, since }: { readonly counts: Counts; readonly since: number },
): Promise<Taken> {
  const { archive, database, options } = shared
  await settleBills(
    database,
    (keys) => refreshSessions(database, keys),
    readReplayed(archive.files, archive.home),
  )
  if (options.signal?.aborted !== true) options.onReady?.(counts.report())
  endLoad(database)
  const { takePending } = await import('./sync-take.ts')
  const taken = await takePending({ places: ahead }, shared, { readSince: since })
  await readDirty(shared, counts)
  return taken
}
