/** Which files sync has seen, and how far; with them, which are read together and which are this program's own. */
import type { Database } from '../sqlite/driver.ts'
import type { Row } from '../transcript/source.ts'
import { openHalfFiles, type HalfFiles } from './state-half-files.ts'
import { openOwnFiles, type OwnFiles } from './state-own-files.ts'
import { prepared } from './state-statements.ts'
import { openStateUnits, toNumber, type StateUnits } from './state-units.ts'

export type KnownFile = {
  readonly id: number
  readonly place: number
  readonly path: string
  /** When it was last looked at. */
  readonly stamp: string
  readonly size: number
  /** How many bytes are kept; undefined for a file that is read where it lies. */
  readonly bytes: number | undefined
  readonly tail: string | undefined
  readonly unit: number | undefined
  /** Somebody began to take it in, and may have died before it was known what came of it. */
  readonly isHalfTaken: boolean
}

export type UnitFile = Pick<KnownFile, 'path' | 'size' | 'bytes'>

/** What a walk met: its path, what tells that it is unchanged, and its size. */
export type SeenFile = { readonly path: string; readonly stamp: string; readonly size: number }

/** How much of a file is kept, and the hash of its last 4 KB. */
export type KeptNow = { readonly bytes: number; readonly tail: string }

export type StateFiles = StateUnits &
  OwnFiles &
  HalfFiles & {
    place(agent: string, root: string): number
    findPlace(agent: string, root: string): number | undefined
    placeAt(id: number): { readonly agent: string; readonly root: string }
    /**
     * Notes what files are like now: those that are new or changed, or not kept though they are to be, are pending from here on. Gives
     * how many these are.
     */
    look(place: number, seen: readonly SeenFile[], isToKeep: boolean): number
    /** True for a file that `look` found shorter than it was: of one that is not kept, nothing else tells that it was rewritten. */
    hasShrunk(file: number): boolean
    /** Which of them, by place in the list, `look` would make pending. */
    changed(place: number, seen: readonly SeenFile[], isToKeep: boolean): readonly number[]
    /** Whether they are all known, and as they are now. */
    areKnown(place: number, seen: readonly SeenFile[]): boolean
    /** How many files of the place are known. */
    countIn(place: number): number
    /** Forgets the files of a place that are none of these: they were this archive's own, and are gone. */
    keepOnly(place: number, paths: ReadonlySet<string>): void
    /** The next pending files after an id, in order. */
    pending(after: number, limit: number): readonly KnownFile[]
    /** Bytes of pending files that are not kept yet. */
    pendingBytes(): { readonly files: number; readonly bytes: number }
    /** A file was taken in, and belongs to a unit, which has to be read again. */
    taken(file: KnownFile, unit: string, kept: KeptNow | undefined): void
    /** They are read where they lie before they are kept, each as part of a unit: they stay pending until then. */
    ahead(place: number, files: readonly { readonly file: number; readonly unit: string }[]): void
    /** What was read where it lay is kept now, as it was read. */
    keptBehind(file: number, kept: KeptNow): void
    /** Whether nothing of the place was ever taken in. */
    isUntouched(place: number): boolean
    /** Told of every unit that a file was taken in of, or is read of where it lies. */
    onTaken(listener: (unit: number) => void): void
    /** Said before the first byte is kept. */
    taking(file: number): void
    /** They are to be taken in and told anew, changed or not. */
    takeAgain(place: number, paths: readonly string[]): void
    /** The same for one that no walk meets, and is kept: it is part of this unit now. */
    readAs(place: number, path: string, unit: string): void
    /** This program's own file: there is nothing in it to take. */
    ours(file: number): void
    /** A copy in a kept folder that nothing may be known about; one that is known stays as it is. */
    adopt(place: number, path: string, unit: string, bytes: number): void
    /**
     * What no walk meets was kept, or, without `kept`, read where it lies: its unit is read again where that changed anything. `stamp`:
     * by which it will be known to be unchanged, if by any.
     */
    copied(place: number, path: string, unit: string, kept: KeptNow | undefined, stamp?: string): void
    /** How many files a unit has. */
    countOf(place: number, unit: string): number
    /** Its bytes are those that were taken in before. */
    unchanged(file: number): void
    /** Its source is gone: what was kept of it stays, and what was read of it. One that was never taken in, or read, is forgotten. */
    gone(file: number): void
    /** Its unit is no longer what it was: its format is told anew. */
    forgetFormat(file: number): void
    /** It stays pending, and says why. Where it was all that hindered its unit from being read, that is read without it. */
    failed(file: number, problem: string): void
    /** The unit's files, sorted. */
    filesOf(unit: number): readonly UnitFile[]
    /** The same some thousand at a time, in the order they were first seen in: there may be a million. */
    fileLists(unit: number): Generator<readonly UnitFile[], void, undefined>
    /** What is no longer kept, and not to be kept again while its source stays as it is. */
    dropped(unit: number): void
    stamp(place: number): string | undefined
    setStamp(place: number, stamp: string): void
  }

