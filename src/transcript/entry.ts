import type { Apart, Block } from './block.ts'
import { createCounters } from './counters.ts'
import type { JsonObject } from './json.ts'
import type { Usage } from './usage.ts'

export const ROLES = ['system', 'user', 'assistant', 'tool'] as const
export type Role = (typeof ROLES)[number]

/** Who produced an entry: `primary` or `subagent:<id>`. */
export const PRIMARY = 'primary'

/** One message or event, in the order it was recorded. */
export type Entry = {
  /** Unique within the session: the format's own id where it has one, else `<source>/<sequence>`. */
  readonly id: string
  /** The entry this one answers or follows, where the format says so. `null`: it says there is none. */
  readonly parent?: string | null
  readonly source: string
  /** Dense per source, from 0: the order of recording, whatever the clocks say. */
  readonly sequence: number
  readonly kind: 'message' | 'event'
  readonly role?: Role
  readonly at?: string
  readonly blocks: readonly Block[]
  readonly model?: string
  readonly usage?: Usage
  readonly stopReason?: string
  readonly durationMs?: number
  readonly call?: Call
  /** What the format says beyond this model, under the format's own names; also the tag `record` for events. */
  readonly metadata?: JsonObject
  readonly apart?: Apart
  readonly origin?: Origin
}

/** The provider call an entry belongs to. Entries of one provider message share `messageId`. */
export type Call = {
  readonly provider?: string
  readonly requestId?: string
  readonly messageId?: string
}

/** Where an entry was read: a record of a file, by its uncompressed bytes. */
export type Origin = {
  readonly format: string
  readonly file: string
  /** The older version of a kept file that holds it; absent for the newest, and for all else. */
  readonly version?: number
  /** The line, from 1, or the place in the document's list, from 1. */
  readonly record: number
  readonly byteOffset: number
  readonly byteLength: number
}

/** False for an id that is the entry's place: the next version may have another one there. */
export function hasOwnId({ id, source, sequence }: Entry): boolean {
  const place = `${source}/${sequence}`
  if (!id.startsWith(place)) return true
  // Not by a pattern, which would look for the end from each `~` anew.
  let at = place.length
  while (id[at] === '~') at += 1
  return at < id.length
}

/** `session#12` for the primary source, `session#subagent:x/12` for another. */
export function citation(session: string, { source, sequence }: Pick<Entry, 'source' | 'sequence'>): string {
  return source === PRIMARY ? `${session}#${sequence}` : `${session}#${source}/${sequence}`
}

export type Citation = { readonly session: string; readonly source: string; readonly sequence: number }

/** What `citation` makes, taken apart; undefined for what is none. The session may be the beginning of an id. */
export function parseCitation(text: string): Citation | undefined {
  const [, session, source = PRIMARY, digits] =
    /^([^#/]{1,128})#(?:(.{1,512})\/)?(\d{1,15})$/.exec(text) ?? []
  if (session === undefined || digits === undefined) return undefined
  return { session, source, sequence: Number(digits) }
}

/** Gives each entry of a source the next number: dense, from 0. */
export function createSequence(): (source: string) => number {
  const next = createCounters()
  /** Nearly every entry is of the source that the last one was of. */
  let last: string | undefined
  let ofLast = 0
  return (source) => {
    if (source !== last) {
      if (last !== undefined) next.set(last, ofLast)
      last = source
      ofLast = next.get(source)
    }
    ofLast += 1
    return ofLast - 1
  }
}
