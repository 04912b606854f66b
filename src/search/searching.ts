/** What a search in progress knows, and what it finds. */
import type { Archive } from '../archive/archive.ts'
import type { Database } from '../sqlite/driver.ts'
import { getSession } from '../sources/state-sessions.ts'
import { prepared } from '../sources/state-statements.ts'
import { asArray, asString, isObject, parseJson } from '../transcript/json.ts'
import type { Entry, Role } from '../transcript/entry.ts'
import type { Session } from '../transcript/session.ts'
import type { Found, Order } from './lookup.ts'
import type { Plan } from './plan.ts'
import type { Located } from './resolve.ts'
import { findUnit, findUnits, type ListedUnit } from './unit-list.ts'
import type { View } from './view.ts'

export type Hit = Found & {
  readonly session: Session
  readonly source: string
  /** In the session's count, over all of its units. */
  readonly sequence: number
  readonly role: Role | undefined
  /** False where `at` is that of an entry before it. */
  readonly hasAt: boolean
  readonly located: Located
  /** Where it had to be read, and is not too large to be held. */
  readonly entry?: Entry
  /** The same where no more of it had to be read than searches look at. */
  readonly searched?: Entry
}

export type Scanned = { units: number; bytes: number; entries: number }

export type Searching = {
  readonly archive: Archive
  readonly state: Database
  readonly view: View
  readonly plan: Plan
  readonly limit: number
  readonly order: Order
  readonly scanned: Scanned
  readonly isLate: () => boolean
  /** When ranked: enough were found already whose score is as good as this, or better. */
  worst: number
  /** When ranked: as many as are asked for may be as good as this. */
  hope: number
  /** A unit that cannot be read: said, and passed over. */
  readonly onUnreadable: (unit: ListedUnit, error: unknown) => void
  /** Facts of a session, with the totals that are billed to it. */
  session(key: string): Session | undefined
  unit(name: string): ListedUnit | undefined
  /** Asks at once for what the two will be asked for. */
  prefetch(keys: readonly string[], names: readonly string[]): void
  /** Of a session that several units speak for: the number of an entry over all of them; undefined for one that came before. */
  numbered(key: string, unit: string, doc: number): number | undefined
}

export function createFacts(state: Database, home: string): Pick<Searching, 'session' | 'unit' | 'prefetch'> {
  const sessions = new Map<string, Session | undefined>()
  const units = new Map<string, ListedUnit | undefined>()
  return {
    session(key) {
      if (!sessions.has(key)) sessions.set(key, getSession(state, key))
      return sessions.get(key)
    },
    unit(name) {
      if (!units.has(name)) units.set(name, findUnit(state, home, name))
      return units.get(name)
    },
    prefetch(keys, names) {
      const [noSession, noUnit] = [missing(keys, sessions), missing(names, units)]
      if (noSession.length >= FEWEST_TOGETHER)
        for (const [key, session] of findSessions(state, noSession)) sessions.set(key, session)
      if (noUnit.length >= FEWEST_TOGETHER)
        for (const [name, unit] of findUnits(state, home, noUnit)) units.set(name, unit)
    },
  }
}

/** Fewer are asked for one by one. */
const FEWEST_TOGETHER = 4

function missing(names: readonly string[], known: ReadonlyMap<string, unknown>): readonly string[] {
  return [...new Set(names)].filter((name) => !known.has(name))
}

function findSessions(state: Database, keys: readonly string[]): readonly (readonly [string, Session])[] {
  const found = prepared(
    state,
    `SELECT json_group_array(json_array(key, json(session))) AS rows FROM sessions
     WHERE key IN (SELECT value FROM json_each(?)) AND json_valid(session)`,
  ).get(JSON.stringify(keys))
  const rows = asArray(parseJson(asString(found?.['rows']) ?? '')) ?? []
  return rows.flatMap((row) => {
    const [key, session] = asArray(row) ?? []
    return typeof key === 'string' && isObject(session) ? [[key, session as unknown as Session] as const] : []
  })
}
