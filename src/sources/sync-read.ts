/** The third step of a sync: units that have changed are read, on all cores, and their sessions put in the state. */
import { readTombstones } from '../archive/tombstones.ts'
import { createIdSet } from '../formats/id-set.ts'
import type { Database } from '../sqlite/driver.ts'
import type { Readers } from './readers.ts'
import type { KnownFile, KnownUnit } from './state-files.ts'
import { withoutSessions } from './call-rows.ts'
import { beginLoad, type Load } from './state-load.ts'
import { beginReading, clearReading, type Reading } from './state-readings.ts'
import type { Shared } from './sync-take.ts'
import type { UnitResult } from './read-unit.ts'
import type { UnitFacts } from './unit-facts.ts'

/** `sessions`: each once, however many recordings of it were read. */
export type ReadReport = { readonly sessions: number; readonly entries: number; readonly damage: number }

const BATCH = 200
/** Less than this is put in a state as fast as its indexes are made. */
const WORTH_LOADING = 16 * 1024 * 1024

export async function readDirty(shared: Shared): Promise<ReadReport> {
  const { files, options, archive } = shared
  const total = files.countDirty()
  const report = { sessions: 0, entries: 0, damage: 0 }
  if (total === 0) return report
  const deleted = new Set(readTombstones(archive.files, archive.home).map(({ session }) => session))
  // Only now: the readers, with all that formats and prices need, take longer to load than an unchanged sync to run.
  const { createReaders } = await import('./readers.ts')
  const ofBytes = files.dirtyBytes()
  const readers = await createReaders(ofBytes)
  const load = ofBytes < WORTH_LOADING ? undefined : beginLoad(shared.database)
  const seen = createIdSet()
  const running = new Set<Promise<void>>()
  const flight = createFlight(readers)
  const gathering = createGathering(shared.database)
  let done = 0
  let bytes = 0
  let after = 0
  try {
    for (let batch = files.dirty(after, BATCH); batch.length > 0; batch = files.dirty(after, BATCH)) {
      for (const unit of batch) {
        if (options.signal?.aborted) break
        after = unit.id
        const own = files.filesOf(unit.id)
        const size = own.reduce((sum, { size }) => sum + size, 0)
        await flight.enter(size)
        const work = readOne(unit, own, { ...shared, readers, deleted, load }).then((read) => {
          for (const key of read.keys) {
            if (seen.has(key)) continue
            seen.add(key)
            report.sessions += 1
          }
          report.entries += read.entries
          report.damage += read.damage
          done += 1
          bytes += read.bytes
          gathering.next()
          options.onProgress?.({ doing: 'reading', done, of: total, bytes, ofBytes })
          running.delete(work)
          flight.leave(size)
        })
        work.catch((error: unknown) => flight.fail(error))
        running.add(work)
      }
      if (options.signal?.aborted) break
    }
    await Promise.all(running)
  } catch (error) {
    await Promise.allSettled(running)
    // What was whole before it went wrong is worth having, if it can be had; what went wrong first is what is told.
    gathering.settleIfPossible()
    throw error
  } finally {
    await readers.close()
  }
  load?.end()
  gathering.settle()
  return report
}

/** Units on their way to and from readers. */
type Flight = {
  /** Comes back when there is room for one more, and throws what one of them failed of. */
  enter(bytes: number): Promise<void>
  leave(bytes: number): void
  fail(error: unknown): void
}

/** Of large units none waits for another to be read by the same thread. */
const MOST_WAITING_BYTES = 4 * 1024 * 1024

function createFlight({ threads, width }: Readers): Flight {
  let count = 0
  let bytes = 0
  let failed: { readonly error: unknown } | undefined
  let wake: () => void = () => {}
  const isFull = (): boolean => count >= width || (count >= threads && bytes > MOST_WAITING_BYTES)
  const mustWait = (): boolean => isFull() && failed === undefined
  return {
    async enter(size) {
      while (mustWait()) await new Promise<void>((resolve) => (wake = resolve))
      if (failed !== undefined) throw failed.error
      count += 1
      bytes += size
    },
    leave(size) {
      count -= 1
      bytes -= size
      wake()
    },
    fail(error) {
      failed ??= { error }
      wake()
    },
  }
}

/** Units put in the state together: long enough that waiting for the file is little of it, short enough to be seen at once. */
const MOST_GATHERED_S = 1

