/**
 * What the archive's sessions come to: how they ended, what they used, which tools served them and which failed, and what was done in
 * vain, with the entries that show it. Every provider call and every tool call is counted once in the whole archive.
 */
import { toUsd } from '../cost/money.ts'
import type { Database } from '../sqlite/driver.ts'
import { toUsage } from '../sources/state-usage.ts'
import { FINDING_KINDS, type Finding, type FindingKind } from '../sources/work-waste.ts'
import { citation } from '../transcript/entry.ts'
import { STATUSES, type Cost, type Status } from '../transcript/session.ts'
import type { Row, SqlValue } from '../transcript/source.ts'
import type { Usage } from '../transcript/usage.ts'
import { EVERY_SESSION, toWhere, type SessionFilter, type Sql } from './session-where.ts'

export type StatsQuestion = {
  readonly filter?: SessionFilter
  /** Findings of each kind at most (default: 5). */
  readonly findings?: number
}

export type Stats = {
  readonly sessions: number
  readonly status: { readonly [status in Status]: number }
  readonly totals: StatsTotals
  /** Of the sessions that say it; absent where none does. */
  readonly average: Measures
  readonly median: Measures
  /** How many sessions say it. */
  readonly known: { readonly [measure in keyof Measures]-?: number }
  /** The most used first. */
  readonly tools: readonly ToolStats[]
  readonly waste: { readonly [kind in FindingKind]: { readonly sessions: number } }
  /** The worst of each kind first. */
  readonly findings: readonly FoundWaste[]
}

export type StatsTotals = {
  readonly entries: number
  readonly calls: number
  readonly uncounted?: number
  readonly usage?: Usage
  readonly tokens?: number
  readonly cost: Cost
  readonly durationMs?: number
  readonly toolCalls: number
  readonly toolsFailed: number
  /** Milliseconds of the calls whose time is known. */
  readonly toolMs: number
  readonly repeatedCalls: number
  readonly rereads: number
  /** Entries that hold an error. */
  readonly errors: number
}

/** `usd` is a decimal text. */
export type Measures = {
  readonly entries?: number
  readonly tokens?: number
  readonly usd?: string
  readonly durationMs?: number
  readonly toolCalls?: number
}

export type ToolStats = {
  readonly tool: string
  readonly calls: number
  readonly failed: number
  /** From 0 to 1. */
  readonly failureRate: number
  readonly sessions: number
  /** How many calls have a known time, and what it adds up to. */
  readonly timed: number
  readonly totalMs?: number
  readonly averageMs?: number
  readonly repeatedCalls: number
  readonly rereads: number
}

export type FoundWaste = {
  readonly session: string
  readonly title?: string
  readonly kind: FindingKind
  readonly tool: string
  readonly file?: string
  readonly count: number
  readonly citations: readonly string[]
}

const MOST_FINDINGS = 5

/** Of an archive that nothing is known of. */
export const NO_STATS: Stats = {
  sessions: 0,
  status: { running: 0, completed: 0, failed: 0, canceled: 0, interrupted: 0 },
  totals: {
    entries: 0,
    calls: 0,
    cost: { usd: null, unpriced: [] },
    toolCalls: 0,
    toolsFailed: 0,
    toolMs: 0,
    repeatedCalls: 0,
    rereads: 0,
    errors: 0,
  },
  average: {},
  median: {},
  known: { entries: 0, tokens: 0, usd: 0, durationMs: 0, toolCalls: 0 },
  tools: [],
  waste: { 'repeated-calls': { sessions: 0 }, 're-reads': { sessions: 0 }, failures: { sessions: 0 } },
  findings: [],
}

export function queryStats(database: Database, question: StatsQuestion = {}): Stats {
  const { filter = EVERY_SESSION, findings = MOST_FINDINGS } = question
  const where = toWhere(database, filter)
  const sessions = foldSessions(database, where)
  const isAll = filter === EVERY_SESSION
  const tools = toolStats(database, where, isAll)
  const sum = (count: (tool: ToolStats) => number): number =>
    tools.reduce((all, tool) => all + count(tool), 0)
  return {
    ...sessions,
    totals: {
      ...sessions.totals,
      toolCalls: sum(({ calls }) => calls),
      toolsFailed: sum(({ failed }) => failed),
      toolMs: sum(({ totalMs = 0 }) => totalMs),
      repeatedCalls: sum(({ repeatedCalls }) => repeatedCalls),
      rereads: sum(({ rereads }) => rereads),
    },
    tools,
    ...foundWaste(database, where, isAll, findings),
  }
}

