/** Which files sync has seen, how far, and which of them are read together. */
import type { Database } from '../sqlite/driver.ts'
import type { Row, SqlValue } from '../transcript/source.ts'

export type KnownFile = {
  readonly id: number
  readonly place: number
  readonly path: string
  readonly size: number
  /** How many bytes are kept; undefined for a file that is read where it lies. */
  readonly bytes: number | undefined
  readonly unit: number | undefined
}

export type KnownUnit = {
  readonly id: number
  readonly place: number
  readonly path: string
  readonly format: string | undefined
}

export type StateFiles = {
  place(agent: string, root: string): number
  /** Paths that the user has named once. */
  given(): readonly string[]
  addGiven(path: string): void
  placeAt(id: number): { readonly agent: string; readonly root: string }
  /** Notes what a file is like now; `changed` and `new` ones are pending from here on. */
  look(place: number, path: string, seen: { readonly stamp: string; readonly size: number }): Look
  /** The next pending files after an id, in order. */
  pending(after: number, limit: number): readonly KnownFile[]
  /** Bytes of pending files that are not kept yet. */
  pendingBytes(): { readonly files: number; readonly bytes: number }
  /** A file was taken in, and belongs to a unit, which has to be read again. */
  taken(file: number, unit: string, kept: { readonly bytes: number; readonly tail: string } | undefined): void
  /** A copy that nothing is known about, from a kept folder. */
  adopt(place: number, path: string, unit: string, bytes: number | undefined): void
  /** The copy of an adopted file has changed. */
  touch(place: number, path: string, kept: { readonly bytes: number; readonly tail: string }): void
  /** Its bytes are those that were taken in before. */
  unchanged(file: number): void
  /** Its source is gone: what was kept of it stays, and nothing else is known of it. */
  gone(file: number): void
  /** Its unit is no longer what it was: its format is told anew. */
  forgetFormat(file: number): void
  /** It stays pending, and says why. */
  failed(file: number, problem: string): void
  /** The next units to read after an id, in order. */
  dirty(after: number, limit: number): readonly KnownUnit[]
  countDirty(): number
  /** Of their files, as far as they are known. */
  dirtyBytes(): number
  unitFailed(unit: number, problem: string): void
  /** The unit's files, sorted. */
  filesOf(unit: number): readonly KnownFile[]
  unitsOf(session: string): readonly KnownUnit[]
  /** Files that a journal's unit says this program wrote, absolute. */
  own(unit: number, paths: readonly string[]): void
  isOwn(path: string): boolean
  /** What is no longer kept, and not to be kept again while its source stays as it is. */
  dropped(unit: number): void
  stamp(place: number): string | undefined
  setStamp(place: number, stamp: string): void
}

export type Look = 'new' | 'changed' | 'unchanged'

