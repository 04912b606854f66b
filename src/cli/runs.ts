/** Sessions that belong together, as runs: what each used and cost together, and how it ended. */
import { parseUsd, toUsd } from '../cost/money.ts'
import type { Cost, Session, Status } from '../transcript/session.ts'
import { addUsage, type Usage } from '../transcript/usage.ts'

export type ListedRun = {
  readonly id: string
  readonly flow?: string
  /** Ids, in the order they began. */
  readonly sessions: readonly string[]
  readonly steps: readonly string[]
  readonly status: Status
  readonly startedAt?: string
  readonly endedAt?: string
  readonly usage?: Usage
  readonly cost?: Cost
}

/** In the order of the sessions given, newest first. Sessions of no run are in none. */
export function toRuns(sessions: readonly Session[]): readonly ListedRun[] {
  const byRun = new Map<string, Session[]>()
  for (const session of sessions) {
    const id = session.run?.id
    if (id === undefined) continue
    byRun.set(id, [...(byRun.get(id) ?? []), session])
  }
  return [...byRun].map(([id, members]) => toRun(id, members.toReversed()))
}

function toRun(id: string, members: readonly Session[]): ListedRun {
  const flow = members.find(({ run }) => run?.flow !== undefined)?.run?.flow
  const starts = members.flatMap(({ startedAt }) => startedAt ?? []).sort()
  const ends = members.flatMap(({ endedAt }) => endedAt ?? []).sort()
  const usages = members.flatMap(({ totals }) => totals?.usage ?? [])
  const costs = members.flatMap(({ totals }) => totals?.cost ?? [])
  const [first, ...others] = usages
  const startedAt = starts[0]
  const endedAt = ends.length === members.length ? ends.at(-1) : undefined
  return {
    id,
    ...(flow !== undefined && { flow }),
    sessions: members.map(({ id }) => id),
    steps: members.flatMap(({ run }) => run?.step ?? []),
    status: statusOf(members),
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
    ...(first && { usage: others.reduce(addUsage, first) }),
    ...(costs.length > 0 && { cost: addCosts(costs) }),
  }
}

/** A run is as its worst step is, and running while one is. */
function statusOf(members: readonly Session[]): Status {
  const order: readonly Status[] = ['running', 'failed', 'interrupted', 'canceled']
  return order.find((status) => members.some((member) => member.status === status)) ?? 'completed'
}

function addCosts(costs: readonly Cost[]): Cost {
  const known = costs.flatMap(({ usd }) => (usd === null ? [] : (parseUsd(usd) ?? [])))
  return {
    usd: known.length === 0 ? null : toUsd(known.reduce((sum, pico) => sum + pico, 0n)),
    unpriced: [...new Set(costs.flatMap(({ unpriced }) => unpriced))].sort(),
  }
}
