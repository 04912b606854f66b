/** The units that the state knows, as the index needs them: what each is called, what tells that it has changed, whose sessions it holds. */
import { JOURNAL } from '../journal/format-id.ts'
import type { Database } from '../sqlite/driver.ts'
import { prepared } from '../sources/state-statements.ts'
import { AS_SHOWN } from '../sources/state-units.ts'
import { bornOf } from '../sources/state.ts'
import { placeName, type UnitPlace } from '../sources/unit-place.ts'
import type { Row, SqlValue } from '../transcript/source.ts'
import { toHash } from './doc-facts.ts'
import { grouped, together, type Asked } from './rows-together.ts'

export type ListedUnit = {
  /** The same in every state and every index of the archive. */
  readonly name: string
  /** Another one for everything that could have been read differently. */
  readonly version: string
  readonly place: UnitPlace
  readonly format: string
  readonly bytes: number
  /** When the last of its sessions ended, as they say; milliseconds since 1970, zero when none does. */
  readonly endedAt: number
  /** The keys of its sessions, by the ids they have in the unit. Those that were deleted are not here. */
  readonly sessions: ReadonlyMap<string, string>
  /** What they are called, by key. */
  readonly titles: ReadonlyMap<string, { readonly title: string }>
  /** When those began that other units speak for, too, by key: for their entries that say no time. */
  readonly starts: ReadonlyMap<string, string>
  /** Of those, the ones that other recordings speak for. */
  readonly hidden: ReadonlySet<string>
}

/** Units asked for at once: what is known of so many takes some megabytes. */
export const UNITS_AT_ONCE = 10_000

export type UnitVersion = { readonly id: number; readonly name: string; readonly version: string }

/** The versions of all units: what tells which of them have changed, at a tenth of what listing them costs. */
export function* unitVersions(database: Database, atOnce = UNITS_AT_ONCE): Generator<UnitVersion> {
  const born = bornOf(database)
  const last = Number(prepared(database, 'SELECT max(id) AS last FROM units').get()?.['last'] ?? 0)
  const plain = new Map<unknown, string>()
  for (let from = 0; from < last; from += atOnce) {
    const range = [from, from + atOnce]
    const shared =
      last <= atOnce
        ? grouped(database, 'reading', SHARED)
        : grouped(database, 'reading', SHARED_OF_SOME, undefined, ...range)
    const within = `${UNITS} AND units.id > ? AND units.id <= ?`
    for (const row of together(database, UNIT_COLUMNS, within, ...range)) {
      const own = shared.get(Number(row['reading']))
      const { format } = row
      const meant = own === undefined ? plain.get(format) : undefined
      const known = meant ?? meaningOf(format, sharedOf(own ?? []), born)
      if (own === undefined) plain.set(format, known)
      const name = JSON.stringify([row['agent'], row['root'], row['path']])
      yield { id: Number(row['id']), name, version: toVersion(row, known) }
    }
  }
}

/** One unit as it is now. */
export function findUnit(database: Database, home: string, name: string): ListedUnit | undefined {
  const [agent = '', root = '', path = ''] = JSON.parse(name) as string[]
  const where = 'AND places.agent = ? AND places.root = ? AND units.path = ?'
  const unit = prepared(database, `${UNITS} ${where}`).get(agent, root, path)
  if (unit === undefined) return undefined
  const files = prepared(database, `${FILES.sql} AND unit = ?`).all(unit['id'] ?? null)
  const recordings = prepared(database, `${RECORDINGS.sql} AND reading = ?`).all(unit['reading'] ?? null)
  return toUnit(unit, files, recordings, { home, born: bornOf(database) })
}

