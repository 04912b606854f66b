/**
 * The index caught up with the archive: units that were read anew since are indexed, those that are gone leave it, newest first, on
 * all cores. Killed at any moment, a unit is in it completely or not at all, and the next run goes on. One process does it at a time.
 */
import os from 'node:os'
import { join } from 'node:path'
import type { Archive } from '../archive/archive.ts'
import { acquireLock } from '../archive/lock.ts'
import { isHansardError } from '../errors.ts'
import { ensureFolder } from '../journal/files.ts'
import { peekState } from '../sources/state.ts'
import type { BatchResult } from './index-batch.ts'
import { isUnusable, listShards, openShard, setShardAside } from './shard.ts'
import { canUseThreads, UnusableShard, writeHere, writeInThread, type ShardWriter } from './shard-writers.ts'
import { listUnits, stateMark, type ListedUnit } from './unit-list.ts'

export type CatchUpOptions = {
  /** Stops between two batches. What was done stays done. */
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: { readonly bytes: number; readonly of: number }) => void
  /** Bytes of logs in one transaction. */
  readonly batchBytes?: number
}

export type CaughtUp = {
  readonly units: number
  readonly docs: number
  /** Of logs. */
  readonly bytes: number
  readonly ms: number
  /** True when another process is at it: nothing was done here. */
  readonly isElsewhere: boolean
  /** Units that could not be read: searched where they lie, as far as they can be. */
  readonly failed: BatchResult['failed']
}

/** Large enough that words are sorted rarely; what a kill takes is done again in a second or two. */
const BATCH_BYTES = 48 * 1024 * 1024
const MOST_SHARDS = 4

export async function catchUpIndex(archive: Archive, options: CatchUpOptions = {}): Promise<CaughtUp> {
  const started = performance.now()
  const nothing = { units: 0, docs: 0, bytes: 0, failed: [] }
  const release = tryLock(archive)
  if (release === undefined) return { ...nothing, ms: performance.now() - started, isElsewhere: true }
  try {
    const done = (await catchUpOnce(archive, options)) ?? (await catchUpOnce(archive, options)) ?? nothing
    return { ...done, ms: performance.now() - started, isElsewhere: false }
  } catch (error) {
    // Somebody has a shard to themselves for the moment.
    if (!isHansardError(error) || error.code !== 'locked') throw error
    return { ...nothing, ms: performance.now() - started, isElsewhere: true }
  } finally {
    release()
  }
}

/** The index has a lock of its own: a sync need not wait for it, nor it for a sync. */
function tryLock({ files, home }: Archive): (() => void) | undefined {
  const folder = join(home, 'index')
  ensureFolder(files, folder)
  try {
    return acquireLock(files, folder)
  } catch (error) {
    if (isHansardError(error) && error.code === 'locked') return undefined
    throw error
  }
}

type Done = Pick<CaughtUp, 'units' | 'docs' | 'bytes' | 'failed'>

/** Undefined when a shard turned out to be damaged, and was moved aside. */
async function catchUpOnce(archive: Archive, options: CatchUpOptions): Promise<Done | undefined> {
  const state = await peekState(archive)
  if (state === undefined) return { units: 0, docs: 0, bytes: 0, failed: [] }
  let units: readonly ListedUnit[]
  let mark: string
  try {
    // At one moment, whatever a sync does meanwhile.
    state.database.exec('BEGIN')
    mark = stateMark(state.database)
    units = listUnits(state.database, archive.home)
  } finally {
    state.close()
  }
  const shards = shardNumbers(archive)
  try {
    const plan = await makePlan(archive, shards, units, mark)
    if (plan.isCaughtUp) return { units: 0, docs: 0, bytes: 0, failed: [] }
    const done = await carryOut(archive, plan, options)
    if (options.signal?.aborted !== true) await noteMark(archive, shards, mark, done.failed)
    return done
  } catch (error) {
    if (!(error instanceof UnusableShard)) throw error
    setShardAside(archive, error.shard)
    return undefined
  }
}

/** As many as there are; of a new index, one for each core that will write. */
function shardNumbers(archive: Archive): readonly number[] {
  const there = listShards(archive)
  const count =
    there.length > 0 ? Math.max(...there) + 1 : Math.min(MOST_SHARDS, Math.max(2, os.availableParallelism()))
  return Array.from({ length: count }, (_, number) => number)
}

type Plan = {
  readonly isCaughtUp: boolean
  /** Units that a shard has in an older version, and names of those it has in vain. */
  readonly own: ReadonlyMap<number, { readonly units: ListedUnit[]; readonly gone: string[] }>
  /** Units that no shard has. Newest first, as those above. */
  readonly fresh: ListedUnit[]
  readonly bytes: number
}

