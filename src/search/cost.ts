/**
 * What the archive's calls cost, grouped by what is asked for. Every call is counted once, on the bill of one session; the sums are
 * those of the state, and no log is read for them.
 */
import type { Database } from '../sqlite/driver.ts'
import type { ListedSession } from '../sources/state-sessions.ts'
import { asArray, parseJson } from '../transcript/json.ts'
import { PERIODS, type CostBy, type Period } from './cost-by.ts'
import { beginningMillis, createCalendar } from './cost-calendar.ts'
import { billedParts, countUndated, type BilledPart, type Bounds, type Column } from './cost-parts.ts'
import type { Repricing } from './cost-repricing.ts'
import { createPayers, type Payers } from './cost-sessions.ts'
import { createCostSum, sharePart, type CostFold, type CostPart, type CostSum } from './cost-sum.ts'

export type CostQuestion = Bounds & {
  readonly by: CostBy | 'block'
  /** Days begin at midnight in UTC; else where this machine is. */
  readonly utc?: boolean
  /** `false`: sessions that others started are rows of their own. Only for `session`. */
  readonly rollup?: boolean
  /** The user's own prices, where there are any. */
  readonly repricing?: Repricing
}

export type CostRow = CostSum & {
  readonly key: string
  /** For `session`. */
  readonly session?: ListedSession
  /** For `session`: how many were added up, itself among them. */
  readonly sessions?: number
  /** For `block`: milliseconds since 1970. */
  readonly startsAt?: number
}

export type CostAnswer = {
  readonly rows: readonly CostRow[]
  readonly total: CostSum
  /** Calls that say no time, left out of blocks and of what has bounds. */
  readonly undated: number
  /** Calls that the user's own prices were put to without all that a price hangs on. */
  readonly inexact: number
}

/** Where calls say nothing of what they are grouped by. */
export const NOT_SAID = '(none)'
export const NO_TIME = '(no time)'
export const NO_TOOL = '(no tool)'

export function queryCost(database: Database, question: CostQuestion): CostAnswer {
  const { by, since, until, payers, repricing } = question
  const needsTime = by === 'block' || since !== undefined || until !== undefined
  // Where a block begins depends on all blocks before it.
  const bounds = {
    ...(by !== 'block' && since && { since }),
    ...(by !== 'block' && until && { until }),
    ...(payers && { payers }),
  }
  const rows = rowsFor(database, question, (column) =>
    billedParts(database, toSql(column), { bounds, repricing, isOfCalls: isOfCalls(column) }),
  )
  const total = createCostSum()
  for (const part of rows.counted) total.add(part)
  return {
    rows: rows.rows,
    total: total.sum(),
    undated: needsTime ? countUndated(database) : 0,
    inexact: repricing?.inexact() ?? 0,
  }
}

type Rows = { readonly rows: readonly CostRow[]; readonly counted: readonly CostPart[] }
type Parts = (column: Column) => readonly BilledPart[]

function toSql(column: Column): string {
  return column.name === 'at' ? `substr(at, 1, ${column.characters})` : column.name
}

function isOfCalls(column: Column): boolean {
  return column.name === 'at' ? !column.isOfHalfHours : column.name === 'source' || column.name === 'tools'
}

function rowsFor(database: Database, question: CostQuestion, parts: Parts): Rows {
  const { by, utc = false } = question
  if (by === 'block') return toBlocks(parts({ name: 'at', characters: HOUR, isOfHalfHours: true }), question)
  if (isPeriod(by)) return byPeriod(by, utc, parts)
  if (by === 'model') return grouped(parts({ name: 'model' }), ({ key }) => key ?? NOT_SAID)
  if (by === 'source') return grouped(parts({ name: 'source' }), ({ key }) => key ?? NOT_SAID)
  if (by === 'tool') return byTool(parts({ name: 'tools' }))
  const payers = createPayers(database)
  if (by === 'session') return bySession(payers, question.rollup !== false, parts({ name: 'billed_to' }))
  return grouped(parts({ name: 'billed_to' }), ({ key }) => {
    const session = key === undefined ? undefined : payers.session(key)
    return (session && FACTS[by](session)) ?? NOT_SAID
  })
}

const isPeriod = (by: CostBy): by is Period => PERIODS.some((one) => one === by)

type Fact = 'agent' | 'project' | 'run' | 'flow' | 'step'

