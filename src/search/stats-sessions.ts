/** What sessions come to by their numbers: sums, averages and medians, each of the sessions that say it. */
import { toUsd } from '../cost/money.ts'
import type { Database } from '../sqlite/driver.ts'
import { toUsage } from '../sources/state-usage.ts'
import { STATUSES, type Status } from '../transcript/session.ts'
import type { Sql } from './session-where.ts'
import type { Stats, StatsTotals } from './stats.ts'

/** `usd` is a decimal text. */
export type Measures = {
  readonly entries?: number
  readonly tokens?: number
  readonly usd?: string
  readonly durationMs?: number
  readonly toolCalls?: number
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

export function foldSessions(database: Database, { where, values }: Sql): Folded {
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
