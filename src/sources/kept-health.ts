/**
 * Kept copies that somebody deleted or cut behind our back, told by one look at each: nothing else notices while their sources are as
 * they were. The next sync takes in again what still has a source.
 */
import fs from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { openArchive, type Archive } from '../archive/archive.ts'
import { openKept, type KeptPlace } from '../archive/kept.ts'
import { acquireLock } from '../archive/lock.ts'
import { isHansardError } from '../errors.ts'
import type { Database } from '../sqlite/driver.ts'
import { nextTurn } from '../transcript/next-turn.ts'
import { MOST, type PlaceHealth } from './health.ts'
import { openStateFiles } from './state-files.ts'
import { openState } from './state.ts'

export type LostCopy = {
  /** The source's path. */
  readonly file: string
  readonly problem: 'missing' | 'shorter'
  /** Whether there is a file to take it in from again. */
  readonly source: 'there' | 'gone'
  /** Bytes that were kept and are not there. */
  readonly bytes: number
}

/** As the state knows it. */
type Lost = LostCopy & { readonly id: number; readonly agent: string; readonly root: string }

/** The first of them: no further than that is looked. What SQLite's driver holds of rows it lets go of between two turns. */
export async function findLost(archive: Archive, database: Database): Promise<readonly Lost[]> {
  const kept = openKept(archive)
  const files = openStateFiles(database)
  const next = database.prepare(
    'SELECT id, place, path, bytes FROM files WHERE id > ? AND bytes > 0 ORDER BY id LIMIT 1000',
  )
  const lost: Lost[] = []
  let after = 0
  for (let rows = next.all(after); rows.length > 0 && lost.length < MOST; rows = next.all(after)) {
    for (const { id, place, path, bytes } of rows) {
      after = Number(id)
      const { agent, root } = files.placeAt(Number(place))
      const said = { path: String(path), bytes: Number(bytes) }
      const gone = lostOf(kept.place(agent, root), said)
      if (gone !== undefined && lost.length < MOST) lost.push({ id: after, agent, root, ...gone })
    }
    await nextTurn()
  }
  return lost
}

function lostOf(
  place: KeptPlace,
  { path, bytes }: { readonly path: string; readonly bytes: number },
): LostCopy | undefined {
  const held = place.look(path)
  if (held !== undefined && (held.bytes ?? bytes) >= bytes) return undefined
  const file = join(place.root, path)
  return {
    file,
    problem: held === undefined ? 'missing' : 'shorter',
    source: isAbsolute(place.root) && fs.existsSync(file) ? 'there' : 'gone',
    bytes: bytes - (held?.bytes ?? 0),
  }
}

/** Has them taken in again by the next sync. False where that cannot be noted now: another process is at work, or nothing may be written. */
export async function takeAgain(home: string, lost: readonly Lost[]): Promise<boolean> {
  const ids = lost.flatMap(({ id, source }) => (source === 'there' ? [id] : []))
  if (ids.length === 0) return true
  try {
    const archive = openArchive(home, { write: true })
    const release = acquireLock(archive.files, archive.home)
    try {
      const state = await openState(archive)
      try {
        state.database
          .prepare('UPDATE files SET pending = max(pending, 1) WHERE id IN (SELECT value FROM json_each(?))')
          .run(JSON.stringify(ids))
      } finally {
        state.close()
      }
    } finally {
      release()
    }
    return true
  } catch (error) {
    if (!isHansardError(error)) throw error
    return false
  }
}

/** What is kept of places, without what is lost. */
export function withoutLost(places: readonly PlaceHealth[], lost: readonly Lost[]): readonly PlaceHealth[] {
  return places.map((place) => {
    const own = lost.filter(({ agent, root }) => agent === place.agent && root === place.root)
    return { ...place, kept: place.kept - own.reduce((sum, { bytes }) => sum + bytes, 0) }
  })
}
