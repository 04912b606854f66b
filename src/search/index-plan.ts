/** What an index lacks of what the state knows: units that a shard has in an older version or in vain, and those that none has. */
import os from 'node:os'
import type { Archive } from '../archive/archive.ts'
import type { Database } from '../sqlite/driver.ts'
import type { BatchResult } from './index-batch.ts'
import { comparedIn, type Changes } from './index-changes.ts'
import type { KnownUnits, UnitsLeft } from './known-units.ts'
import { isUnusable, listShards, openShard, type Shard } from './shard.ts'
import { UnusableShard } from './shard-writers.ts'
import { UNITS_AT_ONCE, type ListedUnit } from './unit-list.ts'

export type IndexPlan = {
  /** Units that a shard has in an older version, and names of those it has in vain. */
  readonly own: ReadonlyMap<number, { readonly units: ListedUnit[]; readonly gone: string[] }>
  /** Units that no shard has. Newest first, as those above. */
  readonly fresh: ListedUnit[]
  /** Of all that is to be indexed, what comes after this included. */
  readonly bytes: number
  /** What is to be done after this, as the state is then; undefined when this is all. */
  readonly next: ((state: Database) => IndexPlan) | undefined
}

const MOST_SHARDS = 4

/** As many as there are; of a new index, one for each core that will write. */
export function shardNumbers(archive: Archive): readonly number[] {
  const there = listShards(archive)
  const count =
    there.length > 0 ? Math.max(...there) + 1 : Math.min(MOST_SHARDS, Math.max(2, os.availableParallelism()))
  return Array.from({ length: count }, (_, number) => number)
}

/** `atOnce`: units that a plan holds; the next one has the next. */
export async function makePlan(
  shards: OpenShards,
  known: KnownUnits,
  atOnce = UNITS_AT_ONCE,
): Promise<IndexPlan> {
  const gone = new Map<number, readonly string[]>()
  for (const number of shards.numbers)
    gone.set(number, await shards.use(number, (shard) => compareWith(shard, number, known)))
  const plan = planFrom(0, { numbers: shards.numbers, left: known.left(), atOnce })
  for (const [number, names] of gone) for (const name of names) plan.own.get(number)?.gone.push(name)
  return plan
}

/** The names of units that a shard has in vain. */
function compareWith({ database }: Shard, number: number, known: KnownUnits): readonly string[] {
  const gone: string[] = []
  const all = 'SELECT json_group_array(json_array(name, version)) AS rows FROM units GROUP BY id / 1000'
  for (const { rows } of database.prepare(all).iterate())
    for (const [name, version] of JSON.parse(String(rows)) as [string, string][])
      if (known.see(name, version, number) === 'gone') gone.push(name)
  return gone
}

type Parts = { readonly numbers: readonly number[]; readonly left: UnitsLeft; readonly atOnce: number }

function planFrom(from: number, parts: Parts, state?: Database): IndexPlan {
  const { numbers, left, atOnce } = parts
  const own = new Map(numbers.map((number) => [number, { units: [] as ListedUnit[], gone: [] as string[] }]))
  const fresh: ListedUnit[] = []
  const to = from + atOnce
  for (const { unit, shard } of left.part(from, to, state))
    (shard === undefined ? fresh : own.get(shard)?.units)?.push(unit)
  const next = to < left.count ? (later: Database) => planFrom(to, parts, later) : undefined
  return { own, fresh, bytes: left.bytes, next }
}

/** The same from what has changed since all was there; undefined where something went away, and where the last time left something undone. */
export async function planChanges(shards: OpenShards, changes: Changes): Promise<IndexPlan | undefined> {
  const fresh = new Map(changes.units.map((unit) => [unit.name, unit]))
  const own = new Map<number, { units: ListedUnit[]; gone: string[] }>()
  const known = new Set<string>()
  for (const number of shards.numbers) {
    const { versions, keys, isWhole } = await shards.use(number, ({ database }) => {
      const facts = database.prepare(
        "SELECT name, value FROM facts WHERE name IN ('mark', 'shards', 'failed')",
      )
      const said = new Map(facts.all().map(({ name, value }) => [name, value]))
      const isCaughtUp = said.get('mark') === changes.since && said.get('failed') === '[]'
      const compared = comparedIn((sql) => database.prepare(sql), [...fresh.keys()], changes.sessions)
      const isOneOfAll = said.get('shards') === String(shards.numbers.length)
      return { ...compared, isWhole: isCaughtUp && isOneOfAll && compared.isSure }
    })
    if (!isWhole) return undefined
    const units: ListedUnit[] = []
    for (const [name, version] of versions) {
      const unit = fresh.get(name)
      if (unit === undefined) continue
      fresh.delete(name)
      if (unit.version !== version) units.push(unit)
    }
    for (const key of keys) known.add(key)
    own.set(number, { units, gone: [] })
  }
  const newSessions = changes.sessions.length - known.size
  if (fresh.size !== changes.moreUnits || newSessions !== changes.moreSessions) return undefined
  const all = [...[...own.values()].flatMap(({ units }) => units), ...fresh.values()]
  const bytes = all.reduce((sum, { bytes: own }) => sum + own, 0)
  return { own, fresh: [...fresh.values()], bytes, next: undefined }
}

/** Says in every shard which state it has caught up with, so that a search need not compare all units. */
export async function noteMark(
  shards: OpenShards,
  mark: string,
  failed: BatchResult['failed'],
): Promise<void> {
  for (const number of shards.numbers) {
    await shards.use(number, ({ database }) => {
      database.transaction(() => {
        const note = database.prepare('INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)')
        note.run('mark', mark)
        note.run('shards', String(shards.numbers.length))
        note.run('failed', JSON.stringify(failed.map(({ name }) => name)))
      })
    })
  }
}

/** Shards as they are needed: opening one costs more than adding a line to it. */
export type OpenShards = {
  readonly numbers: readonly number[]
  /** Throws `UnusableShard` for one that turns out to be damaged. */
  use<T>(number: number, work: (shard: Shard) => T | Promise<T>): Promise<T>
  /** All of them: others may open them, and they are as they will be found. */
  close(): void
}

export function openShards(archive: Archive, numbers: readonly number[]): OpenShards {
  const open = new Map<number, Shard>()
  return {
    numbers,
    async use(number, work) {
      try {
        const shard = open.get(number) ?? (await openShard(archive, number))
        open.set(number, shard)
        return await work(shard)
      } catch (error) {
        throw isUnusable(error) ? new UnusableShard(number, String(error)) : error
      }
    },
    close() {
      const all = [...open.values()]
      open.clear()
      for (const shard of all) shard.close()
    },
  }
}
