/**
 * Retention of what is kept: sessions of other programs that were last heard of long ago. Deleting leaves a tombstone for each, and
 * removes the bytes of units that hold nothing else; the sources are never touched, and a sync does not bring them back.
 */
import type { Archive } from '../archive/archive.ts'
import type { Expired } from '../archive/clean.ts'
import { openKept, type KeptFiles } from '../archive/kept.ts'
import { addTombstone } from '../archive/tombstones.ts'
import { journal } from '../journal/format.ts'
import type { Database } from '../sqlite/driver.ts'
import { createOutlet } from './outlet.ts'
import { peekState } from './state.ts'
import { getSession } from './state-sessions.ts'
import { withState } from './sync.ts'
import { readDirty } from './sync-read.ts'

/** Sessions of kept files last heard of before an instant, oldest last. What does not say when it was never is. */
export async function findExpiredKept(archive: Archive, before: string): Promise<readonly Expired[]> {
  const state = await peekState(archive)
  if (state === undefined) return []
  try {
    const { database } = state
    const kept = openKept(archive)
    const outlet = createOutlet(archive, false)
    const rows = database
      .prepare(
        `SELECT key, last_at FROM (
           SELECT recordings.session AS key, max(ifnull(ended_at, started_at)) AS last_at, min(recordings.format <> ?) AS foreign_only
           FROM recordings JOIN units ON units.reading = recordings.reading GROUP BY recordings.session
         ) WHERE foreign_only = 1 AND last_at < ? ORDER BY last_at DESC`,
      )
      .all(journal.id, before)
    return rows.flatMap(({ key, last_at }) => {
      const session = getSession(database, String(key))
      if (session === undefined || session.status === 'running') return []
      return [
        {
          session: outlet.session(session),
          lastAt: String(last_at),
          bytes: bytesOf(database, kept, String(key)),
        },
      ]
    })
  } finally {
    state.close()
  }
}

/** The tombstones stand before anything goes. */
export async function deleteKept(
  archive: Archive,
  sessions: readonly string[],
  tombstone: { readonly at: string; readonly reason: string },
): Promise<void> {
  if (sessions.length === 0) return
  await withState(archive, {}, async (shared) => {
    const mark = shared.database.prepare(
      `UPDATE units SET dirty = 1 WHERE reading IN (SELECT reading FROM recordings WHERE session = ?)`,
    )
    for (const session of sessions) {
      addTombstone(archive.files, archive.home, { session, ...tombstone })
      mark.run(session)
    }
    await readDirty(shared)
  })
}

/** Of the units that it is in, which others may share, with all of their versions. */
function bytesOf(database: Database, kept: KeptFiles, key: string): number {
  const rows = database
    .prepare(
      `SELECT agent, root, files.path AS path FROM files JOIN places ON places.id = files.place WHERE unit IN (
         SELECT units.id FROM units JOIN recordings ON recordings.reading = units.reading WHERE session = ?
       )`,
    )
    .all(key)
  return rows.reduce(
    (sum, { agent, root, path }) => sum + kept.place(String(agent), String(root)).bytesHeld(String(path)),
    0,
  )
}
