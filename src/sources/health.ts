/** What `doctor` looks at: what is known about files, units and formats, from the state; nothing is read or changed. */
import type { Database } from '../sqlite/driver.ts'

export type Health = {
  readonly places: readonly PlaceHealth[]
  /** Units whose last reading failed, or that are in no format known here. */
  readonly unreadable: readonly { readonly file: string; readonly problem: string }[]
  readonly damaged: readonly { readonly file: string; readonly damage: number }[]
  /** What readers had not seen before, by the version of the agent that wrote it. */
  readonly drift: readonly DriftHealth[]
}

export type PlaceHealth = {
  readonly agent: string
  readonly root: string
  readonly files: number
  /** Bytes that are kept. */
  readonly kept: number
  /** Files that have changed and are not taken in yet. */
  readonly pending: number
  readonly failed: number
}

export type DriftHealth = {
  readonly format: string
  readonly kind: string
  readonly name: string
  readonly version: string | undefined
  readonly count: number
  readonly units: number
}

/** A hostile archive may have any number of each. */
const MOST = 1000

export function readHealth(database: Database): Health {
  const rows = (sql: string) => database.prepare(`${sql} LIMIT ${MOST}`).all()
  return {
    places: rows(
      `SELECT agent, root, count(files.id) AS files, ifnull(sum(files.bytes), 0) AS kept,
         ifnull(sum(files.pending), 0) AS pending, count(files.problem) AS failed
       FROM places LEFT JOIN files ON files.place = places.id GROUP BY places.id ORDER BY agent, root`,
    ).map((row) => ({
      agent: String(row['agent']),
      root: String(row['root']),
      files: Number(row['files']),
      kept: Number(row['kept']),
      pending: Number(row['pending']),
      failed: Number(row['failed']),
    })),
    unreadable: rows(
      `SELECT root, path, problem FROM units JOIN places ON places.id = units.place
       WHERE problem IS NOT NULL AND EXISTS (SELECT 1 FROM files WHERE files.unit = units.id AND size > 0)
       ORDER BY root, path`,
    ).map((row) => ({
      file: `${String(row['root'])}/${String(row['path'])}`,
      problem: String(row['problem']),
    })),
    damaged: rows(
      `SELECT root, path, damage FROM units JOIN places ON places.id = units.place WHERE damage > 0
       ORDER BY damage DESC, root, path`,
    ).map((row) => ({
      file: `${String(row['root'])}/${String(row['path'])}`,
      damage: Number(row['damage']),
    })),
    drift: rows(
      `SELECT units.format, kind, name, version, sum(count) AS count, count(DISTINCT units.id) AS units FROM drift
       JOIN units ON units.reading = drift.reading GROUP BY units.format, kind, name, version
       ORDER BY units.format, kind, count DESC, name`,
    ).map((row) => ({
      format: String(row['format']),
      kind: String(row['kind']),
      name: String(row['name']),
      version: row['version'] === '' ? undefined : String(row['version']),
      count: Number(row['count']),
      units: Number(row['units']),
    })),
  }
}