export function openStateFiles(database: Database): StateFiles {
  const add = prepared(
    database,
    'INSERT INTO files (place, path, stamp, size, pending) VALUES (?, ?, ?, ?, 1)',
  )
  const change = prepared(
    database,
    'UPDATE files SET stamp = ?, size = ?, pending = max(pending, 1) WHERE id = ?',
  )
  const findAt = prepared(database, 'SELECT id, stamp, bytes, tail FROM files WHERE place = ? AND path = ?')
  const insert = prepared(
    database,
    `INSERT INTO files (place, path, stamp, size, bytes, tail, pending, unit) VALUES (?, ?, ?, ?, ?, ?, 0, ?)`,
  )
  let taken: (unit: number) => void = () => {}
  const shrunk = new Set<number>()
  /** A place stays what it is. */
  const placesAt = new Map<number, { readonly agent: string; readonly root: string }>()
  const findPlace = (agent: string, root: string): number | undefined =>
    toNumber(
      prepared(database, 'SELECT id FROM places WHERE agent = ? AND root = ?').get(agent, root)?.['id'],
    )
  const changedOf = (place: number, seen: readonly SeenFile[], isToKeep: boolean): readonly Row[] => {
    const asked = JSON.stringify(seen.map(({ path, stamp }) => [path.replace(HALVES, '\uFFFD'), stamp]))
    return prepared(database, CHANGED).all(asked, place, isToKeep ? 1 : 0)
  }
  const unitId = (place: number, path: string): number => {
    const add = prepared(
      database,
      `INSERT INTO units (place, path, dirty) VALUES (?, ?, 1)
         ON CONFLICT (place, path) DO UPDATE SET dirty = 1 RETURNING id`,
    )
    return Number(add.get(place, path)?.['id'])
  }
  function* fileLists(unit: number): Generator<readonly UnitFile[], void, undefined> {
    const lists = prepared(database, FILES_OF)
    for (let after = 0; ;) {
      const { found, last } = lists.get(unit, after) ?? {}
      const list = JSON.parse(String(found)) as FileList
      yield list.map(([path, size, bytes]) => ({ path, size, bytes: bytes ?? undefined }))
      if (list.length < FILES_A_LIST) return
      after = Number(last)
    }
  }

  return {
    ...openStateUnits(database),
    ...openOwnFiles(database),
    ...openHalfFiles(database),
    place(agent, root) {
      const known = findPlace(agent, root)
      if (known !== undefined) return known
      prepared(database, 'INSERT INTO places (agent, root) VALUES (?, ?)').run(agent, root)
      return findPlace(agent, root) as number
    },
    findPlace,
    placeAt(id) {
      const known = placesAt.get(id)
      if (known !== undefined) return known
      const place = toPlace(prepared(database, 'SELECT agent, root FROM places WHERE id = ?').get(id) ?? {})
      placesAt.set(id, place)
      return place
    },
    look(place, seen, isToKeep) {
      const changed = changedOf(place, seen, isToKeep)
      for (const { at, id, size: before } of changed) {
        const { path, stamp, size } = seen[Number(at)] as SeenFile
        if (typeof id === 'number') {
          if (size < Number(before)) shrunk.add(id)
          else shrunk.delete(id)
          change.run(stamp, size, id)
        } else add.run(place, path, stamp, size)
      }
      return changed.length
    },
    hasShrunk: (file) => shrunk.has(file),
    changed: (place, seen, isToKeep) => changedOf(place, seen, isToKeep).map(({ at }) => Number(at)),
    countOf: (place, unit) =>
      Number(
        prepared(
          database,
          'SELECT count(*) AS count FROM files WHERE unit = (SELECT id FROM units WHERE place = ? AND path = ?)',
        ).get(place, unit)?.['count'] ?? 0,
      ),
    areKnown: (place, seen) => changedOf(place, seen, false).length === 0,
    countIn: (place) =>
      Number(
        prepared(database, 'SELECT count(*) AS count FROM files WHERE place = ?').get(place)?.['count'] ?? 0,
      ),
    keepOnly(place, paths) {
      for (const { id, path, unit } of prepared(
        database,
        'SELECT id, path, unit FROM files WHERE place = ?',
      ).all(place)) {
        if (paths.has(String(path))) continue
        prepared(database, 'DELETE FROM files WHERE id = ?').run(Number(id))
        if (typeof unit === 'number') prepared(database, 'UPDATE units SET dirty = 1 WHERE id = ?').run(unit)
      }
    },
    pending: (after, limit) =>
      prepared(database, 'SELECT * FROM files WHERE pending > 0 AND id > ? ORDER BY id LIMIT ?')
        .all(after, limit)
        .map(toFile),
    pendingBytes() {
      const row = prepared(
        database,
        'SELECT count(*) AS files, sum(max(size - ifnull(bytes, 0), 0)) AS bytes FROM files WHERE pending > 0',
      ).get()
      return { files: Number(row?.['files'] ?? 0), bytes: Number(row?.['bytes'] ?? 0) }
    },
    taken({ id, place, unit: before }, unit, kept) {
      const now = unitId(place, unit)
      taken(now)
      prepared(
        database,
        'UPDATE files SET pending = 0, problem = NULL, unit = ?, bytes = ?, tail = ? WHERE id = ?',
      ).run(now, kept?.bytes ?? null, kept?.tail ?? null, id)
      // What was read with it before is read without it.
      if (before !== undefined && before !== now)
        prepared(database, 'UPDATE units SET dirty = 1 WHERE id = ?').run(before)
    },
    ahead(place, files) {
      const all = JSON.stringify(files.map(({ file, unit }) => [file, unit.replace(HALVES, '\uFFFD')]))
      const units = prepared(
        database,
        `INSERT INTO units (place, path, dirty) SELECT ?1, value ->> 1, 1 FROM json_each(?2) WHERE true
           ON CONFLICT (place, path) DO UPDATE SET dirty = 1 RETURNING id`,
      ).all(place, all)
      for (const { id } of units) taken(Number(id))
      prepared(
        database,
        `UPDATE files SET unit = (SELECT units.id FROM units WHERE units.place = ?1 AND units.path = seen.value ->> 1)
           FROM json_each(?2) AS seen WHERE files.id = seen.value ->> 0`,
      ).run(place, all)
    },
    keptBehind: (file, { bytes, tail }) =>
      void prepared(
        database,
        'UPDATE files SET pending = 0, problem = NULL, bytes = ?, tail = ? WHERE id = ?',
      ).run(bytes, tail, file),
    isUntouched: (place) =>
      prepared(database, 'SELECT 1 FROM units WHERE place = ? LIMIT 1').get(place) === undefined,
    onTaken: (listener) => void (taken = listener),
    taking: (file) => void prepared(database, 'UPDATE files SET pending = 2 WHERE id = ?').run(file),
    takeAgain: (place, paths) =>
      void prepared(
        database,
        'UPDATE files SET pending = 2 WHERE place = ? AND path IN (SELECT value FROM json_each(?))',
      ).run(place, JSON.stringify(paths)),
    readAs(place, path, unit) {
      const before = prepared(database, 'SELECT unit FROM files WHERE place = ? AND path = ?').get(
        place,
        path,
      )
      const now = unitId(place, unit)
      prepared(database, 'UPDATE files SET unit = ? WHERE place = ? AND path = ?').run(now, place, path)
      for (const id of new Set([now, toNumber(before?.['unit']) ?? now]))
        prepared(database, 'UPDATE units SET format = NULL, dirty = 1 WHERE id = ?').run(id)
    },
    ours: (file) =>
      void prepared(database, 'UPDATE files SET pending = 0, problem = NULL, bytes = 0 WHERE id = ?').run(
        file,
      ),
    adopt(place, path, unit, bytes) {
      if (findAt.get(place, path) === undefined)
        insert.run(place, path, '', bytes, bytes, null, unitId(place, unit))
    },
    copied(place, path, unit, kept, stamp = '') {
      const known = findAt.get(place, path)
      const [size, bytes, tail] = [kept?.bytes ?? 0, kept?.bytes ?? null, kept?.tail ?? null]
      if (known === undefined) {
        insert.run(place, path, stamp, size, bytes, tail, unitId(place, unit))
        return
      }
      const id = Number(known['id'])
      if (known['stamp'] !== stamp)
        prepared(database, 'UPDATE files SET stamp = ? WHERE id = ?').run(stamp, id)
      // Nothing is known about the end of what was adopted.
      const isSame = known['bytes'] === kept?.bytes && (known['tail'] ?? kept?.tail) === kept?.tail
      if (isSame && kept !== undefined) return
      prepared(database, 'UPDATE files SET size = ?, bytes = ?, tail = ?, unit = ? WHERE id = ?').run(
        size,
        bytes,
        tail,
        unitId(place, unit),
        id,
      )
      prepared(database, 'UPDATE units SET format = NULL WHERE place = ? AND path = ?').run(place, unit)
    },
    unchanged: (file) =>
      void prepared(database, 'UPDATE files SET pending = 0, problem = NULL WHERE id = ?').run(file),
    gone(file) {
      prepared(
        database,
        `DELETE FROM files WHERE id = ? AND (unit IS NULL
           OR bytes IS NULL AND NOT EXISTS (SELECT 1 FROM units WHERE units.id = unit AND reading IS NOT NULL))`,
      ).run(file)
      prepared(database, 'UPDATE files SET pending = 0, problem = NULL WHERE id = ?').run(file)
    },
    forgetFormat: (file) =>
      void prepared(
        database,
        'UPDATE units SET format = NULL WHERE id = (SELECT unit FROM files WHERE id = ?)',
      ).run(file),
    failed(file, problem) {
      prepared(database, 'UPDATE files SET problem = ? WHERE id = ?').run(problem, file)
      prepared(
        database,
        `UPDATE files SET unit = NULL WHERE id = ? AND bytes IS NULL
           AND EXISTS (SELECT 1 FROM units WHERE units.id = unit AND reading IS NULL AND dirty = 1)`,
      ).run(file)
    },
    filesOf: (unit) => [...fileLists(unit)].flat().sort((one, other) => (one.path < other.path ? -1 : 1)),
    fileLists,
    dropped(unit) {
      prepared(database, 'UPDATE files SET bytes = 0, tail = NULL, pending = 0 WHERE unit = ?').run(unit)
    },
    stamp(place) {
      const stamp = prepared(database, 'SELECT stamp FROM places WHERE id = ?').get(place)?.['stamp']
      return typeof stamp === 'string' ? stamp : undefined
    },
    setStamp: (place, stamp) =>
      void prepared(database, 'UPDATE places SET stamp = ? WHERE id = ?').run(stamp, place),
  }
}

