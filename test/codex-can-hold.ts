/** What rollouts of Codex can hold of a transcript: reading back what we wrote gives exactly this. */
import type { Block } from '../src/transcript/block.ts'
import type { Entry, Role } from '../src/transcript/entry.ts'
import type { Session } from '../src/transcript/session.ts'
import type { Transcript } from '../src/transcript/transcript.ts'
import { hasCounts, type Usage } from '../src/transcript/usage.ts'

export type HeldMessage = Pick<Entry, 'role' | 'at' | 'blocks' | 'model'> & { readonly usage?: Usage }
export type HeldThread = { readonly session: Partial<Session>; readonly messages: readonly HeldMessage[] }

/** A thread for each source, the primary first. Messages only: the events between them are Codex's own. */
export function codexCanHold({ session, entries }: Pick<Transcript, 'session' | 'entries'>): HeldThread[] {
  const sources = [...new Set(['primary', ...entries.map(({ source }) => source)])]
  return sources.map((source) =>
    holdThread(
      session,
      entries.filter((entry) => entry.source === source),
      source === 'primary',
    ),
  )
}

function holdThread(session: Session, entries: readonly Entry[], isPrimary: boolean): HeldThread {
  const messages: HeldMessage[] = []
  const start = session.startedAt ?? '1970-01-01T00:00:00.000Z'
  const times = [start]
  let now = start
  let firstModel: string | undefined
  let model: string | undefined
  let hasWritten = false
  for (const entry of entries) {
    // A line needs a time: one without takes that of the entry before, or the session's start.
    now = entry.at ?? now
    const isTurn = entry.model !== undefined && entry.model !== model
    model = entry.model ?? model
    firstModel ??= model
    const { usage } = entry
    const counted = usage !== undefined && hasCounts(usage) ? usage : undefined
    if (isTurn || counted !== undefined || entry.blocks.some(({ type }) => type !== 'unknown'))
      times.push(now)
    const own = holdBlocks(entry.blocks).map((blocks): HeldMessage => {
      const role = roleOf(blocks, entry.role)
      return {
        ...(role && { role }),
        at: now,
        blocks,
        ...(role === 'assistant' && model !== undefined && { model }),
      }
    })
    if (counted !== undefined) {
      hasWritten ||= counted.cacheWrite5m !== undefined || counted.cacheWrite1h !== undefined
      const last = own.findLastIndex(({ role }) => role === 'assistant')
      const held = holdUsage(counted, hasWritten)
      if (last !== -1 && held !== undefined) own[last] = { ...(own[last] as HeldMessage), usage: held }
    }
    messages.push(...own)
  }
  if (isPrimary) times.push(session.endedAt ?? now)
  const { title, cwd, version, git, status } = session
  times.sort()
  return {
    session: {
      agent: 'codex',
      ...(isPrimary && title !== undefined && { title }),
      ...(firstModel !== undefined && { model: firstModel }),
      ...(cwd !== undefined && { cwd }),
      ...(git !== undefined && { git }),
      version: version ?? 'hansard/test',
      startedAt: times[0] as string,
      endedAt: times.at(-1) as string,
      status: isPrimary && (status === 'interrupted' || status === 'canceled') ? 'interrupted' : 'completed',
    },
    messages,
  }
}

/** Texts and images that follow each other are one message; every other block is one. The unknown is lost. */
function holdBlocks(blocks: readonly Block[]): Block[][] {
  const groups: Block[][] = []
  let isOpen = false
  for (const block of blocks) {
    const isContent = block.type === 'text' || block.type === 'image'
    const isItem = block.type !== 'unknown'
    if (isItem && isContent && isOpen) groups.at(-1)?.push(block)
    else if (isItem) groups.push([holdBlock(block)])
    isOpen = isContent
  }
  return groups
}

/** A result is known by its call: it has no name of its own. */
function holdBlock(block: Block): Block {
  if (block.type !== 'tool-result') return block
  const { name: _, ...held } = block
  return held
}

function roleOf([first]: readonly Block[], role: Role | undefined): Role | undefined {
  if (first?.type === 'error') return undefined
  if (first?.type === 'tool-result') return 'tool'
  return first?.type === 'thinking' || first?.type === 'tool-call' ? 'assistant' : role
}

/** What was written to a cache has one count here; what is not known is 0; a usage of nothing is none. */
function holdUsage(usage: Usage, hasWritten: boolean): Usage | undefined {
  const { input = 0, cacheRead = 0, cacheWrite5m = 0, cacheWrite1h = 0, output = 0, reasoning = 0 } = usage
  const written = cacheWrite5m + cacheWrite1h
  if (input + cacheRead + written + output === 0) return undefined
  const counts = { input, cacheRead, ...(hasWritten && { cacheWrite5m: written }), output, reasoning }
  return { ...counts, quality: 'reported' }
}
