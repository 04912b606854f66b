/**
 * What a session used and cost, where its source states sums of its own: what was counted call by call comes first, and what the
 * source states of the whole stands only where nothing was. The one rule for every list, view, order and run.
 */
import type { Session } from './session.ts'
import { hasCounts, promptTokens, type Usage } from './usage.ts'

export type SessionUsage = {
  readonly usage: Usage
  /** By the source, of the whole: no call was counted. */
  readonly isStated: boolean
}

export function sessionUsage({
  totals,
  reportedUsage,
}: Pick<Session, 'totals' | 'reportedUsage'>): SessionUsage | undefined {
  const counted = totals?.usage
  const isStated = reportedUsage !== undefined && hasCounts(reportedUsage)
  if (!isStated || (counted !== undefined && hasCounts(counted)))
    return counted && { usage: counted, isStated: false }
  const { raw: _, ...usage } = reportedUsage
  return { usage, isStated: true }
}

/** All that were read and written; undefined where nobody counted either. */
export function sessionTokenSum(session: Pick<Session, 'totals' | 'reportedUsage'>): number | undefined {
  const { usage } = sessionUsage(session) ?? {}
  const prompt = usage && promptTokens(usage)
  if (prompt === undefined && usage?.output === undefined) return undefined
  return (prompt ?? 0) + (usage?.output ?? 0)
}

export type SessionUsd = { readonly usd: string; readonly isStated: boolean }

/** US dollars as a decimal string. */
export function sessionUsd({
  totals,
  reportedCost,
}: Pick<Session, 'totals' | 'reportedCost'>): SessionUsd | undefined {
  const computed = totals?.cost?.usd ?? undefined
  if (computed !== undefined) return { usd: computed, isStated: false }
  return reportedCost === undefined ? undefined : { usd: reportedCost, isStated: true }
}