const FILES_A_LIST = 1000

type FileList = readonly (readonly [path: string, size: number, bytes: number | null])[]

/**
 * Many as one answer: the driver holds some memory for each until the next turn of the event loop. By their ids, in which the index of
 * a unit's files goes on where it was left: by their paths, all of them would be sorted for each answer.
 */
const FILES_OF = `SELECT json_group_array(json_array(path, size, bytes)) AS found, max(id) AS last
  FROM (SELECT id, path, size, bytes FROM files WHERE unit = ? AND id > ? ORDER BY id LIMIT ${FILES_A_LIST})`

/** Half characters, which Windows has in names: stored as what SQLite makes of them. */
const HALVES = /\p{Cs}/gu

/** Asked for many at once, in the database: a sync of a million unchanged files gives back no row. */
const CHANGED = `SELECT seen.key AS at, files.id AS id, files.size AS size FROM json_each(?) AS seen
  LEFT JOIN files ON files.place = ? AND files.path = (seen.value ->> 0)
  WHERE files.stamp IS NOT (seen.value ->> 1) OR files.pending > 0 OR (? AND files.bytes IS NULL)`

function toPlace({ agent, root }: Row): { agent: string; root: string } {
  return { agent: String(agent), root: String(root) }
}

function toFile({ id, place, path, stamp, size, bytes, tail, unit, pending }: Row): KnownFile {
  return {
    id: Number(id),
    place: Number(place),
    path: String(path),
    stamp: String(stamp),
    size: Number(size),
    bytes: toNumber(bytes),
    tail: typeof tail === 'string' ? tail : undefined,
    unit: toNumber(unit),
    isHalfTaken: Number(pending) > 1,
  }
}
