/**
 * What lists and statistics ask of a session, in columns: told apart, sorted and added up by SQLite without a log, or a session's
 * own JSON, being read. Written anew whenever what its recordings or bills say has changed.
 */
import { hash } from 'node:crypto'
import type { Database } from '../sqlite/driver.ts'
import { storedJson, storedText } from '../sqlite/stored.ts'
import { millisBetween } from '../transcript/instant.ts'
import { sessionTokenSum, sessionUsd } from '../transcript/session-amounts.ts'
import type { SqlValue } from '../transcript/source.ts'
import { COUNTS, qualityRank } from '../transcript/usage.ts'
import { storedKey } from './call-rows.ts'
import type { Recorded } from './state-recorded.ts'
import type { ListedSession } from './state-sessions.ts'
import { prepared } from './state-statements.ts'
import { MOST_TOOLS_OF_SESSION, NO_COUNTS, OTHERS, type SessionWork, type ToolCounts } from './work.ts'

/** What the tools of the calls on its bill did, where that is known without asking for them. */
export type OwnTools = { readonly tools?: ReadonlyMap<string, readonly number[]> }

export type Listing = OwnTools & {
  readonly key: string
  readonly session: ListedSession
  /** The same as it is stored. */
  readonly json: string
  readonly bill: Bill
  readonly recorded: Recorded
  /** Nothing is listed of it. */
  readonly isNew: boolean
  /** Of one that is new: the number that its row gets, higher than any, where whoever writes it counts them. */
  readonly n?: number
}

/** What it pays for: `pico`, US dollars × 10⁻¹²; how many calls, counted or not; and the sum of their rows' ids. */
export type Bill = { readonly pico: bigint | undefined; readonly calls: number; readonly ids: number }

export function writeListing(database: Database, listing: Listing): void {
  const { key, recorded, bill, tools, isNew } = listing
  const mark = markOf(listing)
  // A session may be written when it is read and again when bills are settled, which seldom changes anything.
  const before = isNew ? undefined : prepared(database, 'SELECT n, mark FROM listing WHERE key = ?').get(key)
  if (before?.['mark'] === mark) return
  if (before !== undefined) removeDetails(database, Number(before['n']))
  const { work, shown } = recorded
  const values = [...columnsOf(listing), ...usageOf(listing), mark]
  const n = saveRow(database, listing, values)
  prepared(database, 'INSERT OR REPLACE INTO listing_work (n, files, activity) VALUES (?, ?, ?)').run(
    n,
    JSON.stringify(work?.files ?? {}),
    work?.activity === undefined ? null : JSON.stringify(work.activity),
  )
  writeTools(database, n, work, tools ?? (bill.calls === 0 ? NO_TOOLS : toolsOfCalls(database, key)))
  writeFindings(database, { n, key, isNew }, shown)
}

/** Gives its number. */
function saveRow(database: Database, { key, isNew, n }: Listing, values: readonly SqlValue[]): number {
  if (isNew && n !== undefined) {
    prepared(database, ADD).run(n, key, ...values)
    return n
  }
  return Number(prepared(database, SAVE).get(key, ...values)?.['n'])
}

/** What `columnsOf`, then `usageOf`, gives, and the mark. */
const COLUMNS = `
  id started_at last_at status title prompt agents models sources tools parts project branch run flow
  step entries tool_calls failed errors touched repeats rereads is_cut joined duration_ms calls uncounted
  input cache_read cache_write_5m cache_write_1h output reasoning quality tokens pico usd unpriced mark`
  .trim()
  .split(/\s+/)
const PLACES = COLUMNS.map(() => '?').join(', ')
const ADD = `INSERT INTO listing (n, key, ${COLUMNS.join(', ')}) VALUES (?, ?, ${PLACES})`
const SAVE = `INSERT INTO listing (key, ${COLUMNS.join(', ')}) VALUES (?, ${PLACES})
  ON CONFLICT (key) DO UPDATE SET ${COLUMNS.map((column) => `${column} = excluded.${column}`).join(', ')}
  RETURNING n`

/** Another one for everything that the rows are made of: the session, its recordings, and the calls on its bill. */
function markOf({ json, recorded, bill }: Listing): string {
  return hash('sha1', `${json}${recorded.mark} ${bill.calls}:${bill.ids}`, 'base64')
}

/** A recording of it says something else by the same pass: it is written anew, though all that is counted may be the same. */
export function questionListing(database: Database, key: string): void {
  prepared(database, "UPDATE listing SET mark = '' WHERE key = ?").run(key)
}

export function removeListing(database: Database, key: string): void {
  const n = prepared(database, 'SELECT n FROM listing WHERE key = ?').get(key)?.['n']
  if (typeof n !== 'number') return
  removeDetails(database, n)
  for (const table of ['listing', 'listing_work'])
    prepared(database, `DELETE FROM ${table} WHERE n = ?`).run(n)
}

function removeDetails(database: Database, n: number): void {
  for (const table of ['tool_use', 'findings'])
    prepared(database, `DELETE FROM ${table} WHERE session = ?`).run(n)
}