function createGathering(database: Database): { next(): void; settle(): void; settleIfPossible(): void } {
  let settle = database.gather()
  // The clock that is always there: asking for a finer one loads it.
  let since = process.uptime()
  return {
    next() {
      if (process.uptime() - since < MOST_GATHERED_S) return
      settle()
      settle = database.gather()
      since = process.uptime()
    },
    settle: () => settle(),
    settleIfPossible() {
      try {
        settle()
      } catch {}
    },
  }
}

type ReadingAll = Shared & {
  readonly readers: Readers
  readonly deleted: ReadonlySet<string>
  readonly load: Load | undefined
}

type ReadOne = {
  readonly keys: readonly string[]
  readonly entries: number
  readonly damage: number
  readonly bytes: number
}

async function readOne(unit: KnownUnit, own: readonly KnownFile[], shared: ReadingAll): Promise<ReadOne> {
  const { archive, files, kept, database, problems, readers, deleted, load } = shared
  const bytes = own.reduce((sum, { size }) => sum + size, 0)
  const nothing: ReadOne = { keys: [], entries: 0, damage: 0, bytes }
  const { agent, root } = files.placeAt(unit.place)
  const place = kept.place(agent, root)
  // Nothing is left of it, or there never was anything: all of it was deleted on purpose, or was always empty.
  if (own.every(({ bytes, path }) => bytes === 0 && place.versions(path).length === 0)) {
    clearReading(database, unit.id, undefined)
    return nothing
  }
  const isKept = own.every(({ bytes }) => bytes !== undefined)
  const paths = own.map(({ path }) => path)
  const job = {
    home: archive.home,
    agent,
    root,
    unit: unit.path,
    paths,
    isKept,
    ...(unit.format !== undefined && { format: unit.format }),
  }
  let begun: Reading | undefined
  const reading = (): Reading => (begun ??= load?.begin(unit, root) ?? beginReading(database, unit.id))
  const { result, bills } = await readers.read(job, (calls) =>
    reading().calls(withoutSessions(calls, deleted)),
  )
  if (result.type === 'failed') {
    files.unitFailed(unit.id, result.message)
    problems.add(result.cause, `${root}/${unit.path}: ${result.message}`)
    return nothing
  }
  if (result.type === 'gone') {
    files.unitGone(unit.id, result.message)
    return nothing
  }
  if (result.looks !== undefined && isTranscriptLike(own))
    problems.add('unknown-format', `${root}/${unit.path} is ${result.looks}`)
  if (result.type === 'unknown') {
    clearReading(database, unit.id, result.looks)
    return nothing
  }
  const facts = withoutDeleted(result.facts, deleted)
  const { entries } = reading().end(result.format, facts, bills)
  if (result.own !== undefined) files.own(unit.id, result.own)
  await settleKept(unit, own, result, shared)
  return { keys: facts.sessions.map(({ key }) => key), entries, damage: result.facts.damage, bytes }
}

/** Empty files are sessions that never were; hidden ones say something about the folder. */
function isTranscriptLike(own: readonly KnownFile[]): boolean {
  return own.some(({ path, size }) => size > 0 && !path.slice(path.lastIndexOf('/') + 1).startsWith('.'))
}

function withoutDeleted(facts: UnitFacts, deleted: ReadonlySet<string>): UnitFacts {
  return {
    ...facts,
    sessions: facts.sessions.filter(({ key, session }) => !deleted.has(session.id) && !deleted.has(key)),
  }
}

/** What was deleted on purpose is not kept again; older versions that say nothing more are let go. */
async function settleKept(
  unit: KnownUnit,
  own: readonly KnownFile[],
  { facts }: Extract<UnitResult, { type: 'read' }>,
  { files, kept, problems, deleted }: ReadingAll,
): Promise<void> {
  const { agent, root } = files.placeAt(unit.place)
  const place = kept.place(agent, root)
  try {
    if (
      facts.sessions.length > 0 &&
      facts.sessions.every(({ key, session }) => deleted.has(session.id) || deleted.has(key))
    ) {
      if (own.every(({ path }) => place.file(path) === undefined)) return
      for (const { path } of own) place.remove(path)
      files.dropped(unit.id)
      return
    }
    // Of what is also read in place, what is newest is not kept yet.
    if (own.some(({ bytes }) => bytes === undefined)) return
    const paths = own.map(({ path }) => path)
    if (paths.every((path) => place.versions(path).length === 0)) return
    const [{ toldFormat }, { coveredVersions }] = await Promise.all([
      import('./read-unit.ts'),
      import('./versions-merged.ts'),
    ])
    const covered = await coveredVersions(place, paths, toldFormat)
    for (const { path, version } of covered) place.drop(path, version)
  } catch (error) {
    problems.caught(error, `${root}/${unit.path}`)
  }
}
