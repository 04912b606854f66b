/** Sessions of the archive that the state does not know. Light: where there are none, nothing that reads one is loaded. */
import type { Archive } from '../archive/archive.ts'
import type { State } from './state.ts'

/** Throws what the system says of an archive that is none. */
export function unlistedIds(archive: Archive, state: State | undefined): readonly string[] {
  const known = new Set(state === undefined ? [] : journalUnits(state))
  return archive.ids().filter((id) => !known.has(id))
}

function journalUnits({ database }: State): readonly string[] {
  return database
    .prepare(
      `SELECT units.path AS path FROM units JOIN places ON places.id = units.place
       WHERE places.agent = ? AND units.reading IS NOT NULL`,
    )
    .all('journal')
    .map(({ path }) => String(path))
}
