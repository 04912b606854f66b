/**
 * The third step of a sync: units that have changed are read, on all cores, and their sessions put in the state. Where there is much to
 * keep, what is kept is read beside it.
 */
import { resolve } from 'node:path'
import { readTombstones } from '../archive/tombstones.ts'
import { createIdSet } from '../formats/id-set.ts'
import { realPath } from './given.ts'
import { LOADABLE, loadFormat } from './load-format.ts'
import type { KnownFile } from './state-files.ts'
import type { KnownUnit } from './state-units.ts'
import { beginLoad } from './state-load.ts'
import type { EarlyReaders } from './sync-early.ts'
import { createFlight, createGathering } from './sync-flight.ts'
import { readOne, type ReadOne } from './sync-read-one.ts'
import type { Shared } from './sync-take.ts'
import { openUnitFiles } from './unit-files.ts'

/** `sessions`: each once, however many recordings of it were read. */
export type ReadReport = { readonly sessions: number; readonly entries: number; readonly damage: number }

export type DirtyReading = {
  /**
   * Begins to read what was kept up to this file, beside whatever is done meanwhile; but for units in its folder, which more may be
   * kept of, and for those that look for what lies beside them.
   */
  more(last: Pick<KnownFile, 'place' | 'path'>): void
  /** Reads all that is left. */
  end(): Promise<void>
  /** Instead of it, after something went wrong. */
  close(): Promise<void>
}

const BATCH = 200
/** Less than this is put in a state as fast as its indexes are made, and read in less time than a thread takes to start. */
export const WORTH_READING_BESIDE = 16 * 1024 * 1024

/** `counts`: of what was read before, too. */
export async function readDirty(shared: Shared, counts: Counts = createCounts()): Promise<ReadReport> {
  const { files, options } = shared
  if (options.isFollowing === true) {
    const { readFollowed } = await import('./sync-read-followed.ts')
    await readFollowed(shared, (read) => counts.add(read))
  }
  if (files.countDirty() > 0) await (await openReading(shared, files.dirtyBytes(), { counts })).end()
  return counts.report()
}

type Beside<T> = {
  readonly take: (reading?: DirtyReading) => Promise<T>
  readonly counts: Counts
  /** Somebody waits to ask: what nobody asks for at once is left to `endLoad`. */
  readonly isAsked?: boolean
  /** Readers that may have been started. */
  readonly started?: Pick<EarlyReaders, 'take'> | undefined
}

/** Files that changed while they were followed: what came to them is read by itself, whatever their size. */
const FEW_FILES = 50

function isFollowed({ files, options }: Shared): boolean {
  return options.isFollowing === true && files.pending(0, FEW_FILES).length < FEW_FILES
}

/** What is kept is read beside, where that is worth a thread. */
export async function readBeside<T>(shared: Shared, bytes: number, { take, ...how }: Beside<T>): Promise<T> {
  if (bytes < WORTH_READING_BESIDE || isFollowed(shared)) {
    const taken = await take()
    await readDirty(shared, how.counts)
    return taken
  }
  const reading = await openReading(shared, bytes, how)
  let taken: T
  try {
    taken = await take(reading)
  } catch (error) {
    await reading.close()
    throw error
  }
  await reading.end()
  return taken
}

