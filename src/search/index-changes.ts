/**
 * What has changed between two marks of a state, asked of what was written since instead of comparing all units. Where that cannot be
 * told for sure (units or sessions that went away, a state that was begun anew, much at once) it is not told, and all are compared.
 */
import type { Database, Statement } from '../sqlite/driver.ts'
import { prepared } from '../sources/state-statements.ts'
import { readMark } from './state-mark.ts'
import { findUnits, type ListedUnit } from './unit-list.ts'

export type Changes = {
  /** The mark before. */
  readonly since: string
  /** Units that may be others than they were, or new. */
  readonly units: readonly ListedUnit[]
  /** Sessions that were written since, by key. */
  readonly sessions: readonly string[]
  /** How many units and sessions there are more than then, when nothing went away. */
  readonly moreUnits: number
  readonly moreSessions: number
}

/** Beyond this, comparing all is as fast. */
const FEW = 100

/** Undefined when it cannot be told. */
export function changesSince(
  database: Database,
  home: string,
  { before, now }: { readonly before: string; readonly now: string },
): Changes | undefined {
  const [old, current] = [readMark(before), readMark(now)]
  if (old.born !== current.born || old.reading > current.reading || old.written > current.written)
    return undefined
  const read = prepared(
    database,
    `SELECT id FROM units WHERE reading > ?1 UNION SELECT id FROM units WHERE extended > ?1
       UNION SELECT id FROM units WHERE dirty = 1 LIMIT ?2`,
  ).all(old.reading, FEW + 1)
  const written = prepared(database, 'SELECT key FROM sessions WHERE n > ? LIMIT ?').all(old.written, FEW + 1)
  if (read.length > FEW || written.length > FEW) return undefined
  const sessions = written.map(({ key }) => String(key))
  const rows = prepared(
    database,
    `SELECT DISTINCT places.agent, places.root, units.path FROM (
       SELECT value AS id FROM json_each(?) UNION
       SELECT units.id FROM json_each(?) AS asked
       CROSS JOIN recordings ON recordings.session = asked.value CROSS JOIN units ON units.reading = recordings.reading
     ) AS changed CROSS JOIN units ON units.id = changed.id CROSS JOIN places ON places.id = units.place`,
  ).all(JSON.stringify(read.map(({ id }) => id)), JSON.stringify(sessions))
  const names = rows.map(({ agent, root, path }) => JSON.stringify([agent, root, path]))
  if (names.length > FEW) return undefined
  return {
    since: before,
    units: newestFirst([...findUnits(database, home, names).values()]),
    sessions,
    moreUnits: current.units - old.units,
    moreSessions: current.sessions - old.sessions,
  }
}

function newestFirst(units: readonly ListedUnit[]): readonly ListedUnit[] {
  return units.toSorted((a, b) => b.endedAt - a.endedAt || (a.name < b.name ? -1 : 1))
}

export type Compared = {
  /** Of those units that the shard has, by name. */
  readonly versions: ReadonlyMap<string, string>
  /** Of those sessions, the ones that it has entries of. */
  readonly keys: readonly string[]
  /** False when a unit was about to be read when it was indexed: it may have turned out to be unchanged, which no pass says. */
  readonly isSure: boolean
}

/** What a shard has of what changed. */
export function comparedIn(
  ask: (sql: string) => Pick<Statement, 'all' | 'get'>,
  names: readonly string[],
  sessions: readonly string[],
): Compared {
  const units = ask('SELECT name, version FROM units WHERE name IN (SELECT value FROM json_each(?))')
  const keys = ask('SELECT DISTINCT key FROM sessions WHERE key IN (SELECT value FROM json_each(?))')
  return {
    versions: new Map(
      units.all(JSON.stringify(names)).map(({ name, version }) => [String(name), String(version)]),
    ),
    keys: keys.all(JSON.stringify(sessions)).map(({ key }) => String(key)),
    isSure: ask("SELECT 1 FROM units WHERE version GLOB '*!*' LIMIT 1").get() === undefined,
  }
}
