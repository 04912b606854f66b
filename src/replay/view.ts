/** What every view for people is: text for a session's top, for each entry as it comes, and for its end. Nothing is held whole. */
import type { Damage } from '../transcript/damage.ts'
import type { Entry } from '../transcript/entry.ts'
import type { Session } from '../transcript/session.ts'

export type View = {
  begin(session: Session): string
  entry(entry: Entry): string
  end(): string
  /** Bytes that should be an entry and are not, at their place; a view without it leaves them to whoever draws it. */
  damage?(damage: Damage): string
  /** What goes around all sessions of one page; a format that is no page has no such thing. */
  readonly page?: Page
}

export type Page = { open(first: Session): string; close(): string }

export type ViewOptions = {
  /** Which turns, and how much of each. */
  readonly mode?: Mode
  /** With mode `turn`: its number, from 1. */
  readonly turn?: number
  /** An IANA name, `UTC`; the system's zone when absent. */
  readonly timeZone?: string
}

export const MODES = ['full', 'summary', 'assistant', 'turn'] as const
/** devflow's modes: everything, a line for each turn, what the assistant said, one turn. */
export type Mode = (typeof MODES)[number]

/** A view's text for entries that are at hand. */
export function render(view: View, session: Session, entries: Iterable<Entry>): string {
  const parts = [view.page?.open(session), view.begin(session)]
  for (const entry of entries) parts.push(view.entry(entry))
  parts.push(view.end(), view.page?.close())
  return parts.join('')
}

/** Bookkeeping of the agent's program: in a session with messages, nothing that people look for. */
export function isNoise({ kind, blocks }: Entry): boolean {
  return kind === 'event' && blocks.every((block) => block.type === 'unknown')
}
