/** Files that are read together: which of them have to be read again, and what hindered it. */
import type { Database } from '../sqlite/driver.ts'
import type { Row, SqlValue } from '../transcript/source.ts'
import { prepared } from './state-statements.ts'
import { IMPORT } from './unit-place.ts'

/** Recordings of a session as `show` joins them: the one order of entries, which search and lists number by. No sync decides it. */
export const AS_SHOWN = 'recordings.started_at, places.root, places.agent, units.path'

export type KnownUnit = {
  readonly id: number
  readonly place: number
  readonly path: string
  readonly format: string | undefined
  /** Its last whole pass; undefined when there was none. */
  readonly reading: number | undefined
  /** What was put to that pass last; undefined when nothing was. */
  readonly extended?: number | undefined
}

export type StateUnits = {
  /** The next units to read after an id, in order. */
  dirty(after: number, limit: number): readonly KnownUnit[]
  countDirty(): number
  /** True where a unit is to be read of a place that belongs to no format. */
  hasUnownedDirty(): boolean
  /** Of their files, as far as they are known. */
  dirtyBytes(): number
  unitFailed(unit: number, problem: string): void
  /** There is nothing left to read it from: its last reading stays, and it says why. What is pending of one never read is none of its. */
  unitGone(unit: number, problem: string): void
  /** It has changed while it was read. */
  readAgain(unit: number): void
  unitsOf(session: string): readonly KnownUnit[]
  /** One that nothing is to be read of. */
  unitAt(unit: number): KnownUnit | undefined
}

export function openStateUnits(database: Database): StateUnits {
  return {
    dirty: (after, limit) =>
      prepared(database, 'SELECT * FROM units WHERE dirty = 1 AND id > ? ORDER BY id LIMIT ?')
        .all(after, limit)
        .map(toUnit),
    countDirty: () =>
      Number(prepared(database, 'SELECT count(*) AS count FROM units WHERE dirty = 1').get()?.['count'] ?? 0),
    hasUnownedDirty: () =>
      prepared(
        database,
        `SELECT 1 FROM units JOIN places ON places.id = units.place WHERE dirty = 1 AND agent = '${IMPORT}' LIMIT 1`,
      ).get() !== undefined,
    dirtyBytes: () =>
      Number(
        prepared(
          database,
          'SELECT sum(size) AS bytes FROM files JOIN units ON units.id = files.unit WHERE dirty = 1',
        ).get()?.['bytes'] ?? 0,
      ),
    unitFailed: (unit, problem) =>
      void prepared(database, 'UPDATE units SET problem = ? WHERE id = ?').run(problem, unit),
    unitGone(unit, problem) {
      prepared(database, 'UPDATE units SET dirty = 0, problem = ? WHERE id = ?').run(problem, unit)
      prepared(
        database,
        `UPDATE files SET unit = NULL WHERE unit = ? AND pending > 0 AND bytes IS NULL
           AND EXISTS (SELECT 1 FROM units WHERE units.id = unit AND reading IS NULL)`,
      ).run(unit)
    },
    readAgain: (unit) => void prepared(database, 'UPDATE units SET dirty = 1 WHERE id = ?').run(unit),
    unitsOf: (session) =>
      prepared(
        database,
        `SELECT units.* FROM recordings JOIN units ON units.reading = recordings.reading JOIN places ON places.id = units.place
           WHERE session = ? AND chosen > 0 ORDER BY ${AS_SHOWN}`,
      )
        .all(session)
        .map(toUnit),
    unitAt(unit) {
      const row = prepared(database, 'SELECT * FROM units WHERE id = ? AND dirty = 0').get(unit)
      return row && toUnit(row)
    },
  }
}

function toUnit({ id, place, path, format, reading, extended }: Row): KnownUnit {
  return {
    id: Number(id),
    place: Number(place),
    path: String(path),
    format: typeof format === 'string' ? format : undefined,
    reading: toNumber(reading),
    extended: toNumber(extended),
  }
}

export function toNumber(value: SqlValue | undefined): number | undefined {
  return value === null || value === undefined ? undefined : Number(value)
}
