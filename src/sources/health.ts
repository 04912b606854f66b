/** What `doctor` looks at: what is known about files, units and formats, from the state; nothing is read or changed. */
import type { Database } from '../sqlite/driver.ts'
import type { Row } from '../transcript/source.ts'

export type Health = {
  readonly places: readonly PlaceHealth[]
  /** Files that could not be taken in whole, and folders that could not be looked into, when they were last tried, each with an error's code. */
  readonly failed: readonly { readonly file: string; readonly problem: string }[]
  /** Units whose last reading failed, or that are in no format known here. */
  readonly unreadable: readonly { readonly file: string; readonly problem: string }[]
  readonly damaged: readonly { readonly file: string; readonly damage: number }[]
  /** What readers had not seen before, by the version of the agent that wrote it. */
  readonly drift: readonly DriftHealth[]
  /** How many there are of each: of the lists, only the beginning is given. */
  readonly totals: {
    readonly places: number
    readonly failed: number
    readonly unreadable: number
    readonly damaged: number
    readonly drift: number
  }
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

/** Given of each: a hostile archive may have any number. */
export const MOST = 1000

export function readHealth(database: Database): Health {
  const places = look(database, PLACES)
  const failed = look(database, FAILED)
  const unreadable = look(database, UNREADABLE)
  const damaged = look(database, DAMAGED)
  const drift = look(database, DRIFT)
  return {
    places: places.rows.map((row) => ({
      agent: String(row['agent']),
      root: String(row['root']),
      files: Number(row['files']),
      kept: Number(row['kept']),
      pending: Number(row['pending']),
      failed: Number(row['failed']),
    })),
    failed: failed.rows.map((row) => ({ file: String(row['file']), problem: String(row['problem']) })),
    unreadable: unreadable.rows.map((row) => ({ file: fileOf(row), problem: String(row['problem']) })),
    damaged: damaged.rows.map((row) => ({ file: fileOf(row), damage: Number(row['damage']) })),
    drift: drift.rows.map((row) => ({
      format: String(row['format']),
      kind: String(row['kind']),
      name: String(row['name']),
      version: row['version'] === '' ? undefined : String(row['version']),
      count: Number(row['count']),
      units: Number(row['units']),
    })),
    totals: {
      places: places.total,
      failed: failed.total,
      unreadable: unreadable.total,
      damaged: damaged.total,
      drift: drift.total,
    },
  }
}

function look(database: Database, sql: string): { readonly rows: readonly Row[]; readonly total: number } {
  const rows = database.prepare(`${sql} LIMIT ${MOST}`).all()
  return { rows, total: Number(rows[0]?.['total'] ?? 0) }
}

function fileOf({ root, path }: Row): string {
  return `${String(root)}/${String(path)}`
}

/** `pending` is more than 1 for a file whose taking was begun. */
const PLACES = `SELECT agent, root, count(files.id) AS files, ifnull(sum(files.bytes), 0) AS kept,
    count(CASE WHEN files.pending > 0 THEN 1 END) AS pending, count(files.problem) + (SELECT count(*) FROM unseen
      WHERE unseen.path = root OR substr(unseen.path, 1, length(root) + 1) = root || '/') AS failed, count(*) OVER () AS total
  FROM places LEFT JOIN files ON files.place = places.id GROUP BY places.id ORDER BY agent, root`

const FAILED = `SELECT file, problem, count(*) OVER () AS total FROM (
    SELECT root || '/' || path AS file, problem FROM files JOIN places ON places.id = files.place WHERE problem IS NOT NULL
    UNION SELECT path, problem FROM unseen
  ) ORDER BY file`

const UNREADABLE = `SELECT root, path, problem, count(*) OVER () AS total
  FROM units JOIN places ON places.id = units.place
  WHERE problem IS NOT NULL AND EXISTS (SELECT 1 FROM files WHERE files.unit = units.id AND size > 0)
  ORDER BY root, path`

const DAMAGED = `SELECT root, path, damage, count(*) OVER () AS total
  FROM units JOIN places ON places.id = units.place WHERE damage > 0 ORDER BY damage DESC, root, path`

const DRIFT = `SELECT units.format AS format, kind, name, version, sum(count) AS count,
    count(DISTINCT units.id) AS units, count(*) OVER () AS total
  FROM drift JOIN units ON units.reading = drift.reading GROUP BY units.format, kind, name, version
  ORDER BY units.format, kind, count DESC, name`