/** The same for some of them, in three questions for all. */
export function findUnits(
  database: Database,
  home: string,
  names: readonly string[],
): ReadonlyMap<string, ListedUnit> {
  const asked = `SELECT units.id FROM json_each(?) AS asked
    CROSS JOIN places ON places.agent = json_extract(asked.value, '$[0]') AND places.root = json_extract(asked.value, '$[1]')
    CROSS JOIN units ON units.place = places.id AND units.path = json_extract(asked.value, '$[2]')`
  const found = findThese(database, home, asked, JSON.stringify(names))
  return new Map([...found.values()].map((unit) => [unit.name, unit]))
}

/** The same by the ids that they have in this state. */
export function findUnitsById(
  database: Database,
  home: string,
  ids: readonly number[],
): ReadonlyMap<number, ListedUnit> {
  return findThese(database, home, 'SELECT value FROM json_each(?)', JSON.stringify(ids))
}

function findThese(
  database: Database,
  home: string,
  asked: string,
  given: string,
): ReadonlyMap<number, ListedUnit> {
  const born = bornOf(database)
  const units = together(database, UNIT_COLUMNS, `${UNITS} AND units.id IN (${asked})`, given)
  const files = grouped(database, 'unit', FILES, `unit IN (${asked})`, given)
  const readings = JSON.stringify(units.map(({ reading }) => reading))
  const ofThese = 'reading IN (SELECT value FROM json_each(?))'
  const recordings = grouped(database, 'reading', RECORDINGS, ofThese, readings)
  return new Map(
    units.map((unit) => {
      const id = Number(unit['id'])
      const own = recordings.get(Number(unit['reading'])) ?? []
      return [id, toUnit(unit, files.get(id) ?? [], own, { home, born })]
    }),
  )
}

/** Units that hold a session, in the order in which they are read as one. */
export function unitsOfSession(database: Database, home: string, key: string): readonly ListedUnit[] {
  const rows = database
    .prepare(
      `SELECT places.agent, places.root, units.path FROM recordings JOIN units ON units.reading = recordings.reading
       JOIN places ON places.id = units.place
       WHERE session = ? AND chosen > 0 ORDER BY ${AS_SHOWN}`,
    )
    .all(key)
  return rows.flatMap(
    ({ agent, root, path }) => findUnit(database, home, JSON.stringify([agent, root, path])) ?? [],
  )
}

/** Sessions that more than one unit speaks for: their entries are counted over all of them. */
export function sessionsInSeveral(database: Database): ReadonlySet<string> {
  const rows = database
    .prepare(
      `SELECT session FROM recordings JOIN units ON units.reading = recordings.reading
       WHERE chosen > 0 GROUP BY session HAVING count(*) > 1`,
    )
    .all()
  return new Set(rows.map(({ session }) => String(session)))
}

const UNIT_COLUMNS = ['id', 'agent', 'root', 'path', 'format', 'reading', 'extended', 'dirty']
const UNITS = `SELECT units.id, places.agent, places.root, units.path, units.format, units.reading, units.extended, units.dirty,
    units.id AS part FROM units JOIN places ON places.id = units.place
  WHERE units.reading IS NOT NULL AND units.format IS NOT NULL`

/** What a unit does not say itself of its sessions, and the index is made of: their titles, and when joined ones began. */
type Shared = readonly (readonly [session: string, title: string | null, start?: string])[]

/**
 * A pass reads a unit as it was then; `dirty`: it has changed since, and no pass has read it yet. Titles are searched as texts of
 * their sessions, and may come from elsewhere.
 */
function versionOf(unit: Row, shared: Shared, born: string): string {
  return toVersion(unit, meaningOf(unit['format'], shared, born))
}

function toVersion({ reading, extended, dirty }: Row, meaning: string): string {
  return `${String(extended ?? reading)}${dirty === 0 ? '' : '!'}-${meaning}`
}

function meaningOf(format: SqlValue | undefined, shared: Shared, born: string): string {
  return String(toHash(JSON.stringify([born, format, shared])))
}