function columnsOf({ session, recorded }: Listing): readonly SqlValue[] {
  const { title, prompt, agent, native, model, totals, cwd, git, run, startedAt, endedAt, status } = session
  const took = millisBetween(startedAt, endedAt)
  const { work, lastAt } = recorded
  return [
    session.id,
    startedAt ?? null,
    [endedAt, startedAt, lastAt].reduce<string | null>(
      (a, b) => (b !== undefined && (a === null || b > a) ? b : a),
      null,
    ),
    status,
    stored(title),
    stored(prompt),
    listOf([agent, native?.agent]),
    listOf([...(totals?.models ?? []), model]),
    listOf(work?.sources ?? []),
    listOf(work?.tools ?? []),
    JSON.stringify(work?.parts ?? []),
    stored(cwd?.toLowerCase()),
    stored(git?.branch?.toLowerCase()),
    stored(run?.id?.toLowerCase()),
    stored(run?.flow?.toLowerCase()),
    stored(run?.step?.toLowerCase()),
    totals?.entries ?? 0,
    totals?.toolCalls ?? 0,
    work?.failed ?? 0,
    work?.errors ?? 0,
    work?.touched ?? 0,
    work?.repeats ?? 0,
    work?.rereads ?? 0,
    work?.isCut === true ? 1 : 0,
    recorded.speaking > 1 ? 1 : 0,
    took !== undefined && took >= 0 ? took : null,
  ]
}

const stored = (text: string | undefined): SqlValue => (text === undefined ? null : storedText(text))
const listOf = (names: readonly (string | undefined)[]): string =>
  storedJson([...new Set(names.flatMap((name) => name?.toLowerCase() ?? []))])

function usageOf({ session, bill }: Listing): readonly SqlValue[] {
  const { totals } = session
  const usage = totals?.usage
  const usd = Number(sessionUsd(session)?.usd ?? Number.NaN)
  const unpriced = totals?.cost?.unpriced ?? []
  return [
    totals?.calls ?? 0,
    totals?.uncounted ?? 0,
    ...COUNTS.map((count) => usage?.[count] ?? null),
    usage === undefined ? null : qualityRank(usage.quality),
    sessionTokenSum(session) ?? null,
    totals?.cost === undefined ? null : (bill.pico ?? null),
    Number.isNaN(usd) ? null : usd,
    unpriced.length === 0 ? null : JSON.stringify(unpriced),
  ]
}

const NO_TOOLS: ReadonlyMap<string, readonly number[]> = new Map()

/** `called`: by the calls on its bill. */
function writeTools(
  database: Database,
  n: number,
  work: SessionWork | undefined,
  called: ReadonlyMap<string, readonly number[]>,
): void {
  const tools = new Map<string, number[]>()
  // As they are stored: two that are one there have one row.
  for (const [tool, counts] of Object.entries(work?.rest ?? {})) addCounts(tools, storedText(tool), counts)
  for (const [tool, counts] of called) addCounts(tools, storedText(tool), counts)
  const insert = prepared(
    database,
    `INSERT INTO tool_use (tool, session, calls, failed, ms, timed, repeats, rereads) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  for (const [tool, counts] of tools) if (counts[0] !== 0) insert.run(tool, n, ...counts)
}

/** `payer`: the session's key. */
function toolsOfCalls(database: Database, payer: string): ReadonlyMap<string, readonly number[]> {
  const tools = new Map<string, number[]>()
  for (const [names, work] of callsWithWork(database, payer)) {
    const given = JSON.parse(work) as readonly ToolCounts[]
    for (const [at, tool] of (JSON.parse(names) as readonly string[]).entries())
      addCounts(tools, tool, given[at] ?? NO_COUNTS)
  }
  return tools
}

function addCounts(tools: Map<string, number[]>, tool: string, counts: readonly number[]): void {
  const name = tools.has(tool) || tools.size < MOST_TOOLS_OF_SESSION ? tool : OTHERS
  const known = tools.get(name) ?? [...NO_COUNTS]
  for (const [at, count] of counts.entries()) known[at] = (known[at] ?? 0) + count
  tools.set(name, known)
}

/** Calls asked for at a time: a session may have millions, and each of them 50 tools with long names. */
const PAGE = 50

/** All of a page as one row: what SQLite's driver holds of each until the session is written is more than it says. */
function* callsWithWork(
  database: Database,
  payer: string,
): Generator<readonly [tools: string, work: string]> {
  const next = prepared(
    database,
    `SELECT max(id) AS last, json_group_array(json_array(tools, work)) AS calls FROM (
       SELECT id, tools, work FROM calls WHERE billed_to = ? AND id > ? AND work IS NOT NULL ORDER BY id LIMIT ${PAGE}
     )`,
  )
  for (let last = 0; ;) {
    const row = next.get(payer, last)
    if (typeof row?.['last'] !== 'number') return
    yield* JSON.parse(String(row['calls'])) as [string, string][]
    last = row['last']
  }
}

/** What another session pays for, it also did: a fork has the history that it was copied from. */
function writeFindings(
  database: Database,
  { n, key, isNew }: { readonly n: number; readonly key: string; readonly isNew: boolean },
  work: SessionWork | undefined,
): void {
  for (const { call, ...finding } of work?.findings ?? []) {
    // Of one that is new, every call is on its own bill until all are settled.
    const payer =
      call === undefined || isNew
        ? undefined
        : prepared(
            database,
            'SELECT billed_to FROM calls WHERE key = ? AND billed_to IS NOT NULL ORDER BY billed_to = ? DESC LIMIT 1',
          ).get(storedKey(call), key)?.['billed_to']
    if (typeof payer === 'string' && payer !== key) continue
    prepared(database, 'INSERT INTO findings (session, kind, count, finding) VALUES (?, ?, ?, ?)').run(
      n,
      finding.kind,
      finding.count,
      JSON.stringify(finding),
    )
  }
}