/** `ofBytes`: about as many as there will be to read. */
async function openReading(
  shared: Shared,
  ofBytes: number,
  { counts, isAsked = false, started }: Omit<Beside<unknown>, 'take'>,
): Promise<DirtyReading> {
  const { files, options, archive, database } = shared
  const deleted = new Set(readTombstones(archive.files, archive.home).map(({ session }) => session))
  const named = new Set((options.paths ?? []).map((path) => realPath(resolve(path))))
  const load = ofBytes < WORTH_READING_BESIDE ? undefined : beginLoad(database, isAsked)
  const gathering = createGathering(database)
  // Only now: the readers, with all that formats and prices need, take longer to load than an unchanged sync to run. And after all
  // that may fail: their threads run from the start, until they are closed.
  const { createReaders } = await import('./readers.ts')
  const readers = started?.take() ?? (await createReaders(ofBytes))
  const running = new Set<Promise<void>>()
  const flight = createFlight(readers)
  let done: (bytes: number) => void = () => {}
  /** Units that are read beside, and whether more was kept of them since. */
  const beside = new Map<number, boolean>()
  files.onTaken((unit) => void (beside.has(unit) && beside.set(unit, true)))

  const start = async (unit: KnownUnit, isEarly: boolean): Promise<void> => {
    const { id } = unit
    if (isEarly) beside.set(id, false)
    const listed = await openUnitFiles(files, id)
    const size = listed.own.reduce((sum, { size }) => sum + size, 0)
    try {
      await flight.enter(size)
    } catch (error) {
      listed.close()
      throw error
    }
    const readIt = async (): Promise<void> => {
      try {
        const read = await readOne(unit, listed, {
          ...shared,
          readers,
          deleted,
          load,
          named,
          since: counts.since,
        })
        counts.add(read)
        if (beside.get(id) === true) files.readAgain(id)
        beside.delete(id)
        gathering.next()
        done(read.bytes)
        running.delete(work)
        flight.leave(size)
      } finally {
        listed.close()
      }
    }
    const work = readIt()
    work.catch((error: unknown) => flight.fail(error))
    running.add(work)
  }
  /** Those after a unit, in order. `isNow`: which to read; false ends it, undefined leaves one out. */
  const startAll = async (
    after: number,
    isEarly: boolean,
    isNow: (unit: KnownUnit) => Promise<boolean | undefined>,
  ): Promise<number> => {
    let last = after
    for (let batch = files.dirty(last, BATCH); batch.length > 0; batch = files.dirty(last, BATCH)) {
      for (const unit of batch) {
        const isWanted = options.signal?.aborted !== true && (await isNow(unit))
        if (isWanted === false) return last
        last = unit.id
        if (isWanted === true) await start(unit, isEarly)
      }
    }
    return last
  }
  let early = Promise.resolve(0)
  const close = async (): Promise<void> => {
    await Promise.allSettled([early, ...running])
    // What was whole before it went wrong is worth having, if it can be had; what went wrong first is what is told.
    gathering.settleIfPossible()
    await readers.close()
  }
  const rest = async (): Promise<void> => {
    done = createProgress(shared, counts.units(), ofBytes)
    await early
    await Promise.all(running)
    if (files.hasUnownedDirty()) (await import('./checkpoint-units.ts')).joinCheckpoints(database, files)
    await startAll(0, false, async () => true)
    await Promise.all(running)
  }

  return {
    more(last) {
      gathering.next()
      const isNow = async (unit: KnownUnit): Promise<boolean | undefined> =>
        !isBeside(unit, last) && ((await isReadAlone(files.placeAt(unit.place).agent)) || undefined)
      early = early.then((after) => startAll(after, true, isNow))
      early.catch(() => {})
    },
    async end() {
      try {
        await rest()
        // Threads take some time to end, which nobody has to wait for.
        void readers.close()
        load?.settle()
        gathering.settle()
      } catch (error) {
        await close()
        throw error
      }
    },
    close,
  }
}

/** Folders are walked one after the other, with what is below them. */
function isBeside({ place, path }: KnownUnit, last: Pick<KnownFile, 'place' | 'path'>): boolean {
  return place === last.place && last.path.startsWith(path.slice(0, path.lastIndexOf('/') + 1))
}

export async function isReadAlone(agent: string): Promise<boolean> {
  return LOADABLE.includes(agent) && (await loadFormat(agent)).isReadAlone === true
}

/** What was read, session by session. */
export type Counts = {
  add(read: ReadOne): void
  units(): number
  report(): ReadReport
  /** The last pass before those that are counted: what one of these said of a unit that is read again is no longer counted. */
  readonly since: number
}

/** `since`: absent where no unit is read twice. `seen`: sessions that are counted already. */
export function createCounts(since = Number.MAX_SAFE_INTEGER, seen = createIdSet()): Counts {
  let [sessions, entries, damage, units] = [0, 0, 0, 0]
  return {
    add(read) {
      for (const key of read.keys) if (seen.takeHash(key)) sessions += 1
      entries += read.entries
      damage += read.damage
      units += 1
    },
    since,
    units: () => units,
    report: () => ({ sessions, entries, damage }),
  }
}

/** Tells of units that are left, after `before`, one by one. */
function createProgress(
  { files, options }: Shared,
  before: number,
  ofBytes: number,
): (bytes: number) => void {
  const of = before + files.countDirty()
  let done = before
  let bytes = Math.max(0, ofBytes - files.dirtyBytes())
  return (more) => {
    done += 1
    bytes += more
    options.onProgress?.({ doing: 'reading', done, of, bytes, ofBytes })
  }
}
