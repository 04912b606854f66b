/**
 * The units of a state in some thirty bytes each, so that a million of them can be compared with what an index has. Those that it lacks are
 * listed in full, newest first, when their turn comes.
 */
import type { Database } from '../sqlite/driver.ts'
import { hashText } from '../transcript/text-hash.ts'
import { findUnitsById, unitVersions, UNITS_AT_ONCE, type ListedUnit } from './unit-list.ts'

export type KnownUnits = {
  /**
   * What an index has, one unit at a time. `gone`: nobody has it any more, or it was seen before: left by one who died while a shard was
   * moved aside.
   */
  see(name: string, version: string, shard: number): 'current' | 'changed' | 'gone'
  /** Those not seen as they are now. */
  left(): UnitsLeft
}

export type LeftUnit = {
  readonly unit: ListedUnit
  /** Which has it in another version. */
  readonly shard: number | undefined
}

export type UnitsLeft = {
  readonly count: number
  /** Of logs. */
  readonly bytes: number
  /** When the unit at a place ended; milliseconds since 1970, zero when it does not say. */
  endedAt(place: number): number
  /** Newest first, those that do not say when they ended last. From another moment's `database`, those that are still there. */
  part(from: number, to: number, database?: Database): readonly LeftUnit[]
}

const FRESH = -1
const CURRENT = -2

export function knownUnits(database: Database, home: string, atOnce = UNITS_AT_ONCE): KnownUnits {
  const table = createTable()
  for (const { id, name, version } of unitVersions(database, atOnce)) table.add(id, name, version)
  return {
    see(name, version, shard) {
      const at = table.find(name)
      if (at === undefined || table.seenIn(at) !== FRESH) return 'gone'
      const isCurrent = table.isVersion(at, version)
      table.see(at, isCurrent ? CURRENT : shard)
      return isCurrent ? 'current' : 'changed'
    },
    left: () => leftOf(table, { database, home, atOnce }),
  }
}

type Asked = { readonly database: Database; readonly home: string; readonly atOnce: number }

/** Holds nothing of the table: what follows may take long. */
function leftOf(table: Table, { database, home, atOnce }: Asked): UnitsLeft {
  const left = table.left()
  const part = (from: number, to: number, now: Database = database): readonly LeftUnit[] => {
    const ids = Array.from(left.ids.subarray(from, to))
    const units = findUnitsById(now, home, ids)
    return ids.flatMap((id, at) => {
      const unit = units.get(id)
      const shard = left.shards[from + at]
      return unit === undefined ? [] : [{ unit, shard: shard === FRESH ? undefined : shard }]
    })
  }
  // Of few units all is known at once; of many only when they ended.
  if (left.ids.length <= atOnce) return heldUnits(part(0, atOnce).toSorted(newestFirst))
  const count = left.ids.length
  const ended = new Float64Array(count)
  let bytes = 0
  for (let from = 0; from < count; from += atOnce) {
    const ids = left.ids.subarray(from, from + atOnce)
    const units = findUnitsById(database, home, Array.from(ids))
    for (const [at, id] of ids.entries()) {
      const unit = units.get(id)
      ended[from + at] = unit?.endedAt ?? 0
      bytes += unit?.bytes ?? 0
    }
  }
  const order = Uint32Array.from(ended.keys()).sort((a, b) => (ended[b] as number) - (ended[a] as number))
  left.ids = Float64Array.from(order, (at) => left.ids[at] as number)
  left.shards = Int16Array.from(order, (at) => left.shards[at] as number)
  const times = Float64Array.from(order, (at) => ended[at] as number)
  return { count, bytes, endedAt: (place) => times[place] ?? 0, part }
}

/** Units that are known in full. */
export function heldUnits(units: readonly LeftUnit[]): UnitsLeft {
  return {
    count: units.length,
    bytes: units.reduce((sum, { unit }) => sum + unit.bytes, 0),
    endedAt: (place) => units[place]?.unit.endedAt ?? 0,
    part: (from, to) => units.slice(from, to),
  }
}

export function newestFirst({ unit: a }: LeftUnit, { unit: b }: LeftUnit): number {
  return b.endedAt - a.endedAt || (a.name < b.name ? -1 : 1)
}

type Table = {
  add(id: number, name: string, version: string): void
  find(name: string): number | undefined
  isVersion(at: number, version: string): boolean
  seenIn(at: number): number
  see(at: number, shard: number): void
  /** Those that were not seen as they are, in the order in which they were added, and the shard of each. */
  left(): { ids: Float64Array; shards: Int16Array }
}

/** Slots begin few, and double when half are full. A slot holds a unit's place and one more; 0 is empty. */
const FIRST_SLOTS = 1024

function createTable(): Table {
  let slots = new Int32Array(FIRST_SLOTS)
  let names = new Float64Array(FIRST_SLOTS)
  let versions = new Float64Array(FIRST_SLOTS)
  let ids = new Float64Array(FIRST_SLOTS)
  let seen = new Int16Array(FIRST_SLOTS)
  /** Names whose hash another one has, some in a hundred thousand archives of a million: their units count as never seen. */
  const alike = new Set<number>()
  let size = 0

  /** Where the hash stands, or the empty slot where it would. */
  const slotOf = (hash: number): number => {
    const mask = slots.length - 1
    let slot = (hash >>> 0) & mask
    for (;;) {
      const at = (slots[slot] as number) - 1
      if (at < 0 || names[at] === hash) return slot
      slot = (slot + 1) & mask
    }
  }
  const grow = (): void => {
    const longer = <T extends Float64Array | Int16Array>(one: T, more: T): T => {
      more.set(one)
      return more
    }
    names = longer(names, new Float64Array(size * 2))
    versions = longer(versions, new Float64Array(size * 2))
    ids = longer(ids, new Float64Array(size * 2))
    seen = longer(seen, new Int16Array(size * 2))
  }
  const spread = (): void => {
    slots = new Int32Array(slots.length * 2)
    for (let at = 0; at < size; at += 1) {
      const slot = slotOf(names[at] as number)
      if (slots[slot] === 0) slots[slot] = at + 1
    }
  }
  return {
    add(id, name, version) {
      const hash = hashText(name)
      if (size === names.length) grow()
      if (size * 2 >= slots.length) spread()
      names[size] = hash
      versions[size] = hashText(version)
      ids[size] = id
      seen[size] = FRESH
      const slot = slotOf(hash)
      if (slots[slot] !== 0) alike.add(hash)
      else slots[slot] = size + 1
      size += 1
    },
    find(name) {
      const hash = hashText(name)
      const at = (slots[slotOf(hash)] as number) - 1
      return at < 0 || alike.has(hash) ? undefined : at
    },
    isVersion: (at, version) => versions[at] === hashText(version),
    seenIn: (at) => seen[at] as number,
    see: (at, shard) => void (seen[at] = shard),
    left() {
      const isLeft = (_: number, at: number): boolean => seen[at] !== CURRENT
      return { ids: ids.subarray(0, size).filter(isLeft), shards: seen.subarray(0, size).filter(isLeft) }
    },
  }
}
