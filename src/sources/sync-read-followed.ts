/** What came to the units that this process holds, read and put in the state. Those that have to be read whole stay to be read. */
import type { Archive } from '../archive/archive.ts'
import { readTombstones } from '../archive/tombstones.ts'
import type { Database } from '../sqlite/driver.ts'
import { hashText } from '../transcript/text-hash.ts'
import { followedUnits, type Added, type FollowedUnit } from './followed-units.ts'
import type { SessionFacts } from './session-facts.ts'
import { extendReading, passOf } from './state-extend.ts'
import type { StateFiles } from './state-files.ts'
import { prepared } from './state-statements.ts'
import type { KnownUnit } from './state-units.ts'
import type { ReadOne } from './sync-read-one.ts'
import type { Shared } from './sync-take.ts'

/** With more of them, much has changed at once, and all are read by those who read whole units. */
const MOST_UNITS = 50

/** `onRead`: told of each. */
export async function readFollowed(shared: Shared, onRead: (read: ReadOne) => void): Promise<void> {
  const { archive, database, files } = shared
  const dirty = files.dirty(0, MOST_UNITS)
  if (dirty.length === MOST_UNITS) return
  const deleted = new Set(readTombstones(archive.files, archive.home).map(({ session }) => session))
  for (const unit of dirty) {
    const followed = toFollowed(database, unit, files, archive)
    if (followed === undefined) continue
    const found = isAnyIn(database, unit, deleted) ? undefined : await followedUnits.more(followed)
    const added = without(deleted, found)
    const more = added && extendReading(database, unit, followed.root, added)
    if (added !== undefined && more !== undefined) {
      const { entries, damage, extended } = more
      followedUnits.took(followed, passOf(database, { ...unit, extended }))
      onRead({ entries, damage, keys: added.facts.sessions.map(({ key }) => hashText(key)), bytes: 0 })
    } else followedUnits.wish(followed, unit.id)
  }
}

/** Whether the last pass was of sessions that were deleted since: all of it is read again without them. */
function isAnyIn(database: Database, { reading }: KnownUnit, deleted: ReadonlySet<string>): boolean {
  const sql =
    'SELECT 1 FROM recordings WHERE reading = ? AND session IN (SELECT value FROM json_each(?)) LIMIT 1'
  return (
    deleted.size > 0 && prepared(database, sql).get(reading ?? -1, JSON.stringify([...deleted])) !== undefined
  )
}

/** Of what was deleted on purpose nothing comes back; of a log that is one session, that is all of it. */
function without(deleted: ReadonlySet<string>, added: Added | undefined): Added | undefined {
  const isLeft = ({ key, session }: SessionFacts): boolean => !deleted.has(key) && !deleted.has(session.id)
  if (added === undefined || added.facts.sessions.every(isLeft)) return added
  if (added.isAnew !== true) return undefined
  const sessions = added.facts.sessions.filter(isLeft)
  const keys = new Set(sessions.map(({ key }) => key))
  const calls = added.calls.filter(({ session }) => keys.has(session))
  return { ...added, facts: { ...added.facts, sessions }, calls }
}

/** Undefined for one that was never read, or is not kept. */
export function toFollowed(
  database: Database,
  unit: KnownUnit,
  files: StateFiles,
  { home }: Pick<Archive, 'home'>,
): FollowedUnit | undefined {
  const { id, place, path, format } = unit
  if (format === undefined || unit.reading === undefined) return undefined
  const own = files.filesOf(id)
  if (own.some(({ bytes }) => bytes === undefined)) return undefined
  return {
    home,
    ...files.placeAt(place),
    unit: path,
    isKept: true,
    format,
    pass: passOf(database, unit),
    files: own,
  }
}