const FACTS: Readonly<Record<Fact, (session: ListedSession) => string | undefined>> = {
  agent: ({ agent, native }) => agent ?? native?.agent,
  project: ({ cwd }) => cwd,
  run: ({ run }) => run?.id,
  flow: ({ run }) => run?.flow,
  // Steps of two flows may have one name.
  step: ({ run }) =>
    run?.flow === undefined || run.step === undefined ? run?.step : `${run.flow}/${run.step}`,
}

function byPeriod(period: Period, utc: boolean, parts: Parts): Rows {
  const calendar = createCalendar(utc)
  const { characters, isOfHalfHours } = calendar
  const counted = parts({ name: 'at', characters, isOfHalfHours })
  const toKey = (part: BilledPart): string =>
    (part.key === undefined ? undefined : calendar.key(period, part.key)) ?? NO_TIME
  const { rows } = grouped(counted, toKey)
  // What begins with a digit stands before what says no time.
  return { rows: rows.toSorted((a, b) => inOrder(isTime(a), isTime(b)) || inOrder(a.key, b.key)), counted }
}

const isTime = ({ key }: CostRow): string => (key === NO_TIME ? '1' : '0')

function grouped(counted: readonly BilledPart[], keyOf: (part: BilledPart) => string): Rows {
  const folds = new Map<string, CostFold>()
  for (const part of counted) foldAt(folds, keyOf(part)).add(part)
  return { rows: dearestFirst(Array.from(folds, ([key, fold]) => ({ key, ...fold.sum() }))), counted }
}

/** A call is shared equally among the tools that it calls. */
function byTool(counted: readonly BilledPart[]): Rows {
  const folds = new Map<string, CostFold>()
  for (const part of counted) {
    const named = asArray(parseJson(part.key ?? ''))?.filter((name) => typeof name === 'string') ?? []
    const tools = named.length === 0 ? [NO_TOOL] : named
    const shares = sharePart(part, tools.length)
    for (const [at, tool] of tools.entries()) foldAt(folds, tool).add(shares[at] ?? part)
  }
  return { rows: dearestFirst(Array.from(folds, ([key, fold]) => ({ key, ...fold.sum() }))), counted }
}

function bySession(payers: Payers, isRolledUp: boolean, counted: readonly BilledPart[]): Rows {
  const folds = new Map<string, CostFold>()
  const members = new Map<string, Set<string>>()
  for (const part of counted) {
    const payer = part.key ?? NOT_SAID
    const key = isRolledUp ? payers.root(payer) : payer
    foldAt(folds, key).add(part)
    members.set(key, (members.get(key) ?? new Set([key])).add(payer))
  }
  const rows = Array.from(folds, ([key, fold]): CostRow => {
    const session = payers.session(key)
    const sessions = members.get(key)?.size ?? 1
    return { key: session?.id ?? key, ...fold.sum(), sessions, ...(session && { session }) }
  })
  return { rows: dearestFirst(rows), counted }
}

export const BLOCK_MS = 5 * 3_600_000
/** Characters of an instant. */
const HOUR = '2026-11-09T10'.length

/** A block begins with the hour of the first call that no other block holds. */
function toBlocks(parts: readonly BilledPart[], { since, until }: Bounds): Rows {
  const from = since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(since)
  const to = until === undefined ? Number.POSITIVE_INFINITY : Date.parse(until)
  const hours = parts
    .map((part) => ({ part, millis: part.key === undefined ? Number.NaN : beginningMillis(part.key) }))
    .filter(({ millis }) => !Number.isNaN(millis))
    .sort((a, b) => a.millis - b.millis)
  const folds = new Map<number, CostFold>()
  const counted: CostPart[] = []
  let start = Number.NEGATIVE_INFINITY
  for (const { part, millis } of hours) {
    if (millis >= start + BLOCK_MS) start = millis
    if (start < from || start >= to) continue
    foldAt(folds, start).add(part)
    counted.push(part)
  }
  const rows = Array.from(folds, ([startsAt, fold]): CostRow => {
    return { key: new Date(startsAt).toISOString(), ...fold.sum(), startsAt }
  })
  return { rows, counted }
}

function foldAt<K>(folds: Map<K, CostFold>, key: K): CostFold {
  const known = folds.get(key)
  if (known !== undefined) return known
  const fold = createCostSum()
  folds.set(key, fold)
  return fold
}

function dearestFirst(rows: readonly CostRow[]): readonly CostRow[] {
  return rows.toSorted((a, b) => {
    const [left, right] = [a.pico ?? -1n, b.pico ?? -1n]
    return left === right ? inOrder(a.key, b.key) : left > right ? -1 : 1
  })
}

/** By code units, which no locale changes. */
function inOrder(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
