/** What tells that a session is another than when it was outlined: what sync knows of it, and what its log says before a sync. */
import fs from 'node:fs'
import type { Archive } from '../archive/archive.ts'
import type { PriceRow } from '../cost/prices.ts'
import type { SessionUnit } from '../sources/session-streams.ts'
import { getSession, type FoundSession } from '../sources/state-sessions.ts'
import type { Database } from '../sqlite/driver.ts'
import { VERSION } from '../version.ts'
import { sizeInPlace } from './outline-extend.ts'

/** All that an outline depends on. */
export function stampOf(
  archive: Archive,
  { key, id }: FoundSession,
  units: readonly SessionUnit[],
  database: Database | undefined,
  prices: readonly PriceRow[] = [],
): string {
  const totals = database && getSession(database, key)?.totals
  const made = units.map(({ place, format, reading, isDirty, bytes }) => [
    place.agent,
    place.root,
    place.unit,
    place.paths,
    place.isKept,
    format,
    reading,
    isDirty,
    bytes,
    format === 'journal' && reading === 0 ? segmentSizes(archive, place.unit) : [],
  ])
  return JSON.stringify([VERSION, id, made, totals?.usage, totals?.cost, prices])
}

/** Of a session that no pass has read yet. */
function segmentSizes(archive: Archive, id: string): readonly number[] {
  return archive.segments(id).map((path) => fs.statSync(path, { throwIfNoEntry: false })?.size ?? 0)
}

/** What does not change while a log only grows. */
export function basisOf(
  { id }: FoundSession,
  units: readonly SessionUnit[],
  prices: readonly PriceRow[] = [],
): string {
  const made = units.map(({ place: { agent, root, unit, paths, isKept }, format }) => [
    agent,
    root,
    unit,
    paths,
    isKept,
    format,
  ])
  return JSON.stringify([VERSION, id, made, prices])
}

/** Another one for every pass over it. */
export const sizesOf = (units: readonly SessionUnit[]): string =>
  units.map(({ reading, bytes }) => `${reading}:${bytes}`).join(' ')

/** The size of the one log there is, where it is larger than this. */
export function grownBeyond(units: readonly SessionUnit[], bytes: number): number | undefined {
  const [unit] = units
  const size = unit === undefined || units.length > 1 ? undefined : sizeInPlace(unit)
  return size !== undefined && size > bytes ? size : undefined
}
