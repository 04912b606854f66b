/**
 * The index caught up with the archive: units that were read anew since are indexed, those that are gone leave it, newest first, on
 * all cores. Killed at any moment, a unit counts completely or not at all, and the next run goes on. One process does it at a time.
 */
import type { Archive } from '../archive/archive.ts'
import { acquireLock } from '../archive/lock.ts'
import { HansardError, isHansardError } from '../errors.ts'
import { ensureFolder } from '../journal/files.ts'
import { wouldFill } from '../sources/disk.ts'
import { peekState } from '../sources/state.ts'
import type { Disk } from '../sources/sync.ts'
import { indexBatch, type BatchResult } from './index-batch.ts'
import { changesSince } from './index-changes.ts'
import {
  makePlan,
  noteMark,
  openShards,
  planChanges,
  shardNumbers,
  type IndexPlan,
  type OpenShards,
} from './index-plan.ts'
import {
  INDEX_VERSION,
  indexFolder,
  isAsLeft,
  isUndamaged,
  noteWriting,
  noteWritten,
  readIndexRecord,
} from './index-record.ts'
import { knownUnits } from './known-units.ts'
import { redactorOf } from './searched-entry.ts'
import { listShards, setShardAside } from './shard.ts'
import { canUseThreads, UnusableShard, writeInThread, type ShardWriter } from './shard-writers.ts'
import { stateMark } from './state-mark.ts'
import { createTurns } from './turns.ts'
import type { ListedUnit } from './unit-list.ts'

export type CatchUpOptions = {
  /** Stops between two batches. What was done stays done. */
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: { readonly bytes: number; readonly of: number }) => void
  /** Bytes of logs in one transaction. */
  readonly batchBytes?: number
  /** Bytes of logs to index at most, of the newest; the rest is left to others. */
  readonly mostBytes?: number
  /** Units that are known in full at a time. */
  readonly unitsAtOnce?: number
  /** Never in this thread, which has something else to do, where there can be others. */
  readonly inThreads?: boolean
  /** Asked in place of the system. */
  readonly disk?: (folder: string) => Disk
}

export type CaughtUp = {
  readonly units: number
  readonly docs: number
  /** Of logs. */
  readonly bytes: number
  readonly ms: number
  /** True when another process is at it: nothing was done here. */
  readonly isElsewhere: boolean
  /** True when a newer version of this program made the index: it is left alone, and not used. */
  readonly isNewer: boolean
  /** Units that could not be read: searched where they lie, as far as they can be. */
  readonly failed: BatchResult['failed']
}

/** Large enough that words are sorted rarely; what a kill takes is done again in a second or two. */
const BATCH_BYTES = 48 * 1024 * 1024
/** What is known of a unit takes memory too, and is copied to the thread. */
const BATCH_UNITS = 500

/**
 * FTS5 keeps some MB for every table that a connection has written, until its thread ends. Where words were sorted here a thread goes
 * on for longer, for what it has compiled a new one compiles again.
 */
const BATCHES_A_THREAD = { told: 5, sorted: 20 }

type Done = Pick<CaughtUp, 'units' | 'docs' | 'bytes' | 'failed'>

const NOTHING: Done = { units: 0, docs: 0, bytes: 0, failed: [] }

export async function catchUpIndex(archive: Archive, options: CatchUpOptions = {}): Promise<CaughtUp> {
  const started = performance.now()
  const ended = (done: Done, how: { isElsewhere?: true; isNewer?: true } = {}): CaughtUp => ({
    isElsewhere: false,
    isNewer: false,
    ...done,
    ...how,
    ms: performance.now() - started,
  })
  const release = tryLock(archive)
  if (release === undefined) return ended(NOTHING, { isElsewhere: true })
  try {
    if ((readIndexRecord(archive)?.version ?? 0) > INDEX_VERSION) return ended(NOTHING, { isNewer: true })
    return ended((await catchUpOnce(archive, options)) ?? (await catchUpOnce(archive, options)) ?? NOTHING)
  } catch (error) {
    // Somebody has a shard to themselves for the moment.
    if (!isHansardError(error) || error.code !== 'locked') throw error
    return ended(NOTHING, { isElsewhere: true })
  } finally {
    release()
  }
}

/** The index has a lock of its own: a sync need not wait for it, nor it for a sync. */
function tryLock({ files, home }: Archive): (() => void) | undefined {
  const folder = indexFolder(home)
  ensureFolder(files, folder)
  try {
    return acquireLock(files, folder)
  } catch (error) {
    if (isHansardError(error) && error.code === 'locked') return undefined
    throw error
  }
}

