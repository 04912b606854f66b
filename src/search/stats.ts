/**
 * What the archive's sessions come to: how they ended, what they used, which tools served them and which failed, and what was done in
 * vain, with the entries that show it. Every provider call and every tool call is counted once in the whole archive.
 */
import type { Database } from '../sqlite/driver.ts'
import type { FindingKind } from '../sources/work-waste.ts'
import type { Cost, Status } from '../transcript/session.ts'
import type { Usage } from '../transcript/usage.ts'
import { EVERY_SESSION, toWhere, type SessionFilter } from './session-where.ts'
import { foldSessions, type Measures } from './stats-sessions.ts'
import { foundWaste, toolStats, type FoundWaste, type ToolStats } from './stats-tools.ts'

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
