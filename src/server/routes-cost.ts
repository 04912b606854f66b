/** What calls cost, as `hansard cost` does; the dearest sessions and calls; and how much was read from caches, by day. */
import { PERIODS } from '../search/cost-by.ts'
import { BLOCK_MS, queryCost, type CostAnswer as Costs, type CostRow } from '../search/cost.ts'
import type { Bounds } from '../search/cost-parts.ts'
import { createRepricing } from '../search/cost-repricing.ts'
import type { CostSum } from '../search/cost-sum.ts'
import { dearestCalls } from '../search/cost-top.ts'
import { all, EVERY_SESSION, flagsFilter } from '../search/session-where.ts'
import { querySessions } from '../search/sessions.ts'
import { stateMark } from '../search/state-mark.ts'
import type { Database } from '../sqlite/driver.ts'
import { promptTokens, type Usage } from '../transcript/usage.ts'
import { answer, queryOf } from './answers.ts'
import {
  costQuerySchema,
  topQuerySchema,
  type ApiCostRow,
  type CacheAnswer,
  type CostAnswer,
  type TopAnswer,
} from './api-cost.ts'
import { createMemory, filterOf, instantOf } from './ask.ts'
import type { App, AskingContext } from './context.ts'
import { toSessionRow, withoutSecrets } from './rows.ts'

const TOP = 20
const NOTHING: Costs = {
  rows: [],
  total: { calls: 0, cost: { usd: null, unpriced: [] } },
  undated: 0,
  inexact: 0,
}

export function registerCost(app: App, context: AskingContext): void {
  const { state, redactor } = context
  // Few: by session, an answer has a row for each.
  const remember = createMemory<Costs>(3)
  app.get('/api/v1/cost', async (c) => {
    const asked = queryOf(c, costQuerySchema)
    const { by = 'day', rollup, limit } = asked
    const found = await state.read((database) => {
      const bounds = boundsOf(database, asked, context)
      const utc = isUtc(asked, context)
      const question = JSON.stringify([bounds, by, utc, rollup])
      const answered = remember(stateMark(database), question, () =>
        queryCost(database, {
          ...bounds,
          by,
          utc,
          ...(rollup !== undefined && { rollup }),
          ...repricingOf(context),
        }),
      )
      return { bounds, answered }
    })
    const { rows, total, undated, inexact } = found?.answered ?? NOTHING
    const { since, until, payers } = found?.bounds ?? {}
    const hasForeignKeys = by !== 'block' && by !== 'session' && !PERIODS.some((period) => period === by)
    const toKey = (key: string): string =>
      by === 'session' ? redactor.id(key) : hasForeignKeys ? redactor.text(key) : key
    const document: CostAnswer = {
      by,
      basis: 'api-equivalent',
      prices: (context.options.prices ?? []).length > 0 ? 'configured' : 'listed',
      ...(since !== undefined && { since }),
      ...(until !== undefined && { until }),
      rows: rows.slice(0, limit).map((row) => ({ ...toRow(row, context), key: toKey(row.key) })),
      ...(limit !== undefined && limit < rows.length && { rowCount: rows.length }),
      total: toSums(total, context),
      // Counted over the whole archive: of some sessions it would be too many.
      ...(undated > 0 && payers === undefined && { undated }),
      ...(inexact > 0 && { inexact }),
    }
    return answer(c, document)
  })

  app.get('/api/v1/cost/top', async (c) => {
    const asked = queryOf(c, topQuerySchema)
    const { limit = TOP } = asked
    const found = await state.read((database): TopAnswer => {
      const bounds = boundsOf(database, asked, context)
      const { since, until, payers = EVERY_SESSION } = bounds
      const times = flagsFilter({
        ...(since !== undefined && { since }),
        ...(until !== undefined && { until }),
      })
      const { sessions } = querySessions(database, { filter: all([payers, times]), sort: 'cost', limit })
      return {
        sessions: sessions.filter(hasCost).map((session) => toSessionRow(session, redactor)),
        calls: dearestCalls(database, bounds, limit).map((call) => ({
          ...call,
          session: redactor.id(call.session),
          ...(call.title !== undefined && { title: redactor.text(call.title) }),
          ...(call.source !== undefined && { source: redactor.text(call.source) }),
          ...(call.model !== undefined && { model: redactor.text(call.model) }),
        })),
      }
    })
    return answer(c, found ?? { sessions: [], calls: [] })
  })

  app.get('/api/v1/cost/cache', async (c) => {
    const asked = queryOf(c, topQuerySchema)
    const found = await state.read((database): CacheAnswer => {
      const utc = isUtc(asked, context)
      const { rows, total } = queryCost(database, { ...boundsOf(database, asked, context), by: 'day', utc })
      return {
        days: rows.map(({ key, ...sum }) => ({ key, ...toCached(sum) })),
        total: toCached(total),
      }
    })
    return answer(c, found ?? { days: [], total: {} })
  })
}

type Asked = {
  readonly since?: string | undefined
  readonly until?: string | undefined
  readonly q?: string | undefined
  readonly utc?: boolean | undefined
}

const isUtc = ({ utc }: Asked, { options }: AskingContext): boolean => utc ?? options.utc === true

function boundsOf(database: Database, asked: Asked, context: AskingContext): Bounds {
  const time = { utc: isUtc(asked, context) }
  const [since, until] = [instantOf('since', asked.since, time), instantOf('until', asked.until, time)]
  const filter = filterOf(database, asked.q, context)
  return {
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
    ...(filter !== EVERY_SESSION && { payers: filter }),
  }
}

/** A new one for each question: it counts. */
function repricingOf({ options: { prices = [] } }: AskingContext) {
  return prices.length === 0 ? {} : { repricing: createRepricing(prices) }
}

function toRow(row: CostRow, context: AskingContext): Omit<ApiCostRow, 'key'> {
  const { session, sessions, startsAt } = row
  const { title, prompt, agent, startedAt } = session ? withoutSecrets(session, context.redactor) : {}
  const named = title ?? prompt
  const now = Date.now()
  return {
    ...toSums(row, context),
    ...(named !== undefined && { title: named }),
    ...(agent !== undefined && { agent }),
    ...(startedAt !== undefined && { startedAt }),
    ...(sessions !== undefined && { sessions }),
    ...(startsAt !== undefined && {
      startsAt: new Date(startsAt).toISOString(),
      endsAt: new Date(startsAt + BLOCK_MS).toISOString(),
      isActive: startsAt <= now && now < startsAt + BLOCK_MS,
    }),
  }
}

function toSums(
  { calls, uncounted, usage, cost }: CostSum,
  { redactor }: AskingContext,
): CostAnswer['total'] {
  return {
    calls,
    ...(uncounted !== undefined && { uncounted }),
    ...(usage && { usage }),
    cost: { usd: cost.usd, unpriced: cost.unpriced.map((model) => redactor.text(model)) },
  }
}

function hasCost({
  totals,
}: {
  readonly totals?: { readonly cost?: { readonly usd: string | null } }
}): boolean {
  return totals?.cost !== undefined && totals.cost.usd !== null
}

function toCached({ uncounted, usage }: Omit<CostSum, 'cost'>): CacheAnswer['total'] {
  return { ...(usage && { usage }), ...(uncounted !== undefined && { uncounted }), ...rateOf(usage) }
}

/** Four digits tell enough. */
function rateOf(usage: Usage | undefined): { readonly rate?: number } {
  const read = usage && promptTokens(usage)
  if (usage === undefined || read === undefined || read === 0) return {}
  return { rate: Math.round(((usage.cacheRead ?? 0) / read) * 10_000) / 10_000 }
}
