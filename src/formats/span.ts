/** When a session was: the first and the last instant that its records state. */
import type { Session } from '../transcript/session.ts'

export type Span = {
  see(at: string | undefined): void
  facts(): Pick<Session, 'startedAt' | 'endedAt'>
}

/** The first and the last instant that records state, in whatever order they come. */
export function createSpan(): Span {
  let startedAt: string | undefined
  let endedAt: string | undefined
  return {
    see(at) {
      if (at === undefined) return
      if (startedAt === undefined || at < startedAt) startedAt = at
      if (endedAt === undefined || at > endedAt) endedAt = at
    },
    facts: () => ({
      ...(startedAt !== undefined && { startedAt }),
      ...(endedAt !== undefined && { endedAt }),
    }),
  }
}
