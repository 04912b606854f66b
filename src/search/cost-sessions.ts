/** What the sessions that pay are, and which of them were started by others: their cost is that of who started them. */
import type { Database } from '../sqlite/driver.ts'
import { getSession, type ListedSession } from '../sources/state-sessions.ts'
import { prepared } from '../sources/state-statements.ts'

export type Payers = {
  /** Undefined for a session that is gone. */
  session(key: string): ListedSession | undefined
  /** The key of the session that started it; none for one that a person began. */
  parent(key: string): string | undefined
  /** The key of the session that began it all: the one that started this, or the one that started that, and so on. */
  root(key: string): string
}

export function createPayers(database: Database): Payers {
  const sessions = new Map<string, ListedSession | undefined>()
  const roots = new Map<string, string>()
  const session = (key: string): ListedSession | undefined => {
    if (!sessions.has(key)) sessions.set(key, getSession(database, key))
    return sessions.get(key)
  }
  const parentOf = (key: string): string | undefined => {
    const { session: parent, relation } = session(key)?.parent ?? {}
    // A fork and a resume are a person's own doing: nobody started them for work of theirs.
    if (parent === undefined || relation === 'fork' || relation === 'resume') return undefined
    return session(parent) === undefined ? keyOfId(database, parent) : parent
  }
  return {
    session,
    parent: parentOf,
    root(key) {
      const path: string[] = []
      const seen = new Set<string>()
      let at: string | undefined = key
      let root: string | undefined
      while (at !== undefined && root === undefined && !seen.has(at)) {
        path.push(at)
        seen.add(at)
        root = roots.get(at)
        const parent: string | undefined = root === undefined ? parentOf(at) : undefined
        if (root === undefined && parent === undefined) root = at
        at = parent
      }
      // Sessions that name each other in a circle were started by none of them.
      for (const one of path) roots.set(one, root ?? one)
      return roots.get(key) ?? key
    },
  }
}

function keyOfId(database: Database, id: string): string | undefined {
  const row = prepared(
    database,
    `SELECT key FROM sessions WHERE id = ?1 UNION
       SELECT sessions.key FROM recordings JOIN sessions ON sessions.key = recordings.session
       WHERE recordings.id = ?1 ORDER BY 1 LIMIT 1`,
  ).get(id)
  return typeof row?.['key'] === 'string' ? row['key'] : undefined
}
