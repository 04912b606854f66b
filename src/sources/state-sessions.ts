/** The sessions that sync knows, each once, with the totals that are billed to it: what `list` shows without reading a log. */
import { isAbsolute } from 'node:path'
import { toUsd } from '../cost/money.ts'
import type { Database } from '../sqlite/driver.ts'
import { storedJson } from '../sqlite/stored.ts'
import { asObject, asString, parseJson } from '../transcript/json.ts'
import type { Session, Status, Totals } from '../transcript/session.ts'
import type { Row, SqlValue } from '../transcript/source.ts'
import { isNetworkPath } from './network-path.ts'
import { removeListing, writeListing, type Bill, type Listing } from './state-listing.ts'
import { mentionOf } from './state-mentions.ts'
import type { OwnBill } from './state-own-bill.ts'
import { recordedOf, type Recorded } from './state-recorded.ts'
import { prepared } from './state-statements.ts'
import { setSums } from './state-sums.ts'
import { toUsage, USAGE_SUMS } from './state-usage.ts'

export type SessionFilter = {
  readonly status?: Status
  readonly flow?: string
  readonly run?: string
  readonly limit?: number
}

/** `prompt`: how it began, for what has no title. */
export type ListedSession = Session & { readonly prompt?: string }

/** Newest first; what does not say when it began comes last. */
export function listSessions(
  database: Database,
  { limit = -1, ...filter }: SessionFilter,
): readonly ListedSession[] {
  const { where, values } = toWhere(filter)
  const rows = prepared(
    database,
    `SELECT session FROM sessions ${where} ORDER BY started_at DESC, id LIMIT ?`,
  ).all(...values, limit)
  return rows.flatMap(toSession)
}

export function countSessions(database: Database, filter: Omit<SessionFilter, 'limit'> = {}): number {
  const { where, values } = toWhere(filter)
  return Number(
    prepared(database, `SELECT count(*) AS count FROM sessions ${where}`).get(...values)?.['count'] ?? 0,
  )
}

export type FoundSession = { readonly key: string; readonly id: string }

/** Those whose id is this, or else begins so, by any id of their recordings; a few are enough to tell that there are several. */
export function findSessions(database: Database, idOrPrefix: string): readonly FoundSession[] {
  const find = (comparison: string, ...values: readonly string[]): readonly FoundSession[] =>
    prepared(
      database,
      `SELECT sessions.key, sessions.id FROM sessions WHERE sessions.id ${comparison} UNION
         SELECT sessions.key, sessions.id FROM recordings JOIN sessions ON sessions.key = recordings.session
         WHERE recordings.id ${comparison} ORDER BY 2 LIMIT 10`,
    )
      .all(...values, ...values)
      .map(({ key, id }) => ({ key: String(key), id: String(id) }))
  const exact = find('= ?', idOrPrefix)
  return exact.length > 0 ? exact : find('BETWEEN ? AND ?', idOrPrefix, `${idOrPrefix}\u{10FFFF}`)
}

export function getSession(database: Database, key: string): ListedSession | undefined {
  const row = prepared(database, 'SELECT session FROM sessions WHERE key = ?').get(key)
  return row && toSession(row)[0]
}

/**
 * The folders that sessions were held in: where their programs may have left more. Only logs below `roots` are believed. Network
 * paths of Windows are left out.
 */
export function workingFolders(database: Database, roots: readonly string[]): readonly string[] {
  // A thousand to a row: each row takes more memory than many paths do.
  const rows = prepared(
    database,
    `SELECT json_group_array(cwd) AS folders FROM (
       SELECT cwd, row_number() OVER () AS nth FROM (
         SELECT DISTINCT cwd FROM sessions WHERE cwd IS NOT NULL AND root IN (SELECT value FROM json_each(?))
       )
     ) GROUP BY nth / 1000`,
  ).all(JSON.stringify(roots))
  const folders = rows.flatMap(({ folders }) => JSON.parse(String(folders)) as string[])
  return folders.filter((folder) => isAbsolute(folder) && !isNetworkPath(folder))
}

