/** What formats of lines alone lose of a session: facts about the whole, which no line has a place for. */
import type { Session } from '../transcript/session.ts'
import type { WriteContext } from './format.ts'

/** Facts without a place in any line. A format that does hold one leaves it out of its list. */
export const FACTS = [
  'title',
  'agent',
  'run',
  'thread',
  'chat',
  'mode',
  'error',
  'stopReason',
  'input',
  'parent',
  'stub',
  'tags',
  'reportedUsage',
  'reportedCost',
] as const satisfies readonly (keyof Session)[]

/** Such a file ends when its last line was written, and by that it is completed: anything else is lost. */
export function loseFacts(
  session: Session,
  facts: readonly (keyof Session)[],
  lastAt: string | undefined,
  context: WriteContext,
): void {
  for (const fact of facts) if (session[fact] !== undefined) context.lost(undefined, fact)
  if (session.status !== 'completed') context.lost(undefined, `status ${session.status}`)
  if (session.endedAt !== undefined && session.endedAt !== lastAt) context.lost(undefined, 'endedAt')
}
