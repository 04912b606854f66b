/**
 * What lists and statistics ask of a session, in columns: told apart, sorted and added up by SQLite without a log, or a session's
 * own JSON, being read. Written anew whenever what its recordings or bills say has changed.
 */
import { createHash } from 'node:crypto'
import type { Database } from '../sqlite/driver.ts'
import { asObject, asString, parseJson } from '../transcript/json.ts'
import { millisBetween } from '../transcript/instant.ts'
import type { Row, SqlValue } from '../transcript/source.ts'
import { COUNTS, promptTokens, qualityRank } from '../transcript/usage.ts'
import type { ListedSession } from './state-sessions.ts'
import { prepared } from './state-statements.ts'
import { NO_COUNTS, type SessionWork, type ToolCounts } from './work.ts'

/** `pico`: US dollars × 10⁻¹² on its bill. `recordings`: the one that speaks first. */
export type Listing = {
  readonly key: string
  readonly session: ListedSession
  readonly pico: bigint | undefined
  readonly recordings: readonly Row[]
}

export function writeListing(database: Database, listing: Listing): void {
  const { key, recordings } = listing
  const mark = markOf(database, listing)
  // A session is written when it is read and again when bills are settled, which seldom changes anything.
  if (prepared(database, 'SELECT mark FROM listing WHERE key = ?').get(key)?.['mark'] === mark) return
  const work = workOf(recordings[0])
  const row = { ...columnsOf(listing, work), ...usageOf(listing), mark }
  const columns = Object.keys(row)
  const saved = prepared(
    database,
    `INSERT INTO listing (key, ${columns.join(', ')}) VALUES (?${', ?'.repeat(columns.length)})
       ON CONFLICT (key) DO UPDATE SET ${columns.map((column) => `${column} = excluded.${column}`).join(', ')}
       RETURNING n`,
  ).get(key, ...Object.values(row))
  const n = Number(saved?.['n'])
  prepared(database, 'INSERT OR REPLACE INTO listing_work (n, files, activity) VALUES (?, ?, ?)').run(
    n,
    JSON.stringify(work?.files ?? {}),
    work?.activity === undefined ? null : JSON.stringify(work.activity),
  )
  writeTools(database, n, key, work)
  writeFindings(database, n, key, firstShown(recordings))
}

/** Another one for everything that the rows are made of: the session, its recordings, and the calls on its bill. */
function markOf(database: Database, { key, session, recordings }: Listing): string {
  const billed = prepared(
    database,
    'SELECT count(*) AS count, total(id) AS ids FROM calls WHERE billed_to = ?',
  ).get(key)
  const hash = createHash('sha1').update(JSON.stringify(session))
  for (const { reading, chosen } of recordings) hash.update(`${String(reading)}:${Number(chosen) !== 0} `)
  return hash.update(`${String(billed?.['count'])}:${String(billed?.['ids'])}`).digest('base64')
}

export function removeListing(database: Database, key: string): void {
  const n = prepared(database, 'SELECT n FROM listing WHERE key = ?').get(key)?.['n']
  if (typeof n !== 'number') return
  for (const table of ['tool_use', 'findings'])
    prepared(database, `DELETE FROM ${table} WHERE session = ?`).run(n)
  for (const table of ['listing', 'listing_work'])
    prepared(database, `DELETE FROM ${table} WHERE n = ?`).run(n)
}

function workOf(recording: Row | undefined): SessionWork | undefined {
  const value = asObject(parseJson(asString(recording?.['work']) ?? ''))
  // What was written there was one.
  return value as SessionWork | undefined
}

function columnsOf(
  { session, recordings }: Listing,
  work: SessionWork | undefined,
): Record<string, SqlValue> {
  const { title, prompt, agent, native, model, totals, cwd, git, run, startedAt, endedAt, status } = session
  const took = millisBetween(startedAt, endedAt)
  const lower = (text: string | undefined): SqlValue => text?.toLowerCase() ?? null
  const list = (names: readonly (string | undefined)[]): string =>
    JSON.stringify([...new Set(names.flatMap((name) => name?.toLowerCase() ?? []))])
  // The speaker may have been read before another one went on.
  const lasts = [endedAt, startedAt, ...recordings.map((one) => workOf(one)?.lastAt)]
  return {
    id: session.id,
    started_at: startedAt ?? null,
    last_at: lasts.reduce<string | null>((a, b) => (b !== undefined && (a === null || b > a) ? b : a), null),
    status,
    title: title ?? null,
    prompt: prompt ?? null,
    agents: list([agent, native?.agent]),
    models: list([...(totals?.models ?? []), model]),
    sources: list(work?.sources ?? []),
    tools: list(work?.tools ?? []),
    parts: JSON.stringify(work?.parts ?? []),
    project: lower(cwd),
    branch: lower(git?.branch),
    run: lower(run?.id),
    flow: lower(run?.flow),
    step: lower(run?.step),
    entries: totals?.entries ?? 0,
    tool_calls: totals?.toolCalls ?? 0,
    failed: work?.failed ?? 0,
    errors: work?.errors ?? 0,
    touched: work?.touched ?? 0,
    repeats: work?.repeats ?? 0,
    rereads: work?.rereads ?? 0,
    is_cut: work?.isCut === true ? 1 : 0,
    duration_ms: took !== undefined && took >= 0 ? took : null,
  }
}

