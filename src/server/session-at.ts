/** The session that a path names, as sync knows it, with its entries by position. */
import type { Context } from 'hono'
import { HansardError } from '../errors.ts'
import { querySessions, type FoundSession as Listed } from '../search/sessions.ts'
import type { Outline } from '../search/outline-now.ts'
import type { Database } from '../sqlite/driver.ts'
import { findSession } from '../sources/sessions.ts'
import type { FoundSession } from '../sources/state-sessions.ts'
import type { AppContext } from './context.ts'

export type SessionAt = {
  readonly found: FoundSession
  /** Undefined for one that was recorded a moment ago. */
  readonly listed: Listed | undefined
  readonly outline: Outline
  /** As many as are known to be there. */
  readonly length: number
}

export const sessionAt = (c: Context, context: AppContext): Promise<SessionAt> =>
  sessionById(c.req.param('id') ?? '', context)

/** Throws `session-not-found`, `ambiguous-id` or `invalid-id`. */
export async function sessionById(id: string, context: AppContext): Promise<SessionAt> {
  const look = (database: Database | undefined): SessionAt => {
    const found = findSession(context.archive, database, id)
    const listed = database && listedOf(database, found.key)
    const outline = context.outlines.open(found, database)
    return { found, listed, outline, length: lengthOf(outline, listed) }
  }
  return (await context.state.read(look)) ?? look(undefined)
}

/** While it is being outlined, what sync counted. */
export function lengthOf(outline: Outline, listed: Listed | undefined): number {
  if (outline.state === 'ready' && outline.note !== undefined) return outline.length
  return Math.max(outline.length, listed?.totals?.entries ?? 0)
}

export function listedOf(database: Database, key: string): Listed | undefined {
  const filter = { where: 'listing.key = ?', values: [key] }
  return querySessions(database, { filter, limit: 1 }).sessions[0]
}

/** Milliseconds that an answer waits for an outline that is being made. */
export const PATIENCE_MS = 20_000
/** A range of the beginning is read rather than waited for, after so long. */
const SOON_MS = 300
const BEGINNING = 2000

export async function reach({ outline }: SessionAt, to: number): Promise<Outline> {
  const soon = await outline.reach(to, SOON_MS)
  if (soon.state === 'ready' || soon.length >= to || to <= BEGINNING) return soon
  return soon.reach(to, PATIENCE_MS)
}

export function noEntry(position: string | number): HansardError {
  return new HansardError('not-found', `there is no entry ${position}`, {
    hint: 'positions are counted from 0; the session says how many there are',
  })
}
