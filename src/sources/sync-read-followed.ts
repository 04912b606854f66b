/** What came to the units that this process holds, read and put in the state. Those that have to be read whole stay to be read. */
import type { Archive } from '../archive/archive.ts'
import { readTombstones } from '../archive/tombstones.ts'
import type { Database } from '../sqlite/driver.ts'
import { hashText } from '../transcript/text-hash.ts'
import { followedUnits } from './followed-units.ts'
import type { FollowedUnit } from './read-on.ts'
import { extendReading, passOf } from './state-extend.ts'
import type { StateFiles } from './state-files.ts'
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
    const added = await followedUnits.more(followed)
    const [one] = added?.facts.sessions ?? []
    const isWanted = one !== undefined && !deleted.has(one.key) && !deleted.has(one.session.id)
    const more = isWanted && added && extendReading(database, unit, followed.root, added)
    if (one !== undefined && more) {
      const { entries, damage, extended } = more
      followedUnits.took(followed, passOf(database, { ...unit, extended }))
      onRead({ entries, damage, keys: [hashText(one.key)], bytes: 0 })
    } else followedUnits.wish(followed, unit.id)
  }
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