/** Undefined when a shard turned out to be damaged, and was moved aside. */
async function catchUpOnce(archive: Archive, options: CatchUpOptions): Promise<Done | undefined> {
  const state = await peekState(archive)
  if (state === undefined) return NOTHING
  const { database } = state
  let isOpen = true
  const closeState = (): void => {
    if (isOpen) state.close()
    isOpen = false
  }
  let shards: OpenShards | undefined
  try {
    // At one moment, whatever a sync does meanwhile.
    database.exec('BEGIN')
    const mark = stateMark(database)
    const record = readIndexRecord(archive)
    if (record?.mark === mark && isUndamaged(archive, record)) return NOTHING
    const before = record !== undefined && isUndamaged(archive, record) ? record.mark : undefined
    for (const number of listShards(archive)) if (!isAsLeft(archive, number)) setShardAside(archive, number)
    noteWriting(archive)
    shards = openShards(archive, shardNumbers(archive))
    const changes =
      before === undefined ? undefined : changesSince(database, archive.home, { before, now: mark })
    const plan =
      (changes && (await planChanges(shards, changes))) ??
      (await makePlan(shards, knownUnits(database, archive.home), options.unitsAtOnce))
    closeState()
    const isCut = cutPlan(plan, options.mostBytes)
    let done = await carryOut(archive, { shards, plan, before: NOTHING }, options)
    let rest = isCut ? undefined : plan.next
    while (rest !== undefined && options.signal?.aborted !== true) {
      const now = await peekState(archive)
      // Whoever took the state away will have all indexed anew.
      if (now === undefined) break
      let then: IndexPlan
      try {
        then = rest(now.database)
      } finally {
        now.close()
      }
      done = await carryOut(archive, { shards, plan: then, before: done }, options)
      rest = then.next
    }
    const isWhole = options.signal?.aborted !== true && !isCut
    if (isWhole) await noteMark(shards, mark, done.failed)
    shards.close()
    noteWritten(archive, shards.numbers, isWhole ? mark : undefined)
    return done
  } catch (error) {
    if (!(error instanceof UnusableShard)) throw error
    shards?.close()
    setShardAside(archive, error.shard)
    return undefined
  } finally {
    shards?.close()
    closeState()
  }
}

/** Leaves what is beyond the bytes. True when something was left. */
function cutPlan({ own, fresh, next }: IndexPlan, most: number | undefined): boolean {
  if (most === undefined) return false
  let left = most
  let isCut = next !== undefined
  for (const list of [...[...own.values()].map(({ units }) => units), fresh]) {
    const kept = list.filter(({ bytes }) => {
      if (bytes > left) return false
      left -= bytes
      return true
    })
    isCut ||= kept.length < list.length
    list.length = 0
    for (const unit of kept) list.push(unit)
  }
  return isCut
}

type Work = {
  readonly shards: OpenShards
  readonly plan: IndexPlan
  /** What plans before it came to. */
  readonly before: Done
}

async function carryOut(
  archive: Archive,
  { shards, plan, before }: Work,
  options: CatchUpOptions,
): Promise<Done> {
  const { signal, onProgress } = options
  const batchBytes = options.batchBytes ?? evenBytes(plan)
  const total = { ...before, failed: [...before.failed] }
  const inThreads = canUseThreads(options.inThreads ? Number.POSITIVE_INFINITY : plan.bytes)
  const turns = createTurns()
  const fill = async (number: number): Promise<void> => {
    const work = plan.own.get(number) ?? { units: [], gone: [] }
    let writer: ShardWriter | undefined
    let batches = 0
    try {
      for (;;) {
        if (signal?.aborted === true) break
        const batch = { units: takeBatch([work.units, plan.fresh], batchBytes), gone: work.gone.splice(0) }
        if (batch.units.length === 0 && batch.gone.length === 0) break
        checkRoom(archive, batch.units, options.disk)
        if (inThreads) writer ??= writeInThread(archive, number, { turns, isBegun: batches > 0 })
        const done =
          writer === undefined
            ? await shards.use(number, (shard) => indexBatch(shard, batch, redactorOf(archive)))
            : await writer.write(batch)
        total.units += done.units
        total.docs += done.docs
        total.bytes += done.bytes
        total.failed.push(...done.failed)
        onProgress?.({ bytes: total.bytes, of: plan.bytes })
        batches += 1
        if (batches % (done.isTold ? BATCHES_A_THREAD.told : BATCHES_A_THREAD.sorted) > 0) continue
        await writer?.close()
        writer = undefined
      }
    } finally {
      await writer?.close()
    }
  }
  const numbers = [...plan.own.keys()]
  if (inThreads) {
    shards.close()
    const ended = await Promise.allSettled(numbers.map(fill))
    for (const end of ended) if (end.status === 'rejected') throw end.reason
  } else for (const number of numbers) await fill(number)
  return total
}

/** The index of logs takes less than they do. Searches are complete without it, and the disk is not only ours. */
function checkRoom({ home }: Archive, units: readonly ListedUnit[], disk?: (folder: string) => Disk): void {
  const bytes = units.reduce((sum, unit) => sum + unit.bytes, 0)
  if (bytes === 0 || !wouldFill(indexFolder(home), bytes / 2, disk)) return
  throw new HansardError('disk-full', 'less than 10 % of the disk would be free', {
    hint: 'make room, or set HANSARD_HOME to a folder on another disk: the next sync goes on',
  })
}

/** Little work is for all threads too, and of much all have as many batches of the same size, so that none waits for another's last. */
function evenBytes({ own, fresh, bytes }: IndexPlan): number {
  const share = bytes / own.size
  const even = share / Math.max(1, Math.ceil(share / BATCH_BYTES))
  const units = [...own.values()].reduce((sum, { units: all }) => sum + all.length, fresh.length)
  // No unit is cut in two. Batches that were smaller would be one more.
  return Math.ceil(even + Math.min(even / 16, bytes / units))
}

/** Takes units off the lists, as many as make a batch. One that is larger is a batch of its own. */
function takeBatch(lists: readonly ListedUnit[][], limit: number): readonly ListedUnit[] {
  const batch: ListedUnit[] = []
  let bytes = 0
  for (const list of lists) {
    let count = 0
    for (const unit of list) {
      if (batch.length >= BATCH_UNITS || (batch.length > 0 && bytes + unit.bytes > limit)) break
      batch.push(unit)
      bytes += unit.bytes
      count += 1
    }
    list.splice(0, count)
  }
  return batch
}