const SUMMED = [
  'entries',
  'errors',
  'calls',
  'uncounted',
  'input',
  'cache_read',
  'cache_write_5m',
  'cache_write_1h',
  'output',
  'reasoning',
] as const

type Folded = Omit<Stats, 'tools' | 'waste' | 'findings' | 'totals'> & {
  readonly totals: Pick<
    StatsTotals,
    'entries' | 'errors' | 'calls' | 'uncounted' | 'usage' | 'tokens' | 'cost' | 'durationMs'
  >
}

/** The numbers of all sessions come as one text each: a row for each session would take ten times as long. */
const GATHERED = ['entries', 'tokens', 'duration_ms', 'tool_calls'] as const

function foldSessions(database: Database, { where, values }: Sql): Folded {
  const row =
    database
      .prepare(
        `SELECT count(*) AS sessions, max(quality) AS quality, ${SUMMED.map((name) => `sum(${name}) AS ${name}`).join(', ')},
           ${GATHERED.map((name) => `json_group_array(${name}) FILTER (WHERE ${name} IS NOT NULL) AS all_${name}`).join(', ')},
           json_group_array(CAST(pico AS TEXT)) FILTER (WHERE pico IS NOT NULL) AS picos
         FROM listing WHERE ${where}`,
      )
      .get(...values) ?? {}
  const numbers = GATHERED.map((name) => JSON.parse(String(row[`all_${name}`])) as number[])
  // As texts: a number of JSON has no room for all of them.
  const picos = (JSON.parse(String(row['picos'])) as string[]).map(BigInt)
  const number = (name: string): number => Number(row[name] ?? 0)
  const cost = picos.length === 0 ? undefined : picos.reduce((a, b) => a + b, 0n)
  const usage = toUsage(row)
  const uncounted = number('uncounted')
  const [, tokens = [], durations = []] = numbers
  const [tokenSum, durationSum] = [total(tokens), total(durations)]
  return {
    sessions: number('sessions'),
    status: countStatus(database, { where, values }),
    totals: {
      entries: number('entries'),
      errors: number('errors'),
      calls: number('calls'),
      ...(uncounted > 0 && { uncounted }),
      ...(usage && {
        usage: uncounted > 0 && usage.quality === 'reported' ? { ...usage, quality: 'partial' } : usage,
      }),
      ...(tokenSum !== undefined && { tokens: tokenSum }),
      cost: {
        usd: cost === undefined ? null : toUsd(cost),
        unpriced: unpricedModels(database, { where, values }),
      },
      ...(durationSum !== undefined && { durationMs: durationSum }),
    },
    average: toMeasures(numbers.map(average), cost === undefined ? undefined : cost / BigInt(picos.length)),
    median: toMeasures(
      numbers.map((all) => median(all, (a, b) => (a + b) / 2)),
      median(picos, (a, b) => (a + b) / 2n),
    ),
    known: {
      entries: number('sessions'),
      tokens: tokens.length,
      usd: picos.length,
      durationMs: durations.length,
      toolCalls: number('sessions'),
    },
  }
}

function countStatus(database: Database, { where, values }: Sql): Record<Status, number> {
  const status = Object.fromEntries(STATUSES.map((one) => [one, 0])) as Record<Status, number>
  const rows = database.prepare(
    `SELECT status, count(*) AS count FROM listing WHERE ${where} GROUP BY status`,
  )
  for (const row of rows.all(...values)) {
    const known = STATUSES.find((one) => one === row['status'])
    if (known !== undefined) status[known] = Number(row['count'])
  }
  return status
}

function unpricedModels(database: Database, { where, values }: Sql): readonly string[] {
  const names = new Set<string>()
  const rows = database.prepare(
    `SELECT DISTINCT unpriced FROM listing WHERE unpriced IS NOT NULL AND ${where}`,
  )
  for (const [models] of rows.lists(...values))
    for (const model of JSON.parse(String(models)) as readonly string[]) addName(names, model)
  return [...names].sort()
}

/** Unpriced models named at most: a hostile file may name any number. */
const MOST_NAMED = 100