async function makePlan(
  archive: Archive,
  shards: readonly number[],
  units: readonly ListedUnit[],
  mark: string,
): Promise<Plan> {
  const byName = new Map(units.map((unit) => [unit.name, unit]))
  const known = new Set<string>()
  const own = new Map<number, { units: ListedUnit[]; gone: string[] }>()
  const failed = new Set<string>()
  let isCaughtUp = true
  for (const number of shards) {
    const opened = await withShard(archive, number, ({ database }) => ({
      rows: database.prepare('SELECT name, version FROM units').all(),
      facts: new Map(
        database
          .prepare('SELECT name, value FROM facts')
          .all()
          .map(({ name, value }) => [name, String(value)]),
      ),
    }))
    const work = { units: [] as ListedUnit[], gone: [] as string[] }
    for (const { name, version } of opened.rows) {
      const unit = byName.get(String(name))
      // Two shards with one unit: left by one who died while a shard was moved aside.
      if (unit === undefined || known.has(unit.name)) work.gone.push(String(name))
      else if (unit.version !== version) work.units.push(unit)
      if (unit !== undefined) known.add(unit.name)
    }
    work.units.sort((a, b) => b.endedAt - a.endedAt)
    own.set(number, work)
    isCaughtUp &&= opened.facts.get('mark') === mark && work.units.length === 0 && work.gone.length === 0
    for (const name of JSON.parse(opened.facts.get('failed') ?? '[]') as string[]) failed.add(name)
  }
  const fresh = units.filter(({ name }) => !known.has(name))
  const all = [...fresh, ...[...own.values()].flatMap((work) => work.units)]
  return {
    // What could not be read then is not tried again while nothing has changed.
    isCaughtUp: isCaughtUp && fresh.every(({ name }) => failed.has(name)),
    own,
    fresh,
    bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
  }
}

async function withShard<T>(
  archive: Archive,
  number: number,
  work: (shard: Awaited<ReturnType<typeof openShard>>) => T,
): Promise<T> {
  const shard = await openShard(archive, number)
  try {
    return work(shard)
  } catch (error) {
    throw isUnusable(error) ? new UnusableShard(number, String(error)) : error
  } finally {
    shard.close()
  }
}

async function carryOut(archive: Archive, plan: Plan, options: CatchUpOptions): Promise<Done> {
  const { signal, onProgress } = options
  // Little work is for all threads too.
  const share = Math.ceil(plan.bytes / plan.own.size)
  const batchBytes = options.batchBytes ?? Math.min(BATCH_BYTES, share)
  const total = { units: 0, docs: 0, bytes: 0, failed: [] as BatchResult['failed'][number][] }
  const inThreads = canUseThreads(plan.bytes)
  const fill = async (number: number): Promise<void> => {
    const work = plan.own.get(number) ?? { units: [], gone: [] }
    let writer: ShardWriter | undefined
    try {
      for (;;) {
        if (signal?.aborted === true) break
        const batch = { units: takeBatch([work.units, plan.fresh], batchBytes), gone: work.gone.splice(0) }
        if (batch.units.length === 0 && batch.gone.length === 0) break
        writer ??= inThreads ? writeInThread(archive, number) : await writeHere(archive, number)
        const done = await writer.write(batch)
        total.units += done.units
        total.docs += done.docs
        total.bytes += done.bytes
        total.failed.push(...done.failed)
        onProgress?.({ bytes: total.bytes, of: plan.bytes })
      }
    } catch (error) {
      throw isUnusable(error) ? new UnusableShard(number, String(error)) : error
    } finally {
      await writer?.close()
    }
  }
  const numbers = [...plan.own.keys()]
  if (inThreads) {
    const ended = await Promise.allSettled(numbers.map(fill))
    for (const end of ended) if (end.status === 'rejected') throw end.reason
  } else for (const number of numbers) await fill(number)
  return total
}

/** Takes units off the lists, as many as make a batch. One that is larger is a batch of its own. */
function takeBatch(lists: readonly ListedUnit[][], limit: number): readonly ListedUnit[] {
  const batch: ListedUnit[] = []
  let bytes = 0
  for (const list of lists) {
    while (list[0] !== undefined && (bytes === 0 || bytes + list[0].bytes <= limit)) {
      const [unit] = list.splice(0, 1)
      if (unit === undefined) break
      batch.push(unit)
      bytes += unit.bytes
    }
  }
  return batch
}

/** Says in every shard which state it has caught up with, so that a search need not compare all units. */
async function noteMark(
  archive: Archive,
  shards: readonly number[],
  mark: string,
  failed: BatchResult['failed'],
): Promise<void> {
  for (const number of shards) {
    await withShard(archive, number, ({ database }) => {
      database.transaction(() => {
        const note = database.prepare('INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)')
        note.run('mark', mark)
        note.run('shards', String(shards.length))
        note.run('failed', JSON.stringify(failed.map(({ name }) => name)))
      })
    })
  }
}