const USAGE_COLUMNS = [
  'input',
  'cache_read',
  'cache_write_5m',
  'cache_write_1h',
  'output',
  'reasoning',
] as const

function usageOf({ session, pico }: Listing): Record<string, SqlValue> {
  const { totals, reportedCost } = session
  const usage = totals?.usage
  const prompt = usage && promptTokens(usage)
  const isCounted = prompt !== undefined || usage?.output !== undefined
  const usd = Number(totals?.cost?.usd ?? reportedCost ?? Number.NaN)
  const unpriced = totals?.cost?.unpriced ?? []
  const counts = COUNTS.map((count, at) => [USAGE_COLUMNS[at] ?? '', usage?.[count] ?? null] as const)
  return {
    calls: totals?.calls ?? 0,
    uncounted: totals?.uncounted ?? 0,
    ...Object.fromEntries(counts),
    quality: usage === undefined ? null : qualityRank(usage.quality),
    tokens: isCounted ? (prompt ?? 0) + (usage?.output ?? 0) : null,
    pico: totals?.cost === undefined ? null : (pico ?? null),
    usd: Number.isNaN(usd) ? null : usd,
    unpriced: unpriced.length === 0 ? null : JSON.stringify(unpriced),
  }
}

function writeTools(database: Database, n: number, key: string, work: SessionWork | undefined): void {
  const tools = new Map<string, number[]>()
  const add = (tool: string, counts: ToolCounts): void => {
    const known = tools.get(tool) ?? [...NO_COUNTS]
    for (const [at, count] of counts.entries()) known[at] = (known[at] ?? 0) + count
    tools.set(tool, known)
  }
  for (const [tool, counts] of Object.entries(work?.rest ?? {})) add(tool, counts)
  const billed = prepared(
    database,
    'SELECT tools, work FROM calls WHERE billed_to = ? AND work IS NOT NULL',
  ).all(key)
  for (const { tools: names, work: counts } of billed) {
    const given = JSON.parse(String(counts)) as readonly ToolCounts[]
    for (const [at, tool] of (JSON.parse(String(names)) as readonly string[]).entries())
      add(tool, given[at] ?? NO_COUNTS)
  }
  prepared(database, 'DELETE FROM tool_use WHERE session = ?').run(n)
  const insert = prepared(
    database,
    `INSERT INTO tool_use (tool, session, calls, failed, ms, timed, repeats, rereads) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  for (const [tool, counts] of tools) if (counts[0] !== 0) insert.run(tool, n, ...counts)
}

/** Of several recordings the one that is read first: its entries have the numbers that the whole gives them. */
function firstShown(recordings: readonly Row[]): SessionWork | undefined {
  const shown = recordings.filter(({ chosen }) => Number(chosen) !== 0)
  const place = ({ started_at, root, file }: Row): string[] =>
    [started_at, root, file].map((one) => String(one ?? ''))
  const [first] = shown.toSorted((a, b) => {
    const [left, right] = [place(a), place(b)]
    const at = left.findIndex((one, index) => one !== right[index])
    return at === -1 ? 0 : (left[at] ?? '') < (right[at] ?? '') ? -1 : 1
  })
  return workOf(first ?? recordings[0])
}

/** What another session pays for, it also did: a fork has the history that it was copied from. */
function writeFindings(database: Database, n: number, key: string, work: SessionWork | undefined): void {
  prepared(database, 'DELETE FROM findings WHERE session = ?').run(n)
  for (const { call, ...finding } of work?.findings ?? []) {
    const payer =
      call === undefined
        ? undefined
        : prepared(
            database,
            'SELECT billed_to FROM calls WHERE key = ? AND billed_to IS NOT NULL ORDER BY billed_to = ? DESC LIMIT 1',
          ).get(call.replaceAll('\0', '\uFFFD'), key)?.['billed_to']
    if (typeof payer === 'string' && payer !== key) continue
    prepared(database, 'INSERT INTO findings (session, kind, count, finding) VALUES (?, ?, ?, ?)').run(
      n,
      finding.kind,
      finding.count,
      JSON.stringify(finding),
    )
  }
}
