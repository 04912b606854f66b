/** The entries of a unit, each with the key of its session: journals and all that is kept or lies elsewhere, the same way. */
import { openArchive } from '../archive/archive.ts'
import { readSession } from '../archive/read-session.ts'
import type { ReadItem } from '../formats/format.ts'
import { journal } from '../journal/format.ts'
import { getFormat } from '../sources/detect.ts'
import { allFormats } from '../sources/formats.ts'
import { readPlaced } from '../sources/read-unit.ts'
import type { Entry } from '../transcript/entry.ts'
import type { Session } from '../transcript/session.ts'
import type { ListedUnit } from './unit-list.ts'

export type ListedEntry = { readonly key: string; readonly session: Session; readonly entry: Entry }

/** Entries of sessions that were deleted are left out. */
export async function* readListed(unit: ListedUnit): AsyncGenerator<readonly ListedEntry[]> {
  let session: Session | undefined
  let key: string | undefined
  for await (const items of readItemsOf(unit)) {
    const entries: ListedEntry[] = []
    for (const item of items) {
      if (item.type === 'session') {
        session = item.session
        key = unit.sessions.get(session.id)
      } else if (item.type === 'entry' && key !== undefined && session !== undefined)
        entries.push({ key, session, entry: item.entry })
    }
    if (entries.length > 0) yield entries
  }
}

function readItemsOf({ place, format }: ListedUnit): AsyncIterable<readonly ReadItem[]> {
  if (format === journal.id) return readSession(openArchive(place.home), place.unit)
  return readPlaced(place, getFormat(format, allFormats))
}
