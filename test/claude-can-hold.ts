/** What Claude Code's logs can hold of a transcript: reading back what we wrote gives exactly this. */
import type { Entry } from '../src/transcript/entry.ts'
import type { Session } from '../src/transcript/session.ts'
import type { Transcript } from '../src/transcript/transcript.ts'
import { linesCanHold } from './entire-can-hold.ts'

/** Lines are those of `full.jsonl`, in a file for each source; a message without an id is given one, which the caller leaves out. */
export function claudeCanHold(given: Pick<Transcript, 'session' | 'entries'>): {
  session: Partial<Session>
  entries: Partial<Entry>[]
} {
  const { session } = given
  const entries = linesCanHold(session, given.entries)
  const times = entries.map(({ at }) => at ?? EPOCH).sort()
  const answers = given.entries.filter(({ role, model }) => role === 'assistant' && model !== undefined)
  const model = (answers.find(({ source }) => source === 'primary') ?? answers[0])?.model
  const hasLines = entries.length > 0
  return {
    session: {
      agent: 'claude-code',
      status: 'completed',
      ...(session.title !== undefined && { title: session.title }),
      ...(model !== undefined && { model }),
      ...(hasLines && session.cwd !== undefined && { cwd: session.cwd }),
      ...(hasLines && session.git?.branch !== undefined && { git: { branch: session.git.branch } }),
      ...(hasLines && { version: session.version ?? 'hansard/test' }),
      ...(hasLines && { startedAt: times[0] as string, endedAt: times.at(-1) as string }),
    },
    entries: bySource(entries.map((entry) => ({ at: EPOCH, ...entry, ...heldUsage(entry) }))),
  }
}

/** What does not say how it ended may not be done. */
function heldUsage({ usage, stopReason }: Partial<Entry>): Pick<Entry, 'usage'> {
  if (usage === undefined) return {}
  const isOpen = usage.quality !== 'unavailable' && stopReason === undefined
  return { usage: isOpen ? { ...usage, quality: 'partial' } : usage }
}

const EPOCH = '1970-01-01T00:00:00.000Z'

export function bySource<T extends Partial<Entry>>(entries: readonly T[]): T[] {
  return [...entries].sort((a, b) => (a.source === b.source ? 0 : a.source === 'primary' ? -1 : 1))
}
