/** What a transcript slice can hold of a transcript: its messages, one entry for each line; reading back what we wrote gives exactly this. */
import type { Block } from '../src/transcript/block.ts'
import { createSequence, type Entry } from '../src/transcript/entry.ts'
import { uuid4From } from '../src/transcript/ids.ts'
import type { Session } from '../src/transcript/session.ts'
import type { Transcript } from '../src/transcript/transcript.ts'
import { toAnthropicUsage } from '../src/wire/anthropic-usage.ts'

/** Without the session's id, which comes from its first line, and origins. */
export function weakincentivesCanHold({ session, entries }: Pick<Transcript, 'session' | 'entries'>): {
  session: Partial<Session>
  entries: Partial<Entry>[]
} {
  const nextSequence = createSequence()
  let at = session.startedAt
  const messages = entries.filter(({ kind, role }) => kind === 'message' && role !== undefined)
  const held = messages.flatMap((entry) => {
    // A line needs a time: one without takes that of the line before, or the session's start.
    at = entry.at ?? at
    const parts = splitBlocks(entry.blocks)
    return parts.map((blocks, index) => holdPart(entry, blocks, index, index === parts.length - 1))
  })
  const models = messages.flatMap((entry) => entry.model ?? [])
  const times = held.flatMap((entry) => entry.at ?? []).sort()
  return {
    session: {
      ...(models[0] !== undefined && { model: models[0] }),
      ...(times[0] !== undefined && { startedAt: times[0], endedAt: times.at(-1) as string }),
      status: 'completed',
    },
    entries: held,
  }

  function holdPart(entry: Entry, blocks: Block[], index: number, isLast: boolean): Partial<Entry> {
    const [first] = blocks
    const { usage, model, durationMs } = entry
    return {
      id: index === 0 ? entry.id : uuid4From(session.id, entry.id, String(index)),
      source: entry.source,
      sequence: nextSequence(entry.source),
      kind: entry.kind,
      role: first?.type === 'tool-call' ? 'assistant' : first?.type === 'tool-result' ? 'tool' : entry.role,
      ...(at !== undefined && { at }),
      blocks,
      ...(model !== undefined && { model }),
      ...(isLast && usage !== undefined && { usage: { ...usage, raw: toAnthropicUsage(usage) } }),
      ...(isLast && durationMs !== undefined && { durationMs }),
    } as Partial<Entry>
  }
}

function splitBlocks(blocks: readonly Block[]): Block[][] {
  const parts: Block[][] = []
  let isOpen = false
  for (const block of blocks) {
    const isTool = block.type === 'tool-call' || block.type === 'tool-result'
    if (isTool || !isOpen) parts.push([block])
    else parts.at(-1)?.push(block)
    isOpen = !isTool
  }
  return parts.length === 0 ? [[]] : parts
}
