/** What may be said of a session after it began, and how it ends. */
import { parseInstant } from '../transcript/instant.ts'
import type { Session } from '../transcript/session.ts'

/** What may be learnt on the way. */
export const FACTS = ['title', 'model', 'version', 'tags', 'native', 'git'] as const
export type Facts = Partial<Pick<Session, (typeof FACTS)[number]>>

export type Ending = { readonly stopReason?: string; readonly at?: string }

/** A time that is none is left out: the session then ends when it is said to. */
export function toFacts({ stopReason, at }: Ending): Partial<Session> {
  const endedAt = parseInstant(at)
  return { ...(stopReason !== undefined && { stopReason }), ...(endedAt !== undefined && { endedAt }) }
}

export function pick(session: Partial<Session>, keys: readonly string[]): Partial<Session> {
  const wanted = new Set(keys)
  return Object.fromEntries(
    Object.entries(session).filter(([key, value]) => wanted.has(key) && value !== undefined),
  )
}
