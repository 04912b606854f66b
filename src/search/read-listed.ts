/** The entries of a unit, each with the key of its session: journals and all that is kept or lies elsewhere, the same way. */
import { openArchive } from '../archive/archive.ts'
import type { ReadItem } from '../formats/format.ts'
import { JOURNAL } from '../journal/format-id.ts'
import { loadFormat } from '../sources/load-format.ts'
import type { Entry } from '../transcript/entry.ts'
import type { Session } from '../transcript/session.ts'
import type { ListedUnit } from './unit-list.ts'

/** Called before what takes much memory. */
export type Waits = { readonly enter?: () => Promise<void> }

export type ListedEntry = { readonly key: string; readonly session: Session; readonly entry: Entry }

/** Entries of sessions that were deleted are left out. */
export async function* readListed(
  unit: ListedUnit,
  waits: Waits = {},
): AsyncGenerator<readonly ListedEntry[]> {
  let session: Session | undefined
  let key: string | undefined
  for await (const items of readItemsOf(unit, waits)) {
    const entries: ListedEntry[] = []
    for (const item of items) {
      if (item.type === 'session') {
        session = item.session
        key = unit.sessions.get(session.id)
      } else if (item.type === 'entry' && key !== undefined && session !== undefined)
        entries.push({ key, session, entry: item.entry })
    }
    if (entries.length === 0) continue
    yield entries
    // Whoever asks for more is done with these: a frame that waits would hold on to many MB while the next are read.
    entries.length = 0
  }
}

/** What reads is loaded when there is something to read: most searches need none of it. */
async function* readItemsOf(
  { place, format }: ListedUnit,
  waits: Waits,
): AsyncGenerator<readonly ReadItem[]> {
  if (format === JOURNAL) {
    const { readSession } = await import('../archive/read-session.ts')
    return yield* readSession(openArchive(place.home), place.unit)
  }
  const { readPlaced } = await import('../sources/read-unit.ts')
  yield* readPlaced(place, await loadFormat(format), waits)
}
