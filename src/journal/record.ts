/** What a journal line says: the closed set of records this version writes. A reader keeps the types it does not know. */
import type { Entry } from '../transcript/entry.ts'
import type { Session } from '../transcript/session.ts'

export type JournalRecord =
  | {
      readonly t: 'session'
      readonly session: Session
      readonly writer: string
      readonly boot: string
      /** What recorded it: `hansard/0.1.0 record`. */
      readonly by: string
      readonly at: string
      readonly formats?: readonly LiveFormat[]
      /** The last line of another segment that still counts: what came after it there is written again here. */
      readonly continues?: JournalHead
    }
  | { readonly t: 'entry'; readonly entry: Entry }
  /** Facts learnt later: title, reported cost. */
  | { readonly t: 'update'; readonly session: SessionChange }
  /**
   * A live format is about to create this file: said before it does, so that `recover` knows whose it is. `taken`: it asked for
   * the name and another had it, so that `recover` takes the same names again.
   */
  | { readonly t: 'files'; readonly format: string; readonly path: string; readonly taken?: true }
  /** Something could not be recorded here: entries dropped, or content dropped from them. */
  | { readonly t: 'gap'; readonly reason: string; readonly lost: number; readonly at: string }
  | {
      readonly t: 'end'
      /** Status, end, error, totals. */
      readonly session: SessionChange
      /** What this writer recorded before this line. */
      readonly counts: { readonly entries: number; readonly lines: number }
      /** Live formats whose files lack something that the journal has: what `recover` makes whole. */
      readonly behind?: readonly string[]
      readonly at: string
    }

/** Facts of a session that replace what was said before. `null` takes one back. */
export type SessionChange = { readonly [K in keyof Session]?: Session[K] | null }

/** What the fold is begun with again: `root`, the absolute folder that its files are under, and what its context said. */
export type LiveFormat = {
  readonly id: string
  readonly root: string
  /** Its files have the modes that the umask gives; for their owner only when absent. */
  readonly umask?: 'system'
  readonly timeZone?: string
  readonly version?: string
}

/** A line of a segment, by place and hash. `seq` -1 stands for the place before the segment's first line. */
export type JournalHead = { readonly writer: string; readonly seq: number; readonly h: string }

/** The session with later facts in place of earlier ones. */
export function changeSession(session: Session, change: SessionChange): Session {
  const facts = new Map<string, unknown>(Object.entries(session))
  // What was apart is of the fact before.
  const apart = new Map(Object.entries(session.apart ?? {}))
  for (const [key, value] of Object.entries(change)) {
    if (value === undefined || key === 'apart') continue
    apart.delete(key)
    if (value === null) facts.delete(key)
    else facts.set(key, value)
  }
  for (const [key, ref] of Object.entries(change.apart ?? {})) apart.set(key, ref)
  if (apart.size > 0) facts.set('apart', Object.fromEntries(apart))
  else facts.delete('apart')
  // Every value comes from a Session or a SessionChange, under its own key.
  return Object.fromEntries(facts) as Session
}