export function openStateFiles(database: Database): StateFiles {
  const find = database.prepare('SELECT id, stamp, pending FROM files WHERE place = ? AND path = ?')
  const add = database.prepare('INSERT INTO files (place, path, stamp, size, pending) VALUES (?, ?, ?, ?, 1)')
  const change = database.prepare('UPDATE files SET stamp = ?, size = ?, pending = 1 WHERE id = ?')
  const unitAt = (file: number, path: string): number => {
    const place = Number(database.prepare('SELECT place FROM files WHERE id = ?').get(file)?.['place'])
    return unitId(place, path)
  }
  const unitId = (place: number, path: string): number => {
    database
      .prepare(
        'INSERT INTO units (place, path, dirty) VALUES (?, ?, 1) ON CONFLICT (place, path) DO UPDATE SET dirty = 1',
      )
      .run(place, path)
    return Number(
      database.prepare('SELECT id FROM units WHERE place = ? AND path = ?').get(place, path)?.['id'],
    )
  }

  return {
    place(agent, root) {
      database.prepare('INSERT OR IGNORE INTO places (agent, root) VALUES (?, ?)').run(agent, root)
      return Number(
        database.prepare('SELECT id FROM places WHERE agent = ? AND root = ?').get(agent, root)?.['id'],
      )
    },
    given: () =>
      database
        .prepare('SELECT path FROM given ORDER BY path')
        .all()
        .map(({ path }) => String(path)),
    addGiven: (path) => void database.prepare('INSERT OR IGNORE INTO given (path) VALUES (?)').run(path),
    placeAt: (id) => toPlace(database.prepare('SELECT agent, root FROM places WHERE id = ?').get(id) ?? {}),
    look(place, path, { stamp, size }) {
      const known = find.get(place, path)
      if (known === undefined) {
        add.run(place, path, stamp, size)
        return 'new'
      }
      if (known['stamp'] === stamp && known['pending'] === 0) return 'unchanged'
      change.run(stamp, size, Number(known['id']))
      return 'changed'
    },
    pending: (after, limit) =>
      database
        .prepare('SELECT * FROM files WHERE pending = 1 AND id > ? ORDER BY id LIMIT ?')
        .all(after, limit)
        .map(toFile),
    pendingBytes() {
      const row = database
        .prepare(
          'SELECT count(*) AS files, sum(max(size - ifnull(bytes, 0), 0)) AS bytes FROM files WHERE pending = 1',
        )
        .get()
      return { files: Number(row?.['files'] ?? 0), bytes: Number(row?.['bytes'] ?? 0) }
    },
    taken(file, unit, kept) {
      database
        .prepare('UPDATE files SET pending = 0, problem = NULL, unit = ?, bytes = ?, tail = ? WHERE id = ?')
        .run(unitAt(file, unit), kept?.bytes ?? null, kept?.tail ?? null, file)
    },
    adopt(place, path, unit, bytes) {
      database
        .prepare(
          `INSERT OR IGNORE INTO files (place, path, stamp, size, bytes, pending, unit) VALUES (?, ?, '', ?, ?, 0, ?)`,
        )
        .run(place, path, bytes ?? 0, bytes ?? null, unitId(place, unit))
    },
    touch(place, path, { bytes, tail }) {
      database
        .prepare('UPDATE files SET size = ?, bytes = ?, tail = ? WHERE place = ? AND path = ?')
        .run(bytes, bytes, tail, place, path)
      database
        .prepare(
          `UPDATE units SET dirty = 1, format = NULL
           WHERE id = (SELECT unit FROM files WHERE place = ? AND path = ?)`,
        )
        .run(place, path)
    },
    unchanged: (file) =>
      void database.prepare('UPDATE files SET pending = 0, problem = NULL WHERE id = ?').run(file),
    gone(file) {
      database.prepare('DELETE FROM files WHERE id = ? AND bytes IS NULL').run(file)
      database.prepare('UPDATE files SET pending = 0, problem = NULL WHERE id = ?').run(file)
    },
    forgetFormat: (file) =>
      void database
        .prepare('UPDATE units SET format = NULL WHERE id = (SELECT unit FROM files WHERE id = ?)')
        .run(file),
    failed: (file, problem) =>
      void database.prepare('UPDATE files SET problem = ? WHERE id = ?').run(problem, file),
    dirty: (after, limit) =>
      database
        .prepare('SELECT * FROM units WHERE dirty = 1 AND id > ? ORDER BY id LIMIT ?')
        .all(after, limit)
        .map(toUnit),
    countDirty: () =>
      Number(database.prepare('SELECT count(*) AS count FROM units WHERE dirty = 1').get()?.['count'] ?? 0),
    dirtyBytes: () =>
      Number(
        database
          .prepare('SELECT sum(size) AS bytes FROM files JOIN units ON units.id = files.unit WHERE dirty = 1')
          .get()?.['bytes'] ?? 0,
      ),
    unitFailed: (unit, problem) =>
      void database.prepare('UPDATE units SET problem = ? WHERE id = ?').run(problem, unit),
    filesOf: (unit) =>
      database.prepare('SELECT * FROM files WHERE unit = ? ORDER BY path').all(unit).map(toFile),
    unitsOf: (session) =>
      database
        .prepare(
          `SELECT units.* FROM recordings JOIN units ON units.reading = recordings.reading
           WHERE session = ? AND chosen > 0 ORDER BY recordings.started_at, units.id`,
        )
        .all(session)
        .map(toUnit),
    own(unit, paths) {
      database.prepare('DELETE FROM own_files WHERE unit = ?').run(unit)
      const add = database.prepare('INSERT OR REPLACE INTO own_files (path, unit) VALUES (?, ?)')
      for (const path of paths) add.run(path, unit)
    },
    isOwn: (path) => database.prepare('SELECT 1 FROM own_files WHERE path = ?').get(path) !== undefined,
    dropped(unit) {
      database.prepare('UPDATE files SET bytes = 0, tail = NULL WHERE unit = ?').run(unit)
    },
    stamp(place) {
      const stamp = database.prepare('SELECT stamp FROM places WHERE id = ?').get(place)?.['stamp']
      return typeof stamp === 'string' ? stamp : undefined
    },
    setStamp: (place, stamp) =>
      void database.prepare('UPDATE places SET stamp = ? WHERE id = ?').run(stamp, place),
  }
}

function toPlace({ agent, root }: Row): { agent: string; root: string } {
  return { agent: String(agent), root: String(root) }
}

function toFile({ id, place, path, size, bytes, unit }: Row): KnownFile {
  return {
    id: Number(id),
    place: Number(place),
    path: String(path),
    size: Number(size),
    bytes: toNumber(bytes),
    unit: toNumber(unit),
  }
}

function toNumber(value: SqlValue | undefined): number | undefined {
  return value === null || value === undefined ? undefined : Number(value)
}

function toUnit({ id, place, path, format }: Row): KnownUnit {
  return {
    id: Number(id),
    place: Number(place),
    path: String(path),
    format: typeof format === 'string' ? format : undefined,
  }
}
