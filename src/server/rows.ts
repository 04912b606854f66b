/** A session as a row of a list, without secrets: what `hansard list --json` says of it, and what a page shows besides. */
import type { Redactor } from '../redact/redactor.ts'
import type { SessionDoings } from '../search/sessions.ts'
import type { ListedSession } from '../sources/state-sessions.ts'
import type { SessionRow } from './api-model.ts'

export type RowSession = ListedSession & { readonly did?: SessionDoings }

export function toSessionRow(session: RowSession, redactor: Redactor): SessionRow {
  const { did, ...listed } = session
  const {
    id,
    prompt,
    title,
    agent,
    model,
    native,
    cwd,
    git,
    run,
    startedAt,
    endedAt,
    status,
    stub,
    parent,
    totals,
    reportedCost,
  } = withoutSecrets(listed, redactor)
  const { usage } = totals ?? {}
  const row = {
    id,
    title,
    prompt,
    agent: agent ?? native?.agent,
    models: totals?.models ?? (model === undefined ? [] : [model]),
    cwd,
    project: cwd === undefined ? undefined : folderName(cwd),
    branch: git?.branch,
    run: run?.id,
    flow: run?.flow,
    step: run?.step,
    startedAt,
    endedAt,
    durationMs: did?.durationMs,
    status,
    stub,
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
    usage,
    cost: totals?.cost,
    reportedCost,
    activity: did?.activity,
  }
  return row
}

/** `prompt` is the list's own word, which a redactor of sessions does not know. */
export function withoutSecrets(session: ListedSession, redactor: Redactor): ListedSession {
  const { prompt, ...facts } = session
  return { ...redactor.session(facts), ...(prompt !== undefined && { prompt: redactor.text(prompt) }) }
}

function folderName(path: string): string {
  return (
    path
      .split(/[\\/]/)
      .filter((part) => part !== '')
      .at(-1) ?? path
  )
}
