/** Sessions of the archive that the state does not know. Light: where there are none, nothing that reads one is loaded. */
import type { Archive } from '../archive/archive.ts'
import type { State } from './state.ts'

/** Asked for at a time: a row of each that is known would take more memory than all there is to list. */
const TOGETHER = 1000

/** Throws what the system says of an archive that is none. */
export function unlistedIds(archive: Archive, state: State | undefined): readonly string[] {
  const ids = archive.ids()
  if (state === undefined || ids.length === 0) return ids
  const ask = state.database.prepare(
    `SELECT json_group_array(asked.value) AS ids FROM json_each(?) AS asked WHERE NOT EXISTS (
       SELECT 1 FROM places CROSS JOIN units ON units.place = places.id AND units.path = asked.value
       WHERE places.agent = 'journal' AND units.reading IS NOT NULL
     )`,
  )
  const unlisted: string[] = []
  for (let at = 0; at < ids.length; at += TOGETHER) {
    const some = ask.get(JSON.stringify(ids.slice(at, at + TOGETHER)))
    for (const id of JSON.parse(String(some?.['ids'] ?? '[]')) as string[]) unlisted.push(id)
  }
  return unlisted
}
