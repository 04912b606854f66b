/** The recordings of a session in the order in which they are read as one: each with where it lies and what it says. */
import type { Archive } from '../archive/archive.ts'
import type { ReadItem } from '../formats/format.ts'
import { JOURNAL } from '../journal/format-id.ts'
import type { Database } from '../sqlite/driver.ts'
import { loadFormat } from './load-format.ts'
import type { Stream } from './one-session.ts'
import { readPlaced } from './read-unit.ts'
import { openStateFiles } from './state-files.ts'
import { placeName, type UnitPlace } from './unit-place.ts'

export type SessionUnit = {
  readonly place: UnitPlace
  readonly format: string
  /** Another one for every pass over it. */
  readonly reading: number
  /** It has changed since that pass. */
  readonly isDirty: boolean
  /** As known; zero for what is only in a journal. */
  readonly bytes: number
}

export type ReadRecorded = (archive: Archive, id: string) => AsyncIterable<readonly ReadItem[]>

export function sessionUnits(
  database: Database,
  { home }: Pick<Archive, 'home'>,
  key: string,
): readonly SessionUnit[] {
  const files = openStateFiles(database)
  return files.unitsOf(key).map((unit) => {
    const { agent, root } = files.placeAt(unit.place)
    const own = files.filesOf(unit.id)
    const format = unit.format ?? JOURNAL
    const row = database
      .prepare('SELECT ifnull(extended, reading) AS reading, dirty FROM units WHERE id = ?')
      .get(unit.id)
    return {
      place: {
        home,
        agent,
        root,
        unit: unit.path,
        paths: own.map(({ path }) => path),
        isKept: format !== JOURNAL && own.every(({ bytes }) => bytes !== undefined),
      },
      format,
      reading: Number(row?.['reading'] ?? 0),
      isDirty: Number(row?.['dirty'] ?? 0) !== 0,
      bytes: own.reduce((sum, { bytes, size }) => sum + (bytes ?? size), 0),
    }
  })
}

/** `readRecorded`: how a session of the archive itself is read. */
export function sessionStreams(
  units: readonly SessionUnit[],
  archive: Archive,
  readRecorded: ReadRecorded,
): readonly Stream[] {
  return units.map(({ place, format }): Stream => {
    if (format === JOURNAL)
      return { items: readRecorded(archive, place.unit), unit: undefined, own: place.unit }
    return { items: readUnit(place, format), unit: placeName(place) }
  })
}

async function* readUnit(place: UnitPlace, format: string): AsyncGenerator<readonly ReadItem[]> {
  yield* readPlaced(place, await loadFormat(format), { enter: async () => {} })
}