function addName(names: Set<string>, name: string): void {
  names.add(names.size < MOST_NAMED ? name : '…')
}

function toMeasures(numbers: readonly (number | undefined)[], pico: bigint | undefined): Measures {
  const [entries, tokens, durationMs, toolCalls] = numbers
  return {
    ...(entries !== undefined && { entries }),
    ...(tokens !== undefined && { tokens }),
    ...(pico !== undefined && { usd: toUsd(pico) }),
    ...(durationMs !== undefined && { durationMs }),
    ...(toolCalls !== undefined && { toolCalls }),
  }
}

function total(numbers: readonly number[]): number | undefined {
  return numbers.length === 0 ? undefined : numbers.reduce((a, b) => a + b, 0)
}

/** To one decimal. */
function average(numbers: readonly number[]): number | undefined {
  const sum = total(numbers)
  return sum === undefined ? undefined : Math.round((sum / numbers.length) * 10) / 10
}

/** The one in the middle, or halfway between the two that are. */
function median<T extends number | bigint>(numbers: T[], halfway: (a: T, b: T) => T): T | undefined {
  const sorted = numbers.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  const middle = sorted[Math.floor(sorted.length / 2)]
  const before = sorted[Math.floor((sorted.length - 1) / 2)]
  return middle === undefined || before === undefined ? undefined : halfway(before, middle)
}

/** Of all sessions, or of some. */
function within(column: string, { where, values }: Sql, isAll: boolean): Sql {
  return isAll
    ? { where: 'true', values: [] }
    : { where: `${column} IN (SELECT n FROM listing WHERE ${where})`, values }
}

function toolStats(database: Database, asked: Sql, isAll: boolean): readonly ToolStats[] {
  const { where, values } = within('session', asked, isAll)
  return database
    .prepare(
      `SELECT tool, count(*) AS sessions, sum(calls) AS calls, sum(failed) AS failed, sum(ms) AS ms, sum(timed) AS timed,
         sum(repeats) AS repeats, sum(rereads) AS rereads
       FROM tool_use WHERE ${where} GROUP BY tool ORDER BY 3 DESC, tool`,
    )
    .all(...values)
    .map(toToolStats)
}

function toToolStats(row: Row): ToolStats {
  const number = (name: string): number => Number(row[name])
  const [calls, failed, ms, timed] = ['calls', 'failed', 'ms', 'timed'].map(number) as [
    number,
    number,
    number,
    number,
  ]
  return {
    tool: String(row['tool']),
    calls,
    failed,
    failureRate: Math.round((failed / calls) * 10_000) / 10_000,
    sessions: number('sessions'),
    timed,
    ...(timed > 0 && { totalMs: ms, averageMs: Math.round(ms / timed) }),
    repeatedCalls: number('repeats'),
    rereads: number('rereads'),
  }
}

function foundWaste(
  database: Database,
  asked: Sql,
  isAll: boolean,
  most: number,
): Pick<Stats, 'waste' | 'findings'> {
  const { where, values } = within('session', asked, isAll)
  const counted = database
    .prepare(`SELECT kind, count(DISTINCT session) AS sessions FROM findings WHERE ${where} GROUP BY kind`)
    .all(...values)
  const sessions = new Map(counted.map((row) => [String(row['kind']), Number(row['sessions'])]))
  const waste = Object.fromEntries(FINDING_KINDS.map((kind) => [kind, { sessions: sessions.get(kind) ?? 0 }]))
  const worst = database.prepare(
    `SELECT listing.id AS id, coalesce(title, prompt) AS title, finding FROM findings JOIN listing ON listing.n = findings.session
     WHERE kind = ? AND ${where} ORDER BY count DESC, started_at DESC, id LIMIT ?`,
  )
  return {
    waste: waste as Stats['waste'],
    findings: FINDING_KINDS.flatMap((kind) => worst.all(kind, ...values, most).map(toFoundWaste)),
  }
}

function toFoundWaste({ id, title, finding }: Record<string, SqlValue>): FoundWaste {
  // What was written there was a finding.
  const { kind, tool, file, count, marks } = JSON.parse(String(finding)) as Finding
  return {
    session: String(id),
    ...(typeof title === 'string' && { title }),
    kind,
    tool,
    ...(file !== undefined && { file }),
    count,
    citations: marks.map((mark) => citation(String(id), mark)),
  }
}
