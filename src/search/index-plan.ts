/** What an index lacks of what the state knows: units that a shard has in an older version or in vain, and those that none has. */
import os from 'node:os'
import type { Archive } from '../archive/archive.ts'
import type { BatchResult } from './index-batch.ts'
import { comparedIn, type Changes } from './index-changes.ts'
import type { KnownUnits } from './known-units.ts'
import { isUnusable, listShards, openShard, type Shard } from './shard.ts'
import { UnusableShard } from './shard-writers.ts'
import type { ListedUnit } from './unit-list.ts'

export type IndexPlan = {
  /** Units that a shard has in an older version, and names of those it has in vain. */
  readonly own: ReadonlyMap<number, { readonly units: ListedUnit[]; readonly gone: string[] }>
  /** Units that no shard has. Newest first, as those above. */
  readonly fresh: ListedUnit[]
  readonly bytes: number
}

const MOST_SHARDS = 4

/** As many as there are; of a new index, one for each core that will write. */
export function shardNumbers(archive: Archive): readonly number[] {
  const there = listShards(archive)
  const count =
    there.length > 0 ? Math.max(...there) + 1 : Math.min(MOST_SHARDS, Math.max(2, os.availableParallelism()))
  return Array.from({ length: count }, (_, number) => number)
}

export async function makePlan(shards: OpenShards, known: KnownUnits): Promise<IndexPlan> {
  const fresh = new Set(known.versions.keys())
  const changed = new Map<string, number>()
  const own = new Map<number, { units: ListedUnit[]; gone: string[] }>()
  for (const number of shards.numbers) {
    const rows = await shards.use(number, ({ database }) =>
      database
        .prepare('SELECT json_group_array(json_array(name, version)) AS rows FROM units GROUP BY id / 1000')
        .all()
        .flatMap(({ rows }) => JSON.parse(String(rows)) as [string, string][]),
    )
    const gone: string[] = []
    for (const [name, version] of rows) {
      // Two shards with one unit: left by one who died while a shard was moved aside.
      if (!fresh.delete(name)) gone.push(name)
      else if (known.versions.get(name) !== version) changed.set(name, number)
    }
    own.set(number, { units: [], gone })
  }
  const units = known.find(new Set([...fresh, ...changed.keys()]))
  for (const unit of units) own.get(changed.get(unit.name) ?? -1)?.units.push(unit)
  return {
    own,
    fresh: units.filter(({ name }) => fresh.has(name)),
    bytes: units.reduce((sum, { bytes }) => sum + bytes, 0),
  }
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
  return { own, fresh: [...fresh.values()], bytes: all.reduce((sum, { bytes }) => sum + bytes, 0) }
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
