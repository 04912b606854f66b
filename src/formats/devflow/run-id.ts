/** What a devflow run is called: `{date}-{flow}-{identifier}[-{suffix}]`, or any other id that is safe as a folder's name. */
import { HansardError } from '../../errors.ts'
import { checkId, isSafeId, uuidFrom } from '../../transcript/ids.ts'
import type { Session } from '../../transcript/session.ts'

export type RunIdParts = {
  /** The day the run began: `2025-01-15`, or an instant, whose day is taken by its own offset. */
  readonly date: string
  readonly flow: string
  /** What the run is about. Hyphens are dropped: `TK-421` is `TK421`. */
  readonly identifier: string
  /** Tells runs apart that are otherwise the same. */
  readonly suffix?: string
}

/** A safe run id. Throws `invalid-argument` when a part has no character that may stand in one. */
export function devflowRunId({ date, flow, identifier, suffix }: RunIdParts): string {
  const day = /^\d{4}-\d{2}-\d{2}/.exec(date)?.[0]
  const parts = [day, safe(flow), safe(identifier).replaceAll('-', '')]
  if (suffix !== undefined) parts.push(safe(suffix))
  if (parts.some((part) => part === undefined || part === '')) {
    throw new HansardError('invalid-argument', 'a run id needs a date, a flow and an identifier', {
      hint: 'each with at least one letter or digit; the date as YYYY-MM-DD',
    })
  }
  return checkId(parts.join('-').slice(0, 128), 'run id')
}

/**
 * The run id a session is written under. Its own devflow name; else its run's id, with the step where one run has several;
 * else one made from its date, flow and id. The same session always gives the same.
 */
export function runIdOf(session: Session): { readonly runId: string; readonly made: boolean } {
  const { names, run, startedAt } = session
  if (names?.['devflow'] !== undefined) return { runId: checkId(names['devflow'], 'run id'), made: false }
  const own = run?.id === undefined ? undefined : run.step === undefined ? run.id : `${run.id}-${run.step}`
  if (own !== undefined && isSafeId(own)) return { runId: own, made: false }
  const identifier = shortHash(session)
  const flow = safe(run?.flow ?? '') || 'session'
  if (startedAt === undefined) return { runId: checkId(`${flow}-${identifier}`, 'run id'), made: true }
  return { runId: devflowRunId({ date: startedAt, flow, identifier }), made: true }
}

/** Eight hex digits that are the same for the same session. */
export function shortHash(session: Session): string {
  return uuidFrom('devflow', session.id).slice(0, 8)
}

function safe(text: string): string {
  return text
    .slice(0, 200)
    .replaceAll(/[^A-Za-z0-9._-]/g, '')
    .replaceAll(/\.{2,}/g, '.')
    .replaceAll(/^[._-]+|[._-]+$/g, '')
    .slice(0, 60)
}
