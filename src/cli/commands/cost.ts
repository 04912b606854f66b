/** `hansard cost`: what the archive's calls cost, by day or by whatever is asked for; with a budget, whether it was kept. */
import os from 'node:os'
import { openArchive, type Archive } from '../../archive/archive.ts'
import { toUsd } from '../../cost/money.ts'
import type { PriceRow } from '../../cost/prices.ts'
import { counted } from '../../transcript/counted.ts'
import { PERIODS, type Budget, type CostBy } from '../../search/cost-by.ts'
import { createCalendar } from '../../search/cost-calendar.ts'
import { queryCost, type CostAnswer, type CostQuestion, type CostRow } from '../../search/cost.ts'
import { parseField } from '../../search/query-fields.ts'
import { withState } from '../../sources/with-state.ts'
import { fromMillis } from '../../transcript/instant.ts'
import type { Cost } from '../../transcript/session.ts'
import { loadConfig } from '../config.ts'
import { printCost, printCostJson, type CheckedBudget, type CostPage } from '../cost-page.ts'
import { FAILED, note, printError, WRONG_USAGE } from '../print.ts'

export type CostOptions = {
  readonly by?: CostBy
  readonly blocks?: boolean
  readonly since?: string
  readonly until?: string
  readonly budget?: Budget
  readonly rollup?: boolean
  /** `false`: from the logs themselves, without the archive. */
  readonly index?: boolean
  readonly limit?: number
  readonly utc?: boolean
  readonly home?: string
  readonly json?: boolean
}

export async function cost(options: CostOptions): Promise<void> {
  const { home, utc = false, prices = [], exclude = [] } = await loadConfig(options)
  const now = Date.now()
  const question = await toQuestion(options, { now, utc })
  if (question === undefined) return
  const archive = openArchive(home)
  const repricing = await repricingFor(prices)
  const work = (ask: Ask): CostAnswer & { readonly budget?: CheckedBudget } => {
    const asked = { ...question, ...(repricing && { repricing: repricing() }) }
    const budget = options.budget && checkBudget(options.budget, asked, now, ask)
    return { ...ask(asked), ...(budget && { budget }) }
  }
  const answer = options.index === false ? await scanned(archive, exclude, work) : await known(archive, work)
  const page = await redacted(archive, {
    by: question.by,
    bounds: {
      ...(question.since && { since: question.since }),
      ...(question.until && { until: question.until }),
    },
    utc,
    now,
    isRepriced: prices.length > 0,
    answer: answer ?? NOTHING,
    ...(answer?.budget && { budget: answer.budget }),
    ...(options.limit !== undefined && { limit: options.limit }),
  })
  if (options.json) await printCostJson(page)
  else await printCost(page, archive.home)
  if (page.budget?.isOver) process.exitCode = FAILED
}

type Ask = (question: CostQuestion) => CostAnswer
type Work = (ask: Ask) => CostAnswer & { readonly budget?: CheckedBudget }

async function known(archive: Archive, work: Work): Promise<ReturnType<Work> | undefined> {
  const { answer, isCaughtUp } = await withState(archive, ({ database }) =>
    work((question) => queryCost(database, question)),
  )
  if (!isCaughtUp)
    note(`hansard: what was recorded in the last moments may be missing: ${archive.home} is in use`)
  return answer
}

async function scanned(archive: Archive, exclude: readonly string[], work: Work): Promise<ReturnType<Work>> {
  const { scanCost } = await import('../../search/cost-scan.ts')
  const machine = {
    env: process.env,
    userHome: os.homedir(),
    platform: process.platform,
    cwd: process.cwd(),
    exclude,
  }
  const asked = await scanCost(archive, machine)
  try {
    if (asked.failed > 0)
      note(`${counted(asked.failed, 'log')} that could not be read: sums are at least these`)
    return work((question) => asked.ask(question))
  } finally {
    asked.close()
  }
}

const NOTHING: CostAnswer & { readonly budget?: CheckedBudget } = {
  rows: [],
  total: { calls: 0, cost: { usd: null, unpriced: [] } },
  undated: 0,
  inexact: 0,
}

/** Undefined when it was said what is wrong with it. */
async function toQuestion(
  { by, blocks, since, until, rollup, json }: CostOptions,
  time: { readonly now: number; readonly utc: boolean },
): Promise<CostQuestion | undefined> {
  try {
    const bound = (name: 'since' | 'until', value: string | undefined): string | undefined => {
      if (value === undefined) return undefined
      const token = { type: 'field', name, operator: ':', value, quoted: false, raw: value } as const
      const test = parseField({ ...token, value: value.trim() === '' ? '-' : value }, time)
      return test !== undefined && 'instant' in test ? test.instant : undefined
    }
    const [from, to] = [bound('since', since), bound('until', until)]
    return {
      by: blocks ? 'block' : (by ?? 'day'),
      utc: time.utc,
      ...(from && { since: from }),
      ...(to && { until: to }),
      ...(rollup !== undefined && { rollup }),
    }
  } catch (error) {
    await printError(error, json === true, WRONG_USAGE)
    return undefined
  }
}

/** A new one for each question: it counts. Loaded only where the user has prices of their own. */
async function repricingFor(prices: readonly PriceRow[]) {
  if (prices.length === 0) return undefined
  const { createRepricing } = await import('../../search/cost-repricing.ts')
  return () => createRepricing(prices)
}

/** Without bounds, the period that is now; else every one within them. */
function checkBudget(
  { pico, per }: Budget,
  question: CostQuestion,
  now: number,
  ask: (question: CostQuestion) => CostAnswer,
): CheckedBudget {
  const isBounded = question.since !== undefined || question.until !== undefined
  const start = fromMillis(createCalendar(question.utc === true).startOf(per, now))
  const { rows } = ask({ ...question, by: per, ...(!isBounded && start !== undefined && { since: start }) })
  const periods = rows.map(({ key, uncounted, usage, cost: { usd, unpriced }, ...row }) => {
    const counted = { ...(uncounted !== undefined && { uncounted }), ...(usage && { usage }) }
    return { key, usd, unpriced, ...counted, isOver: (row.pico ?? 0n) > pico }
  })
  return { usd: toUsd(pico), per, isOver: periods.some(({ isOver }) => isOver), periods }
}

/** What is foreign text passes the redactor, which is loaded only where there is some. */
async function redacted(archive: Archive, page: CostPage): Promise<CostPage> {
  const { by, answer, budget } = page
  const hasKeys = by !== 'block' && !PERIODS.some((period) => period === by)
  if (!hasKeys && answer.total.cost.unpriced.length === 0) return page
  const { createRedactor } = await import('../../redact/redactor.ts')
  const redactor = createRedactor({ key: archive.redactionKey(), env: process.env })
  const toCost = ({ usd, unpriced }: Cost): Cost => ({
    usd,
    unpriced: unpriced.map((model) => redactor.text(model)),
  })
  const toRow = (row: CostRow): CostRow => ({
    ...row,
    key: hasKeys && by !== 'session' ? redactor.text(row.key) : row.key,
    cost: toCost(row.cost),
    ...(row.session && { session: redactor.session(row.session) }),
  })
  return {
    ...page,
    answer: {
      ...answer,
      rows: answer.rows.map(toRow),
      total: { ...answer.total, cost: toCost(answer.total.cost) },
    },
    ...(budget && {
      budget: {
        ...budget,
        periods: budget.periods.map((period) => ({
          ...period,
          unpriced: period.unpriced.map((model) => redactor.text(model)),
        })),
      },
    }),
  }
}