/** Makes the rows of these sessions say what their recordings and bills say now. */
export function refreshSessions(database: Database, keys: Iterable<string>): void {
  for (const key of keys) refresh(database, key)
}

function refresh(database: Database, key: string): void {
  const recorded = recordedOf(database, key)
  const facts = asObject(parseJson(asString(recorded?.speaker['facts']) ?? ''))
  if (recorded === undefined || facts === undefined) {
    prepared(database, 'DELETE FROM sessions WHERE key = ?').run(key)
    removeListing(database, key)
    return
  }
  // What was written there was a session.
  const session = facts as unknown as Session
  const { speaker } = recorded
  const isAlone = recorded.speaking < 2
  const counted = {
    ...speaker,
    entries: Number(speaker['entries']) + (isAlone ? 0 : callsOfOthers(database, speaker)),
    tool_calls: isAlone ? Number(speaker['tool_calls']) : toolCallsOf(database, speaker),
  }
  const { totals, bill } = totalsOf(session, counted, billOf(database, key))
  const mention = mentionOf(database, key, session)
  write(database, { key, session, recorded, totals, bill, mention, isNew: false })
}

/** The only recording of a session, as it was just read, and what it comes to. */
export type OwnRecording = { readonly key: string; readonly session: Session; readonly recorded: Recorded }

/** The same for a session that nothing else recorded. False where the state knows better what it pays for. */
export function refreshOwn(database: Database, one: OwnRecording, own: OwnBill): boolean {
  const row = prepared(
    database,
    'SELECT count(*) AS billed, total(id) AS ids FROM calls WHERE billed_to = ?',
  ).get(one.key)
  if (row === undefined || Number(row['billed']) !== own.sums['billed']) return false
  writeOwn(database, one, own, { ids: Number(row['ids'] ?? 0), isNew: false, mayBeMentioned: true })
  return true
}

/** What is known of it besides. `isNew`: nothing is listed of it, nor added up. `ids`: of its calls, added up. `n`: as `Listing` has it. */
export type Known = Pick<Listing, 'isNew' | 'n'> & { readonly ids: number; readonly mayBeMentioned: boolean }

/** Nothing but its own calls is on its bill. */
export function writeOwn(
  database: Database,
  { key, session, recorded }: OwnRecording,
  own: OwnBill,
  { ids, isNew, n, mayBeMentioned }: Known,
): void {
  const sums = { ...own.sums, ids }
  const { totals, bill } = totalsOf(session, recorded.speaker, { sums, unpriced: own.unpriced })
  const mention = mayBeMentioned ? mentionOf(database, key, session) : {}
  const listing = { isNew, ...(n !== undefined && { n }), tools: own.tools }
  write(database, { key, session, recorded, totals, bill, mention, ...listing })
  setSums(database, key, own, { isStub: session.stub === true, isNew })
}

type Refreshed = Pick<Listing, 'isNew' | 'n' | 'tools'> & {
  readonly key: string
  readonly session: Session
  readonly recorded: Recorded
  readonly totals: Totals
  readonly bill: Bill
  /** What is said of it elsewhere. */
  readonly mention: Pick<Session, 'title' | 'parent'>
}

function write(database: Database, refreshed: Refreshed): void {
  const { key, session, recorded, totals, bill, mention, ...listing } = refreshed
  const { speaker, prompt, named } = recorded
  // What another program wrote goes by what its recordings share; what only we recorded, by the id we gave it.
  const id = recorded.isForeign ? key : String(speaker['id'])
  const whole: ListedSession = {
    ...session,
    ...recorded.times,
    ...mention,
    id,
    ...(prompt !== undefined && { prompt }),
    recordings: named,
    totals,
  }
  const json = storedJson(whole)
  prepared(database, WRITE).run(
    key,
    id,
    whole.startedAt ?? null,
    whole.status,
    whole.run?.flow ?? null,
    whole.run?.id ?? null,
    asString(speaker['root']) ?? null,
    whole.cwd ?? null,
    json,
  )
  writeListing(database, { key, session: whole, json, bill, recorded, ...listing })
}

const WRITE = `INSERT OR REPLACE INTO sessions (key, id, started_at, status, flow, run, root, cwd, session)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`