function sharedOf(recordings: readonly Row[]): Shared {
  return sortedBy(recordings, 'session').flatMap(({ session, title, start }): Shared => {
    if (typeof start === 'string') return [[String(session), typeof title === 'string' ? title : null, start]]
    return typeof title === 'string' ? [[String(session), title]] : []
  })
}

const FILES: Asked = {
  columns: ['unit', 'path', 'size', 'bytes'],
  sql: 'SELECT unit, path, size, bytes, unit AS part FROM files WHERE unit IS NOT NULL',
}
const START = 'CASE WHEN listing.joined THEN listing.started_at END AS start'
const SHARED: Asked = {
  columns: ['reading', 'session', 'title', 'start'],
  // The list has a row for each session: those that there is nothing to say of, which are most, are passed over there.
  sql: `SELECT reading, sessions.key AS session, json_extract(sessions.session, '$.title') AS title, ${START}, reading AS part
    FROM listing CROSS JOIN recordings ON recordings.session = listing.key JOIN sessions ON sessions.key = listing.key
    WHERE (listing.title IS NOT NULL OR listing.joined)`,
}
/** The same of units by their ids, from those on. */
const SHARED_OF_SOME: Asked = {
  columns: ['reading', 'session', 'title', 'start'],
  sql: `SELECT recordings.reading AS reading, sessions.key AS session, json_extract(sessions.session, '$.title') AS title,
      ${START}, recordings.reading AS part
    FROM units CROSS JOIN recordings ON recordings.reading = units.reading CROSS JOIN listing ON listing.key = recordings.session
    CROSS JOIN sessions ON sessions.key = listing.key
    WHERE (listing.title IS NOT NULL OR listing.joined) AND units.id > ? AND units.id <= ?`,
}
const RECORDINGS: Asked = {
  columns: ['reading', 'session', 'id', 'started_at', 'ended_at', 'chosen', 'title', 'start'],
  sql: `SELECT reading, recordings.session AS session, recordings.id AS id, recordings.started_at AS started_at,
      ended_at, chosen, json_extract(sessions.session, '$.title') AS title, ${START}, reading AS part
    FROM recordings LEFT JOIN sessions ON sessions.key = recordings.session
    LEFT JOIN listing ON listing.key = recordings.session WHERE true`,
}

function toUnit(
  unit: Row,
  found: readonly Row[],
  recordings: readonly Row[],
  { home, born }: { readonly home: string; readonly born: string },
): ListedUnit {
  const files = sortedBy(found, 'path')
  const { agent, root, path, format } = unit
  const place: UnitPlace = {
    home,
    agent: String(agent),
    root: String(root),
    unit: String(path),
    paths: files.map((file) => String(file['path'])),
    isKept: agent !== JOURNAL && files.every(({ bytes }) => bytes !== null),
  }
  const shared = sharedOf(recordings)
  return {
    name: placeName(place),
    version: versionOf(unit, shared, born),
    place,
    format: String(format),
    bytes: files.reduce((sum, { size, bytes }) => sum + Number(bytes ?? size), 0),
    endedAt: Math.max(0, ...recordings.map(({ started_at, ended_at }) => toTime(ended_at ?? started_at))),
    sessions: new Map(recordings.map(({ id, session }) => [String(id), String(session)])),
    titles: new Map(shared.flatMap(([session, title]) => (title === null ? [] : [[session, { title }]]))),
    starts: new Map(
      shared.flatMap(([session, , start]) => (start === undefined ? [] : [[session, start] as const])),
    ),
    hidden: new Set(recordings.filter(({ chosen }) => chosen === 0).map(({ session }) => String(session))),
  }
}

function sortedBy(rows: readonly Row[], column: string): readonly Row[] {
  if (rows.length < 2) return rows
  return rows.toSorted((a, b) => (String(a[column]) < String(b[column]) ? -1 : 1))
}

function toTime(value: SqlValue | undefined): number {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isFinite(time) ? time : 0
}
