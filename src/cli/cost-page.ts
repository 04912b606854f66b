/** Costs as a table for people and as a document for programs. Both say what the figure is: list prices, whoever paid. */
import { counted, toCount, toDollars } from '../replay/amounts.ts'
import { createClock } from '../replay/clock.ts'
import { cut } from '../replay/escape.ts'
import type { Period } from '../search/cost-by.ts'
import { BLOCK_MS, type CostAnswer, type CostQuestion, type CostRow } from '../search/cost.ts'
import type { CostSum } from '../search/cost-sum.ts'
import { note, out, outJson } from './print.ts'
import { toTable, type Cell, type Column } from './table.ts'

export type CheckedBudget = {
  readonly usd: string
  readonly per: Period
  readonly isOver: boolean
  readonly periods: readonly {
    readonly key: string
    readonly usd: string | null
    readonly unpriced: readonly string[]
    readonly isOver: boolean
  }[]
}

export type CostPage = {
  readonly by: CostQuestion['by']
  readonly bounds: { readonly since?: string; readonly until?: string }
  readonly utc: boolean
  /** Milliseconds since 1970. */
  readonly now: number
  readonly isRepriced: boolean
  readonly limit?: number
  readonly answer: CostAnswer
  readonly budget?: CheckedBudget
}

export async function printCostJson({
  by,
  bounds,
  now,
  isRepriced,
  limit,
  answer,
  budget,
}: CostPage): Promise<void> {
  const { rows, total, undated, inexact } = answer
  await outJson({
    by,
    basis: 'api-equivalent',
    prices: isRepriced ? 'configured' : 'listed',
    ...bounds,
    rows: rows.slice(0, limit).map((row) => toDocument(row, now)),
    ...(limit !== undefined && limit < rows.length && { rowCount: rows.length }),
    total: toSums(total),
    ...(undated > 0 && { undated }),
    ...(inexact > 0 && { inexact }),
    ...(budget && { budget }),
  })
}

function toDocument(row: CostRow, now: number): object {
  const { key, session, sessions, startsAt } = row
  const { title, prompt, agent, startedAt } = session ?? {}
  return {
    key,
    ...toSums(row),
    ...(session && { title: title ?? prompt, agent, startedAt }),
    ...(sessions !== undefined && { sessions }),
    ...(startsAt !== undefined && {
      startsAt: key,
      endsAt: new Date(startsAt + BLOCK_MS).toISOString(),
      isActive: isActive(startsAt, now),
    }),
  }
}

const isActive = (startsAt: number, now: number): boolean => startsAt <= now && now < startsAt + BLOCK_MS

function toSums({ calls, uncounted, usage, cost }: CostSum): object {
  return { calls, ...(uncounted !== undefined && { uncounted }), ...(usage && { usage }), cost }
}

const HEADER =
  'US dollars at API list prices; what a subscription covered is shown as what the API would have charged.'
const REPRICED = 'US dollars at API prices, for some models those of hansard.config.json.'

export async function printCost(page: CostPage, home: string): Promise<void> {
  const { by, limit, answer, isRepriced, budget } = page
  const { rows, total, undated, inexact } = answer
  if (rows.length === 0) note(`no calls that were billed in ${home}`)
  else {
    const shown = rows.slice(0, limit)
    const toKey = keysFor(page)
    const cells = shown.map((row) => [toKey(row), ...toCells(row), ...(by === 'session' ? [what(row)] : [])])
    await out(`${isRepriced ? REPRICED : HEADER}\n\n`)
    await out(toTable(columnsFor(by), [...cells, [{ text: 'total', style: 'bold' }, ...toCells(total)]]))
    if (shown.length < rows.length) note(`${toCount(shown.length)} of ${counted(rows.length, 'row')}`)
  }
  const { unpriced } = total.cost
  if (unpriced.length > 0)
    note(`unpriced: ${unpriced.join(', ')}: no price is known, so costs are at least these`)
  if (total.uncounted !== undefined)
    note(`${counted(total.uncounted, 'answer')} that nobody counted: sums are at least these`)
  if (undated > 0) note(`${counted(undated, 'call')} without a time left out`)
  if (inexact > 0)
    note(`${counted(inexact, 'call')} priced without tier and place, which own prices are not put to here`)
  if (by === 'tool') note('a call that calls several tools is shared equally among them')
  if (budget) noteBudget(budget)
}

function noteBudget({ usd, per, isOver, periods }: CheckedBudget): void {
  for (const period of periods) {
    if (period.isOver)
      note(
        `hansard: over budget: ${period.key}: ${toDollars(period.usd ?? '0')} of ${toDollars(usd)} a ${per}`,
        'red',
      )
  }
  const isUnsure = periods.some(({ unpriced }) => unpriced.length > 0)
  if (!isOver)
    note(`within the budget of ${toDollars(usd)} a ${per}${isUnsure ? ', as far as prices are known' : ''}`)
}

function columnsFor(by: CostPage['by']): readonly Column[] {
  const isId = by === 'session' || by === 'block'
  return [
    { name: (by === 'block' ? 'block from' : by).toUpperCase(), cutLast: isId, least: isId ? 13 : 12 },
    { name: 'CALLS', align: 'right', rank: 1 },
    { name: 'INPUT', align: 'right', rank: 3 },
    { name: 'CACHE READ', align: 'right', rank: 4 },
    { name: 'CACHE WRITE', align: 'right', rank: 4 },
    { name: 'OUTPUT', align: 'right', rank: 2 },
    { name: 'COST', align: 'right' },
    ...(by === 'session' ? [{ name: 'WHAT', rank: 1 }] : []),
  ]
}

function keysFor({ by, utc, now }: CostPage): (row: CostRow) => string {
  if (by !== 'block') return ({ key }) => key
  const clock = createClock(utc ? 'UTC' : undefined)
  return ({ key, startsAt = 0 }) =>
    `${clock.date(key).slice(0, 16)}${isActive(startsAt, now) ? ' (now)' : ''}`
}

function toCells({ calls, uncounted, usage, cost }: CostSum): readonly Cell[] {
  const { input, cacheRead, cacheWrite5m, cacheWrite1h, output } = usage ?? {}
  const writes = [cacheWrite5m, cacheWrite1h].filter((count) => count !== undefined)
  const written = writes.length === 0 ? undefined : writes.reduce((sum, count) => sum + count, 0)
  const isBound = cost.unpriced.length > 0 || uncounted !== undefined
  const dollars = cost.usd === null ? 'unknown' : `${isBound ? '≥ ' : ''}${toDollars(cost.usd)}`
  const style = cost.usd === null || isBound ? 'yellow' : 'green'
  return [toCount(calls), ...[input, cacheRead, written, output].map(toCell), { text: dollars, style }]
}

/** In a column of numbers what nobody said is a stroke, never a zero. */
const toCell = (count: number | undefined): string => (count === undefined ? '-' : toCount(count))

function what({ session, sessions = 1 }: CostRow): string {
  const { title, prompt, agent = '' } = session ?? {}
  return `${cut(title ?? prompt ?? agent, 50)}${sessions > 1 ? ` (+${counted(sessions - 1, 'session')})` : ''}`
}
