/**
 * What to say of an id, or the beginning of one, that several sessions answer to: the ids that it matches, so that more of one can be
 * typed. A session also answers to the ids of its recordings, which begin otherwise than its own.
 */
import { HansardError } from '../errors.ts'
import type { Database } from '../sqlite/driver.ts'
import type { FoundSession } from './state-sessions.ts'
import { prepared } from './state-statements.ts'

/** How many are named. */
const MOST = 3

export function ambiguousId(
  database: Database,
  idOrPrefix: string,
  found: readonly FoundSession[],
): HansardError {
  const named = found.slice(0, MOST).map((session) => {
    const matched = matchedId(database, session, idOrPrefix)
    return matched === session.id ? matched : `${matched} (a recording of ${session.id})`
  })
  return new HansardError('ambiguous-id', `several sessions begin with ${JSON.stringify(idOrPrefix)}`, {
    hint: `give more of the id: ${named.join(', ')}`,
  })
}

/** The session's own id where that is this or begins so, else the first of its recordings' ids that does. */
function matchedId(database: Database, { key, id }: FoundSession, idOrPrefix: string): string {
  if (id.startsWith(idOrPrefix)) return id
  const row = prepared(
    database,
    'SELECT min(id) AS id FROM recordings WHERE session = ? AND id BETWEEN ? AND ?',
  ).get(key, idOrPrefix, `${idOrPrefix}\u{10FFFF}`)
  return String(row?.['id'] ?? id)
}
