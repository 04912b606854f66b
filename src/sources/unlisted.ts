/**
 * Sessions of the archive that the state does not know: recorded while it could not be brought up to date, or not to be read at all.
 * Read one by one, for there are few; those that cannot be read are told of.
 */
import type { Archive } from '../archive/archive.ts'
import { readFacts } from '../archive/facts.ts'
import { fromSystemError } from '../errors.ts'
import type { Session } from '../transcript/session.ts'
import type { State } from './state.ts'
import { unlistedIds } from './unlisted-ids.ts'
import type { SessionFilter } from './state-sessions.ts'

export type Unlisted = {
  readonly sessions: readonly Session[]
  readonly unreadable: readonly { readonly id: string; readonly message: string }[]
}

/** Throws what the system says of an archive that is none. */
export async function readUnlisted(archive: Archive, state: State | undefined): Promise<Unlisted> {
  const sessions: Session[] = []
  const unreadable: { id: string; message: string }[] = []
  for (const id of unlistedIds(archive, state)) {
    try {
      if (archive.segments(id).length > 0) sessions.push((await readFacts(archive, id)).session)
    } catch (error) {
      unreadable.push({ id, message: fromSystemError(error, id).message })
    }
  }
  return { sessions, unreadable }
}

export function isWanted(session: Session, { status, flow, run }: SessionFilter): boolean {
  if (status !== undefined && session.status !== status) return false
  if (flow !== undefined && session.run?.flow !== flow) return false
  return run === undefined || session.run?.id === run
}
