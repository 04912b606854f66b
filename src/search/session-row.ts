/** A session as one row of a list, for programs: what `hansard list --json` says, and what the server adds to. */
import type { ListedSession } from '../sources/state-sessions.ts'
import type { Cost } from '../transcript/session.ts'
import type { SessionDoings } from './sessions.ts'

/** One that the state does not know yet has only what its journal says. */
export type RowSession = ListedSession & { readonly did?: SessionDoings }

/** Always told: a program asks for `cost.usd` of every row. */
const UNKNOWN: Cost = { usd: null, unpriced: [] }

export function toListedRow(session: RowSession) {
  const { id, title, prompt, agent, model, cwd, run, startedAt, endedAt, status, parent, totals, did } =
    session
  return {
    id,
    title,
    prompt,
    agent,
    models: totals?.models ?? (model === undefined ? [] : [model]),
    cwd,
    run: run?.id,
    flow: run?.flow,
    step: run?.step,
    startedAt,
    endedAt,
    durationMs: did?.durationMs,
    status,
    parent,
    entries: totals?.entries,
    toolCalls: totals?.toolCalls,
    toolsFailed: did?.toolsFailed,
    errors: did?.errors,
    filesTouched: did?.filesTouched,
    repeatedCalls: did?.repeatedCalls,
    rereads: did?.rereads,
    calls: totals?.calls,
    uncounted: totals?.uncounted,
    usage: totals?.usage,
    cost: totals?.cost ?? UNKNOWN,
    activity: did?.activity,
  }
}
