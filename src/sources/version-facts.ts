/**
 * A session's facts over versions of its file: it began when the first of them says and ended when the last does. Of all else the newest
 * version has the word, and what only an older one states stays; a version that holds only a part of an older one's entries has it last.
 */
import type { Session } from '../transcript/session.ts'

/** What one version says: the last facts and the number of entries of each session, by scope. */
export type VersionFacts = {
  readonly facts: ReadonlyMap<string, Session>
  readonly sizes: ReadonlyMap<string, number>
  /** It has nothing but entries of an older one. */
  readonly isPart: boolean
}

/** By scope, those that the newest has first. Versions from the oldest on. */
export function factsOver(versions: readonly VersionFacts[]): Map<string, Session> {
  const all = new Map<string, { readonly session: Session; readonly size: number }>()
  for (const { facts, sizes, isPart } of versions) {
    for (const [scope, now] of facts) {
      const size = sizes.get(scope) ?? 0
      const before = all.get(scope)
      if (before === undefined) all.set(scope, { session: now, size })
      else if (isPart && size < before.size) {
        all.set(scope, { session: bothFacts(now, before.session), size: before.size })
      } else all.set(scope, { session: bothFacts(before.session, now), size: Math.max(size, before.size) })
    }
  }
  const ordered = new Map<string, Session>()
  for (const { facts } of versions.toReversed()) {
    for (const scope of facts.keys()) {
      const of = all.get(scope)
      if (of !== undefined && !ordered.has(scope)) ordered.set(scope, of.session)
    }
  }
  return ordered
}

/** `now` has the word; how it ended is told by what went further. */
export function bothFacts(before: Session, now: Session): Session {
  const isFurther = isAfter(before.endedAt, now.endedAt)
  const { status, stopReason = now.stopReason, error = now.error } = before
  return {
    ...before,
    ...now,
    ...(isAfter(now.startedAt, before.startedAt) && { startedAt: before.startedAt as string }),
    ...(isFurther && {
      endedAt: before.endedAt as string,
      status,
      ...(stopReason !== undefined && { stopReason }),
      ...(error !== undefined && { error }),
    }),
  }
}

/** Of two that are known. */
function isAfter(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return false
  return Date.parse(one) > Date.parse(other)
}
