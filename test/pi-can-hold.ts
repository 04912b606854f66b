/** What pi's sessions can hold of a transcript: reading back what we wrote gives exactly this. */
import type { Block } from '../src/transcript/block.ts'
import type { Entry } from '../src/transcript/entry.ts'
import type { Session } from '../src/transcript/session.ts'
import type { Transcript } from '../src/transcript/transcript.ts'
import { hasCounts, type Usage } from '../src/transcript/usage.ts'

export type HeldMessage = Pick<Entry, 'role' | 'at' | 'blocks' | 'model' | 'usage' | 'stopReason'>
export type HeldSession = {
  readonly session: Partial<Session>
  readonly messages: readonly HeldMessage[]
  /** Of the first message of each entry. */
  readonly ids: readonly string[]
}

/** A session for each source, the primary first. System prompts are custom messages, which are events here. */
export function piCanHold({ session, entries }: Pick<Transcript, 'session' | 'entries'>): HeldSession[] {
  const sources = [...new Set(['primary', ...entries.map(({ source }) => source)])]
  return sources.map((source) =>
    holdSource(
      session,
      entries.filter((entry) => entry.source === source),
      source === 'primary',
    ),
  )
}

function holdSource(session: Session, entries: readonly Entry[], isPrimary: boolean): HeldSession {
  const messages: HeldMessage[] = []
  const ids: string[] = []
  const start = session.startedAt ?? '1970-01-01T00:00:00.000Z'
  const times = [start]
  let now = start
  for (const entry of entries) {
    // A line needs a time: one without takes that of the entry before, or the session's start.
    now = entry.at ?? now
    const own = groupsOf(entry)
    if (own.length > 0 || entry.role === 'system') times.push(now)
    if (entry.role === 'system' || own.length === 0) continue
    ids.push(entry.id)
    for (const [index, blocks] of own.entries()) {
      const isLast = index === own.findLastIndex(([first]) => first?.type !== 'tool-result')
      messages.push({ at: now, ...holdMessage(blocks, entry, isLast) })
    }
  }
  const model = messages.find((message) => message.model !== undefined)?.model
  const failed = messages.at(-1)?.blocks.find((block) => block.type === 'error')
  times.sort()
  const { title, cwd } = session
  return {
    session: {
      agent: 'pi',
      ...(isPrimary && title !== undefined && { title }),
      ...(model !== undefined && { model }),
      ...(cwd !== undefined && { cwd }),
      startedAt: times[0] as string,
      endedAt: times.at(-1) as string,
      status: failed === undefined ? 'completed' : 'failed',
      ...(failed !== undefined && { error: failed.message }),
    },
    messages,
    ids,
  }
}

/** Results are messages of their own; what nobody understood is lost; an error is text where no answer failed. */
function groupsOf({ blocks, role }: Entry): Block[][] {
  const groups: Block[][] = []
  for (const block of blocks) {
    if (block.type === 'unknown') continue
    const held: Block =
      block.type === 'error' && role !== 'assistant' ? { type: 'text', text: block.message } : block
    const last = groups.at(-1)
    if (held.type === 'tool-result' || last === undefined || last[0]?.type === 'tool-result')
      groups.push([held])
    else last.push(held)
  }
  return groups.length === 0 && role === 'assistant' ? [[]] : groups
}

/** An answer's errors are one, at its end; a usage that is not known is a placeholder; a stop reason is filled in. */
function holdMessage(blocks: readonly Block[], entry: Entry, isLast: boolean): HeldMessage {
  if (blocks[0]?.type === 'tool-result') return { role: 'tool', blocks }
  if (entry.role !== 'assistant') return { role: 'user', blocks }
  const errors = blocks.flatMap((block) => (block.type === 'error' ? [block.message] : []))
  const others = blocks.filter(({ type }) => type !== 'error')
  const calls = others.some(({ type }) => type === 'tool-call')
  const { model, usage, stopReason } = entry
  const reason = stopReason ?? (errors.length > 0 ? 'error' : calls ? 'toolUse' : 'stop')
  return {
    role: 'assistant',
    blocks: errors.length > 0 ? [...others, { type: 'error', message: errors.join('\n') }] : others,
    ...(model !== undefined && { model }),
    usage: holdUsage(isLast ? usage : undefined, reason),
    stopReason: reason,
  }
}

function holdUsage(usage: Usage | undefined, reason: string): Usage {
  const { input = 0, cacheRead = 0, cacheWrite5m = 0, cacheWrite1h = 0, output = 0, reasoning } = usage ?? {}
  const written = cacheWrite5m + cacheWrite1h
  const isNone = usage === undefined || !hasCounts(usage) || input + cacheRead + written + output === 0
  if (isNone) return { quality: 'unavailable' }
  const quality = reason === 'error' || reason === 'aborted' ? 'partial' : 'reported'
  return {
    input,
    cacheRead,
    cacheWrite5m,
    ...(cacheWrite1h > 0 && { cacheWrite1h }),
    output,
    ...(reasoning !== undefined && { reasoning }),
    quality,
  }
}
