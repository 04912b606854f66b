/**
 * The archive's sessions: those that a query asks for, in an order, page by page. Every answer is a question to the state; no log is
 * read. A page begins after the last session of the one before, so that what is recorded meanwhile moves nothing.
 */
import { HansardError } from '../errors.ts'
import type { Database } from '../sqlite/driver.ts'
import type { ListedSession } from '../sources/state-sessions.ts'
import type { Activity } from '../sources/work-activity.ts'
import { asArray, parseJson } from '../transcript/json.ts'
import type { Row, SqlValue } from '../transcript/source.ts'
import type { SessionSort } from './session-sorts.ts'
import { EVERY_SESSION, toWhere, type SessionFilter } from './session-where.ts'

export type SessionQuestion = {
  /** Which: see `toSessionFilter` for a query, `flagsFilter` for less. */
  readonly filter?: SessionFilter
  readonly sort?: SessionSort
  /** The other way round. What is unknown stays last. */
  readonly reverse?: boolean
  readonly limit?: number
  /** So many are passed over. */
  readonly offset?: number
  /** `next` of the page before, or a session's id: what comes after it. */
  readonly after?: string
}

export type FoundSession = ListedSession & { readonly did: SessionDoings }

/** What it did; of several recordings what the fullest says. */
export type SessionDoings = {
  readonly toolsFailed: number
  /** Entries that hold an error. */
  readonly errors: number
  readonly filesTouched: number
  readonly repeatedCalls: number
  readonly rereads: number
  readonly durationMs?: number
  readonly activity?: Activity
}

export type SessionPage = {
  readonly sessions: readonly FoundSession[]
  /** Of all pages. */
  readonly total: number
  /** What `after` of the next page is; absent on the last. */
  readonly next?: string
  /** Sessions that may have matched: they name more files, tools or sources than are remembered. Only with fields that ask for these. */
  readonly unsure: number
}

type Order = { readonly column: string; readonly isDown: boolean }

const ORDERS: Readonly<Record<SessionSort, Order>> = {
  newest: { column: 'started_at', isDown: true },
  oldest: { column: 'started_at', isDown: false },
  cost: { column: 'usd', isDown: true },
  tokens: { column: 'tokens', isDown: true },
  duration: { column: 'duration_ms', isDown: true },
  entries: { column: 'entries', isDown: true },
  tools: { column: 'tool_calls', isDown: true },
  errors: { column: 'errors', isDown: true },
  title: { column: 'lower(coalesce(title, prompt))', isDown: false },
}

const COLUMNS = `(SELECT session FROM sessions WHERE sessions.key = listing.key) AS session, failed, errors, touched, repeats, rereads, duration_ms,
  (SELECT activity FROM listing_work WHERE listing_work.n = listing.n) AS activity`

export function querySessions(database: Database, question: SessionQuestion): SessionPage {
  const { filter = EVERY_SESSION, sort = 'newest', reverse = false, limit = -1, offset = 0, after } = question
  const { where, values } = toWhere(database, filter)
  const { column, isDown } = ORDERS[sort]
  const direction = isDown !== reverse ? 'DESC' : 'ASC'
  const from = after === undefined ? undefined : toCursor(database, after, sort, column)
  const beyond = from === undefined ? { where: 'true', values: [] } : toBeyond(column, direction, from)
  // NULLs come last in a descending order by themselves, and an index serves it.
  const order = direction === 'DESC' ? `${column} DESC` : `${column} IS NULL, ${column}`
  const asked = limit < 0 ? -1 : limit + 1
  // What is shown is looked up for the page alone.
  const rows = database
    .prepare(
      `SELECT ${COLUMNS}, sorted, page.id AS id FROM (
         SELECT n AS number, id, ${column} AS sorted FROM listing WHERE ${where} AND ${beyond.where}
         ORDER BY ${order}, listing.id LIMIT ? OFFSET ?
       ) AS page JOIN listing ON listing.n = page.number ORDER BY ${order.replaceAll(column, 'sorted')}, page.id`,
    )
    .all(...values, ...beyond.values, asked, offset)
  const shown = limit < 0 ? rows : rows.slice(0, limit)
  const last = rows.length > shown.length ? shown.at(-1) : undefined
  return {
    sessions: shown.flatMap(toFound),
    total: countWhere(database, where, values),
    ...(last && { next: encode([sort, last['sorted'] ?? null, String(last['id'])]) }),
    unsure: filter.isUnsure ? countUnsure(database, where, values) : 0,
  }
}

function countWhere(database: Database, where: string, values: readonly SqlValue[]): number {
  return Number(
    database.prepare(`SELECT count(*) AS count FROM listing WHERE ${where}`).get(...values)?.['count'],
  )
}

function countUnsure(database: Database, where: string, values: readonly SqlValue[]): number {
  return countWhere(database, `is_cut = 1 AND NOT (${where})`, values)
}

type Cursor = readonly [SessionSort, SqlValue, string]

const encode = (cursor: Cursor): string =>
  Buffer.from(
    JSON.stringify(cursor, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value)),
  ).toString('base64url')

function toCursor(database: Database, after: string, sort: SessionSort, column: string): Cursor {
  const [by, value, id] = asArray(parseJson(Buffer.from(after, 'base64url').toString())) ?? []
  const isValue = value === null || typeof value === 'string' || typeof value === 'number'
  if (by === sort && isValue && typeof id === 'string') return [sort, value, id]
  const row = database.prepare(`SELECT ${column} AS sorted, id FROM listing WHERE id = ? LIMIT 1`).get(after)
  if (row !== undefined) return [sort, row['sorted'] ?? null, String(row['id'])]
  throw new HansardError('invalid-argument', 'no page begins there', {
    hint: 'give what the page before says as "next", with the same --sort, or the id of its last session',
  })
}

/** What stands behind a place in the order. */
function toBeyond(
  column: string,
  direction: 'ASC' | 'DESC',
  [, value, id]: Cursor,
): { readonly where: string; readonly values: readonly SqlValue[] } {
  if (value === null) return { where: `(${column} IS NULL AND listing.id > ?)`, values: [id] }
  const sign = direction === 'DESC' ? '<' : '>'
  return {
    where: `(${column} ${sign} ? OR (${column} = ? AND listing.id > ?) OR ${column} IS NULL)`,
    values: [value, value, id],
  }
}

function toFound(row: Row): FoundSession[] {
  const session = parseJson(String(row['session']))
  if (typeof session !== 'object' || session === null) return []
  const { failed, errors, touched, repeats, rereads, duration_ms, activity } = row
  return [
    {
      // What was written there was a session.
      ...(session as unknown as ListedSession),
      did: {
        toolsFailed: Number(failed),
        errors: Number(errors),
        filesTouched: Number(touched),
        repeatedCalls: Number(repeats),
        rereads: Number(rereads),
        ...(typeof duration_ms === 'number' && { durationMs: duration_ms }),
        ...(typeof activity === 'string' && { activity: JSON.parse(activity) as Activity }),
      },
    },
  ]
}
