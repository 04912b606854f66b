/**
 * What a search sees of the archive at one moment: which units the index has as they are now, which have to be read instead, and
 * which entries count. Nothing is missing while the index is behind, and nothing comes twice.
 */
import type { Database } from '../sqlite/driver.ts'
import type { ShardReader } from './shard-reader.ts'
import { stateMark } from './state-mark.ts'
import { changesSince } from './index-changes.ts'
import { heldUnits, knownUnits, type UnitsLeft } from './known-units.ts'
import { findUnit, sessionsInSeveral, UNITS_AT_ONCE, type ListedUnit } from './unit-list.ts'

export type View = {
  /** Not in the index as they are now. Newest first. */
  readonly pending: UnitsLeft
  /** True for a unit of a shard that is as it was indexed. */
  isCurrent(shard: number, name: string): boolean
  /** Sessions that several units speak for. */
  readonly several: ReadonlySet<string>
  /** Of those, the ones with a unit that is pending: read whole, whatever the index has of them. */
  readonly apart: ReadonlySet<string>
  /** A recording that another speaks for. */
  isHidden(unit: string, key: string): boolean
}

export function createView(
  state: Database,
  home: string,
  readers: readonly ShardReader[],
  mark: string = stateMark(state),
): View {
  const { pending, stale } = compare(state, home, readers, mark)
  const isPlain = hasOneEach(mark)
  const several = isPlain ? NONE : sessionsInSeveral(state)
  const apart = new Set<string>()
  for (let from = 0; from < pending.count && several.size > 0; from += UNITS_AT_ONCE)
    for (const { unit } of pending.part(from, from + UNITS_AT_ONCE))
      for (const key of unit.sessions.values()) if (several.has(key)) apart.add(key)
  const hidden = isPlain ? NONE : hiddenRecordings(state)
  return {
    pending,
    isCurrent: (shard, name) => !stale.has(`${shard}\n${name}`),
    several,
    apart,
    isHidden: (unit, key) => hidden.has(`${unit}\n${key}`),
  }
}

const NONE: ReadonlySet<string> = new Set()

type Compared = { readonly pending: UnitsLeft; readonly stale: ReadonlySet<string> }

function compare(state: Database, home: string, readers: readonly ShardReader[], mark: string): Compared {
  const marks = readers.map((reader) => reader.mark())
  const [first] = marks
  const isCaughtUp =
    first !== undefined && first.shards === readers.length && marks.every((one) => one?.mark === mark)
  // All that is known to be behind is what could not be indexed.
  if (isCaughtUp)
    return { pending: held(first.failed.flatMap((name) => findUnit(state, home, name) ?? [])), stale: NONE }
  const since = first !== undefined && marks.every((one) => one?.mark === first.mark) ? first : undefined
  const few = since && compareFew(state, home, readers, { since, mark })
  if (few !== undefined) return few
  const known = knownUnits(state, home)
  const stale = new Set<string>()
  for (const reader of readers)
    for (const { name, version } of reader.units())
      if (known.see(name, version, reader.shard) !== 'current') stale.add(`${reader.shard}\n${name}`)
  return { pending: known.left(), stale }
}

const held = (units: readonly ListedUnit[]): UnitsLeft =>
  heldUnits(units.map((unit) => ({ unit, shard: undefined })))

type Since = NonNullable<ReturnType<ShardReader['mark']>>

/** The same from what was written since the index had everything; undefined where that does not tell. */
function compareFew(
  state: Database,
  home: string,
  readers: readonly ShardReader[],
  { since, mark }: { readonly since: Since; readonly mark: string },
): Compared | undefined {
  if (since.failed.length > 0 || since.shards !== readers.length) return undefined
  const changes = changesSince(state, home, { before: since.mark, now: mark })
  if (changes === undefined) return undefined
  const pending = new Map(changes.units.map((unit) => [unit.name, unit]))
  const known = new Set<string>()
  const stale = new Set<string>()
  let fresh = pending.size
  for (const reader of readers) {
    const { versions, keys, isSure } = reader.compare([...pending.keys()], changes.sessions)
    if (!isSure) return undefined
    for (const [name, version] of versions) {
      fresh -= 1
      if (pending.get(name)?.version === version) pending.delete(name)
      else stale.add(`${reader.shard}\n${name}`)
    }
    for (const key of keys) known.add(key)
  }
  const isAll = fresh === changes.moreUnits && changes.sessions.length - known.size === changes.moreSessions
  return isAll ? { pending: held([...pending.values()]), stale } : undefined
}

/** As many recordings as sessions: none has two. */
function hasOneEach(mark: string): boolean {
  const [, , recordings, sessions] = JSON.parse(mark) as unknown[]
  return recordings === sessions
}

function hiddenRecordings(state: Database): ReadonlySet<string> {
  const rows = state
    .prepare(
      `SELECT places.agent, places.root, units.path, session FROM recordings
       JOIN units ON units.reading = recordings.reading JOIN places ON places.id = units.place WHERE chosen = 0`,
    )
    .all()
  return new Set(
    rows.map(
      ({ agent, root, path, session }) => `${JSON.stringify([agent, root, path])}\n${String(session)}`,
    ),
  )
}
