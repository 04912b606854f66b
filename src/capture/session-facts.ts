/** What may be said of a session after it began, and how it ends. */
import type { Session } from '../transcript/session.ts'

/** What may be learnt on the way. */
export const FACTS = ['title', 'model', 'version', 'tags', 'native', 'git'] as const
export type Facts = Partial<Pick<Session, (typeof FACTS)[number]>>

export type Ending = { readonly stopReason?: string; readonly at?: string }

export function toFacts({ stopReason, at }: Ending): Partial<Session> {
  return { ...(stopReason !== undefined && { stopReason }), ...(at !== undefined && { endedAt: at }) }
}

export function pick(session: Partial<Session>, keys: readonly string[]): Partial<Session> {
  const wanted = new Set(keys)
  return Object.fromEntries(
    Object.entries(session).filter(([key, value]) => wanted.has(key) && value !== undefined),
  )
}
