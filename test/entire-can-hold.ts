/** What Entire's `full.jsonl` can hold of a transcript, its turns: reading back what we wrote gives exactly this. */
import type { Block, ToolResultBlock } from '../src/transcript/block.ts'
import { createSequence, type Entry, type Role } from '../src/transcript/entry.ts'
import type { Session } from '../src/transcript/session.ts'
import type { Transcript } from '../src/transcript/transcript.ts'
import { withoutZeros } from '../src/transcript/usage.ts'
import { fromAnthropicUsage, toAnthropicUsage } from '../src/wire/anthropic-usage.ts'

/** Without session ids, which the format makes, and origins. */
export function entireCanHold({ session, entries }: Pick<Transcript, 'session' | 'entries'>): {
  session: Partial<Session>
  entries: Partial<Entry>[]
} {
  const turns = entries.filter(
    ({ kind, role }) => kind === 'message' && role !== undefined && role !== 'system',
  )
  const held = linesCanHold(session, turns)
  const { cwd, version, git } = session
  const times = held.flatMap((entry) => entry.at ?? []).sort()
  const model = turns.find((entry) => entry.source === 'primary' && entry.model)?.model
  const anyModel = model ?? turns.find((entry) => entry.model)?.model ?? session.model
  return {
    session: {
      ...(turns.length > 0 && cwd !== undefined && { cwd }),
      version: version ?? 'hansard/test',
      ...(git && { git }),
      ...(anyModel !== undefined && { model: anyModel }),
      ...(session.startedAt !== undefined && { startedAt: session.startedAt }),
      ...(times.length > 0 && { endedAt: times.at(-1) as string }),
      status: 'completed',
    },
    entries: held,
  }
}

/** What Claude-style lines can hold of these entries, each on a line of its own. */
export function linesCanHold(
  { startedAt }: Pick<Session, 'startedAt'>,
  entries: readonly Entry[],
): Partial<Entry>[] {
  const last = new Map<string, string>()
  let at = startedAt
  const nextSequence = createSequence()
  return entries.map((entry) => {
    // A line needs a time: one without takes that of the line before, or the session's start.
    at = entry.at ?? at
    const parent = last.get(entry.source) ?? null
    last.set(entry.source, entry.id)
    return { ...holdEntry(entry, at, parent), sequence: nextSequence(entry.source) }
  })
}

function holdEntry(entry: Entry, at: string | undefined, parent: string | null): Partial<Entry> {
  const { id, source, kind, durationMs, usage, model } = entry
  const blocks = entry.blocks.map(holdBlock)
  const onlyResults = blocks.length > 0 && blocks.every((block) => block.type === 'tool-result')
  const role: Role | undefined = onlyResults && entry.role === 'user' ? 'tool' : entry.role
  const isOpen = usage?.quality === 'partial'
  return {
    id,
    parent: entry.parent === undefined ? parent : entry.parent,
    source,
    kind,
    ...(role && { role }),
    ...(at !== undefined && { at }),
    blocks,
    ...(model !== undefined && { model }),
    ...(usage !== undefined && {
      usage: withoutZeros(fromAnthropicUsage(toAnthropicUsage(usage), isOpen ? 'partial' : 'reported')),
    }),
    ...(durationMs !== undefined && { durationMs }),
  }
}

/** Errors become text, and a result is known by its call: it has no name of its own. */
function holdBlock(block: Block): Block {
  if (block.type === 'error') return { type: 'text', text: block.message }
  if (block.type !== 'tool-result') return block
  const { name: _, error: _1, ...held } = block
  return held satisfies ToolResultBlock
}
