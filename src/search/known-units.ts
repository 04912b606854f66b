/** The units of a state, compared by version first: only those that are asked for are listed in full. */
import type { Database } from '../sqlite/driver.ts'
import { findUnit, listUnits, unitVersions, type ListedUnit } from './unit-list.ts'

export type KnownUnits = {
  /** By name. */
  readonly versions: ReadonlyMap<string, string>
  /** Newest first. */
  readonly find: (names: ReadonlySet<string>) => readonly ListedUnit[]
}

/** Beyond this many, asking for all of them at once takes less time than for each. */
const FEW_UNITS = 50

export function knownUnits(database: Database, home: string): KnownUnits {
  return {
    versions: unitVersions(database),
    find(names) {
      if (names.size > FEW_UNITS) return listUnits(database, home).filter(({ name }) => names.has(name))
      return [...names]
        .flatMap((name) => findUnit(database, home, name) ?? [])
        .sort((a, b) => b.endedAt - a.endedAt || (a.name < b.name ? -1 : 1))
    },
  }
}
