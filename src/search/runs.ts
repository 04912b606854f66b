/** Sessions that belong together, as runs: what each used and cost together, and how it ended. */
import { costOf } from '../cost/cost.ts'
import { parseUsd, toUsd } from '../cost/money.ts'
import type { PriceBook } from '../cost/price-book.ts'
import type { Database } from '../sqlite/driver.ts'
import { asArray, asObject, asString, parseJson } from '../transcript/json.ts'
import type { Cost, Session, Status } from '../transcript/session.ts'
import { sessionUsage } from '../transcript/session-amounts.ts'
import { addUsage, type Usage } from '../transcript/usage.ts'

export type ListedRun = {
  readonly id: string
  readonly flow?: string
  /** In the order they began. */
  readonly flows: readonly string[]
  /** Ids, in the order they began. */
  readonly sessions: readonly string[]
  readonly steps: readonly string[]
  readonly status: Status
  /** Every step was played by an engine in stub mode. */
  readonly stub?: true
  readonly startedAt?: string
  readonly endedAt?: string
  readonly usage?: Usage
  /** Answers whose tokens nobody counted. */
  readonly uncounted?: number
  /** Always told, as of a session. */
  readonly cost: Cost
  /** Some of the cost is of what receipts say of whole steps. */
  readonly isCostEstimated?: true
}

/** Every run of the archive, newest first. */
export function listRuns(database: Database, book?: PriceBook): readonly ListedRun[] {
  const rows = database
    .prepare('SELECT session FROM sessions WHERE run IS NOT NULL ORDER BY started_at DESC, id')
    .all()
  return toRuns(
    rows.flatMap(({ session }) => {
      const value = asObject(parseJson(asString(session) ?? ''))
      // What was written there was a session.
      return value === undefined ? [] : [value as unknown as Session]
    }),
    book,
  )
}

/** Ids of a session's subagents, in lower case; of very many only the first. */
export function subagentsOf(database: Database, id: string): readonly string[] {
  const row = database
    .prepare('SELECT sources FROM listing WHERE key IN (SELECT key FROM sessions WHERE id = ?) LIMIT 1')
    .get(id)
  const sources = asArray(parseJson(asString(row?.['sources']) ?? '')) ?? []
  return sources.flatMap((source) => {
    const [, subagent] = /^subagent:(.+)$/s.exec(asString(source) ?? '') ?? []
    return subagent ?? []
  })
}

/** In the order of the sessions given, newest first. Sessions of no run are in none. */
export function toRuns(sessions: readonly Session[], book?: PriceBook): readonly ListedRun[] {
  const byRun = new Map<string, Session[]>()
  for (const session of sessions) {
    const id = session.run?.id
    if (id === undefined) continue
    byRun.set(id, [...(byRun.get(id) ?? []), session])
  }
  return [...byRun].map(([id, members]) => toRun(id, members.toReversed(), book))
}

function toRun(id: string, members: readonly Session[], book: PriceBook | undefined): ListedRun {
  const flow = members.find(({ run }) => run?.flow !== undefined)?.run?.flow
  const steps = members.filter((member) => !isRunLog(member))
  const isStub = steps.length > 0 && steps.every(({ stub }) => stub === true)
  const starts = members.flatMap(({ startedAt }) => startedAt ?? []).sort()
  const ends = members.flatMap(({ endedAt }) => endedAt ?? []).sort()
  const usages = members.flatMap((member) => sessionUsage(member)?.usage ?? [])
  const costs = members.flatMap((member) => stepCost(member, book) ?? [])
  const [first, ...others] = usages
  const uncounted = members.reduce((sum, member) => sum + uncountedOf(member), 0)
  const startedAt = starts[0]
  const endedAt = ends.length === members.length ? ends.at(-1) : undefined
  return {
    id,
    ...(flow !== undefined && { flow }),
    flows: [...new Set(members.flatMap(({ run }) => run?.flow ?? []))],
    sessions: members.map(({ id }) => id),
    steps: members.flatMap(({ run }) => run?.step ?? []),
    status: statusOf(members),
    ...(isStub && { stub: true as const }),
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
    ...(first && { usage: others.reduce(addUsage, first) }),
    ...(uncounted > 0 && { uncounted }),
    cost: addCosts(costs.map(({ cost }) => cost)),
    ...(costs.some(({ isEstimated }) => isEstimated) && { isCostEstimated: true as const }),
  }
}

/** What the source states of the whole is of all of its answers. */
export function uncountedOf(session: Session): number {
  return sessionUsage(session)?.isStated === true ? 0 : (session.totals?.uncounted ?? 0)
}

export type StepCost = { readonly cost: Cost; readonly isEstimated: boolean }

/**
 * What its calls cost; where no call was counted, what a receipt's tokens come to at the price of its model. That is an estimate: of
 * the whole step the receipt does not say what was read from a cache, nor which call was how long.
 */
export function stepCost(session: Session, book?: PriceBook): StepCost | undefined {
  const { totals, stub, startedAt, model = totals?.models?.[0] } = session
  const used = sessionUsage(session)
  if (used?.isStated !== true || stub === true)
    return totals?.cost && { cost: totals.cost, isEstimated: false }
  const { usage } = used
  const cost = costOf({ model, usage, at: startedAt }, book)
  if ('unpriced' in cost) return { cost: { usd: null, unpriced: [model ?? 'unknown'] }, isEstimated: true }
  return { cost: { usd: toUsd(cost.pico), unpriced: [] }, isEstimated: true }
}

/** A run's own log of events, which is no step of it. */
export function isRunLog({ run, recordings = [] }: Session): boolean {
  const isNamed = run?.flow !== undefined || run?.step !== undefined || run?.node !== undefined
  return run?.id !== undefined && !isNamed && recordings.some(({ by }) => by === 'swarm')
}

/** A run is as its worst step is, and running while one is. A log that breaks off says nothing of the steps. */
function statusOf(members: readonly Session[]): Status {
  const order: readonly Status[] = ['running', 'failed', 'interrupted', 'canceled']
  const steps = members.filter((member) => !isRunLog(member) || member.status !== 'interrupted')
  const said = steps.length === 0 ? members : steps
  return order.find((status) => said.some((member) => member.status === status)) ?? 'completed'
}

function addCosts(costs: readonly Cost[]): Cost {
  const known = costs.flatMap(({ usd }) => (usd === null ? [] : (parseUsd(usd) ?? [])))
  return {
    usd: known.length === 0 ? null : toUsd(known.reduce((sum, pico) => sum + pico, 0n)),
    unpriced: [...new Set(costs.flatMap(({ unpriced }) => unpriced))].sort(),
  }
}
