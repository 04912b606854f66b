/** Which tools served sessions and which failed, and what was done in vain, with the entries that show it. */
import type { Database } from '../sqlite/driver.ts'
import { FINDING_KINDS, type Finding, type FindingKind } from '../sources/work-waste.ts'
import { citation } from '../transcript/entry.ts'
import type { Row, SqlValue } from '../transcript/source.ts'
import type { Sql } from './session-where.ts'
import type { Stats } from './stats.ts'

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

export function toolStats(database: Database, asked: Sql, isAll: boolean): readonly ToolStats[] {
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

export function foundWaste(
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

/** Of all sessions, or of some. */
function within(column: string, { where, values }: Sql, isAll: boolean): Sql {
  return isAll
    ? { where: 'true', values: [] }
    : { where: `${column} IN (SELECT n FROM listing WHERE ${where})`, values }
}