/**
 * What recordings share is known only to who reads them, so there are at least as many entries as the fullest has, and one more for each
 * call of the others that it lacks.
 */
function callsOfOthers(database: Database, { session, reading }: Row): number {
  const row = prepared(
    database,
    `SELECT count(DISTINCT key) AS more FROM calls
       WHERE session = ?1 AND reading IN (
         SELECT recordings.reading FROM recordings JOIN units ON units.reading = recordings.reading
         WHERE session = ?1 AND chosen > 0 AND recordings.reading <> ?2
       ) AND key NOT IN (SELECT key FROM calls WHERE reading = ?2 AND session = ?1 AND key IS NOT NULL)`,
  ).get(String(session), Number(reading))
  return Number(row?.['more'] ?? 0)
}

/**
 * How often tools were called. One recording may have begun where another ended, and have the history that it was told again: of several
 * that speak, the calls say what they called, each once.
 */
function toolCallsOf(database: Database, { session, tool_calls }: Row): number {
  const row = prepared(
    database,
    `SELECT total(json_extract(did.value, '$[0]')) AS called FROM calls, json_each(calls.work) AS did
       WHERE billed_to = ? AND work IS NOT NULL`,
  ).get(String(session))
  return Math.max(Number(tool_calls), Number(row?.['called'] ?? 0))
}

/** Unpriced models named at most: a hostile file may name any number. */
const MOST_NAMED = 100

type SessionTotals = { readonly totals: Totals; readonly bill: Bill }

/** `sums`: as `USAGE_SUMS`, with the sums of costs and ids, and the number of calls. */
type BillRows = { readonly sums: Row; readonly unpriced: readonly string[] }

function billOf(database: Database, session: string): BillRows {
  const sums = prepared(
    database,
    `SELECT ${USAGE_SUMS}, sum(pico) AS pico, count(*) AS billed, total(id) AS ids FROM calls WHERE billed_to = ?`,
  ).get(session)
  if (Number(sums?.['billed'] ?? 0) === 0) return { sums: sums ?? {}, unpriced: [] }
  const unpriced = prepared(
    database,
    'SELECT DISTINCT unpriced FROM calls WHERE billed_to = ? AND unpriced IS NOT NULL ORDER BY unpriced LIMIT ?',
  ).all(session, MOST_NAMED)
  return { sums: sums ?? {}, unpriced: unpriced.map((row) => String(row['unpriced'])) }
}

function totalsOf({ stub, totals }: Session, speaker: Row, { sums, unpriced }: BillRows): SessionTotals {
  const usage = toUsage(sums)
  const uncounted = Number(sums['uncounted'] ?? 0)
  const sum = sums['pico']
  const pico = typeof sum === 'number' || typeof sum === 'bigint' ? BigInt(sum) : undefined
  const usd = pico === undefined ? null : toUsd(pico)
  const all: Totals = {
    entries: Number(speaker['entries']),
    toolCalls: Number(speaker['tool_calls']),
    calls: Number(sums['calls'] ?? 0),
    ...(uncounted > 0 && { uncounted }),
    ...(totals?.models && { models: totals.models }),
    ...(usage && stub !== true && { usage, cost: { usd, unpriced: [...unpriced] } }),
  }
  return {
    totals: all,
    bill: { pico, calls: Number(sums['billed'] ?? 0), ids: Number(sums['ids'] ?? 0) },
  }
}

function toWhere({ status, flow, run }: Omit<SessionFilter, 'limit'>): { where: string; values: SqlValue[] } {
  const wanted = Object.entries({ status, flow, run }).filter(
    (pair): pair is [string, string] => pair[1] !== undefined,
  )
  const where = wanted.length === 0 ? '' : `WHERE ${wanted.map(([column]) => `${column} = ?`).join(' AND ')}`
  return { where, values: wanted.map(([, value]) => value) }
}

function toSession({ session }: Row): ListedSession[] {
  const value = asObject(parseJson(asString(session) ?? ''))
  return value === undefined ? [] : [value as unknown as ListedSession]
}
