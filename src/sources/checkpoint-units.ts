/**
 * Puts the files of one of Entire's checkpoints into one unit, in places that belong to no format. There each file's content says which
 * unit it is in: a transcript in a checkpoint is the agent's own log, and a hash or a prompt is nothing. The order in which the files
 * come does not matter.
 */
import { entire } from '../formats/entire.ts'
import type { Database } from '../sqlite/driver.ts'
import type { SourceFile } from '../transcript/source.ts'
import type { StateFiles } from './state-files.ts'
import { prepared } from './state-statements.ts'
import { IMPORT } from './unit-place.ts'

/** Moves files of units that are to be read. */
export function joinCheckpoints(database: Database, files: Pick<StateFiles, 'readAs'>): void {
  const moves = prepared(database, DIRTY)
    .all()
    .flatMap((row) => {
      const [place, path, unit] = [Number(row['place']), String(row['path']), String(row['unit'])]
      const checkpoint = checkpointOf(path)
      if (checkpoint === undefined) return []
      if (checkpoint !== unit)
        return hasMetadata(database, place, checkpoint) ? [{ place, path, checkpoint }] : []
      if (!isMetadata(path)) return []
      return filesBelow(database, place, checkpoint).map((path) => ({ place, path, checkpoint }))
    })
  if (moves.length === 0) return
  database.transaction(() => {
    for (const { place, path, checkpoint } of moves) files.readAs(place, path, checkpoint)
  })
}

/** The same for files that are in no database, by their paths: the unit of each. */
export function withCheckpoints(units: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const checkpoints = new Set<string>()
  for (const [path, unit] of units) if (isMetadata(path) && checkpointOf(path) === unit) checkpoints.add(unit)
  if (checkpoints.size === 0) return units
  return new Map(
    [...units].map(([path, unit]) => {
      const checkpoint = checkpointOf(path)
      return [path, checkpoint !== undefined && checkpoints.has(checkpoint) ? checkpoint : unit]
    }),
  )
}

/** The unit that the file would be in if it were a checkpoint's, by its name alone. */
function checkpointOf(path: string): string | undefined {
  // Entire's rule asks for nothing but the path.
  const unit = entire.unit?.({ path } as SourceFile)
  return typeof unit === 'string' && unit !== path ? unit : undefined
}

/** Metadata that is no checkpoint's is a unit of its own. */
const isMetadata = (path: string): boolean => /(?:^|\/)metadata\.json$/.test(path)

/** Files to be read, of places that have a metadata file at all. */
const DIRTY = `SELECT files.place, files.path, units.path AS unit FROM units JOIN files ON files.unit = units.id
  WHERE units.dirty = 1 AND units.place IN (SELECT id FROM places WHERE agent = '${IMPORT}'
    AND EXISTS (SELECT 1 FROM files WHERE files.place = places.id AND files.path LIKE '%metadata.json'))`

function hasMetadata(database: Database, place: number, unit: string): boolean {
  const rows = prepared(
    database,
    `SELECT files.path FROM files JOIN units ON units.id = files.unit
       WHERE units.place = ? AND units.path = ? AND files.path LIKE '%metadata.json'`,
  ).all(place, unit)
  return rows.some(({ path }) => isMetadata(String(path)) && checkpointOf(String(path)) === unit)
}

function filesBelow(database: Database, place: number, unit: string): readonly string[] {
  const folder = unit === '.' ? '' : `${unit}/`
  return prepared(
    database,
    `SELECT files.path FROM files JOIN units ON units.id = files.unit
       WHERE files.place = ?1 AND substr(files.path, 1, length(?2)) = ?2 AND units.path <> ?3`,
  )
    .all(place, folder, unit)
    .map(({ path }) => String(path))
    .filter((path) => checkpointOf(path) === unit)
}
