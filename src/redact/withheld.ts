/**
 * What is left of a record that could not be looked through: its place, its time, its counts and its ids, so that order, money
 * and identity are not lost. Everything that could hold content goes.
 */
import { HansardError } from '../errors.ts'
import type { Entry } from '../transcript/entry.ts'
import type { Session } from '../transcript/session.ts'
import { validUsage } from '../transcript/usage.ts'

/** To be redacted like any other: a model's name is a text too. */
export function withheldEntry(entry: Entry, error: unknown): Entry {
  const { id, parent, source, sequence, kind, role, at, model, stopReason, durationMs } = entry
  const usage = validUsage(entry.usage)
  const { raw: _, ...counts } = usage ?? { quality: 'unavailable' }
  const scalars = { id, parent, source, sequence, kind, role, at, model, stopReason, durationMs }
  const { provider, requestId, messageId } = entry.call ?? {}
  return {
    ...onlyScalars(scalars),
    blocks: [{ type: 'unknown', raw: null, reason: whyWithheld(error) }],
    ...(usage !== undefined && { usage: counts }),
    ...(entry.call !== undefined && { call: onlyScalars({ provider, requestId, messageId }) }),
  }
}

/** To be redacted like any other. */
export function withheldSession(session: Session, error: unknown): Session {
  const { id, status, startedAt, endedAt, model, thread, stub, reportedCost, totals, run, names } = session
  const { entries, toolCalls, calls, uncounted } = totals ?? {}
  const { raw: _, ...usage } = validUsage(totals?.usage) ?? { quality: 'unavailable' }
  return {
    ...onlyScalars({ id, status, startedAt, endedAt, model, thread, stub, reportedCost }),
    ...(run !== undefined && { run: onlyScalars(run) }),
    ...(names !== undefined && { names: onlyScalars(names) }),
    ...(totals !== undefined && {
      totals: {
        ...onlyScalars({ entries, toolCalls, calls, uncounted }),
        ...(totals.usage !== undefined && { usage }),
      },
    }),
    metadata: { hansard: { withheld: whyWithheld(error) } },
  }
}

/** What has another type than a record of ours is content of somebody's. */
function onlyScalars<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const scalars = Object.entries(fields).filter(
    ([, value]) => value === null || ['string', 'number', 'boolean'].includes(typeof value),
  )
  return Object.fromEntries(scalars) as never
}

/** Says what failed and nothing of what it failed on: an error's message may quote it. */
function whyWithheld(error: unknown): string {
  const known =
    error instanceof HansardError
      ? error.message
      : `the redactor failed (${error instanceof Error ? error.name : typeof error})`
  return `content withheld: ${known}`
}
