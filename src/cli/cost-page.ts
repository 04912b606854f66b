/** Costs as a table for people and as a document for programs. Both say what the figure is: list prices, whoever paid. */
import { markedCount, markedPrice, toDollars } from '../replay/amounts.ts'
import { counted, toCount } from '../transcript/counted.ts'
import { createClock } from '../replay/clock.ts'
import { cut } from '../replay/escape.ts'
import { countMark, marked, sumMark } from '../replay/marks.ts'
import type { Period } from '../search/cost-by.ts'
import { BLOCK_MS, type CostAnswer, type CostQuestion, type CostRow } from '../search/cost.ts'
import type { CostSum } from '../search/cost-sum.ts'
import type { Usage } from '../transcript/usage.ts'
import { noteLegend } from './legend.ts'
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
    readonly uncounted?: number
    readonly usage?: Usage
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
    noteLegend([...shown, total].flatMap(amountsOf))
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
  const marks = periods.map((period) => sumMark({ ...period, cost: period }))
  for (const [at, period] of periods.entries()) {
    if (!period.isOver) continue
    const spent = marked(marks[at] ?? '', toDollars(period.usd ?? '0'))
    note(`hansard: over budget: ${period.key}: ${spent} of ${toDollars(usd)} a ${per}`, 'red')
  }
  const isUnsure = marks.some((mark) => mark !== '')
  if (!isOver)
    note(
      `within the budget of ${toDollars(usd)} a ${per}${isUnsure ? ', as far as tokens and prices are known' : ''}`,
    )
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

function toCells(sum: CostSum): readonly Cell[] {
  const [cost = '', ...counts] = amountsOf(sum)
  const isExact = sum.cost.usd !== null && sumMark(sum) === ''
  return [toCount(sum.calls), ...counts, { text: cost, style: isExact ? 'green' : 'yellow' }]
}

/** The cost, then the counts of the table. In a column of counts what nobody stated is a stroke, never a zero. */
function amountsOf(sum: CostSum): readonly string[] {
  const { input, cacheRead, cacheWrite5m, cacheWrite1h, output } = sum.usage ?? {}
  const writes = [cacheWrite5m, cacheWrite1h].filter((count) => count !== undefined)
  const written = writes.length === 0 ? undefined : writes.reduce((all, count) => all + count, 0)
  const mark = countMark(sum)
  const counts = [input, cacheRead, written, output].map((count) =>
    count === undefined ? '-' : markedCount(count, mark),
  )
  return [markedPrice(sum), ...counts]
}

function what({ session, sessions = 1 }: CostRow): string {
  const { title, prompt, agent = '' } = session ?? {}
  return `${cut(title ?? prompt ?? agent, 50)}${sessions > 1 ? ` (+${counted(sessions - 1, 'session')})` : ''}`
}
