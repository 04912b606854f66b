/**
 * What units say of sessions that lie elsewhere: what they are called, and which call started them. Said once and looked up by the
 * session it is about, so that nothing depends on which of both was read first.
 */
import type { Database } from '../sqlite/driver.ts'
import { asObject, asString, parseJson } from '../transcript/json.ts'
import type { Parent, Session } from '../transcript/session.ts'
import { prepared } from './state-statements.ts'
import type { Mention } from './session-facts.ts'

export function insertMentions(database: Database, reading: number, mentions: readonly Mention[]): void {
  const insert = prepared(
    database,
    // What is said of one session comes from several places, in any order.
    `INSERT INTO mentions (reading, session, title, parent) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE
       SET title = coalesce(excluded.title, title), parent = coalesce(excluded.parent, parent)`,
  )
  for (const { session, title, parent } of mentions)
    insert.run(reading, session, title ?? null, parent === undefined ? null : JSON.stringify(parent))
}

/** Sessions of which the one pass says something that the other does not: an index of thousands changes by one. */
export function questionMentions(database: Database, old: number | undefined, now: number | undefined): void {
  if (old === undefined || now === undefined) {
    const all = 'INSERT OR IGNORE INTO stale_sessions SELECT session FROM mentions WHERE reading = ?'
    return void prepared(database, all).run(old ?? now ?? -1)
  }
  const said = 'SELECT session, title, parent FROM mentions WHERE reading = ?'
  prepared(
    database,
    `INSERT OR IGNORE INTO stale_sessions SELECT session FROM (SELECT * FROM (${said} EXCEPT ${said})
       UNION ALL SELECT * FROM (${said} EXCEPT ${said}))`,
  ).run(old, now, now, old)
}

/**
 * What is said elsewhere of a session, to be put over what its own recording says: the call that started it, and a title where it
 * has none. Of several the first by where they lie; one that the session itself names as its parent comes before others.
 */
export function mentionOf(
  database: Database,
  key: string,
  { title, parent }: Session,
): Pick<Session, 'title' | 'parent'> {
  const rows = prepared(
    database,
    `SELECT mentions.title, mentions.parent FROM mentions JOIN units ON units.reading = mentions.reading
       JOIN places ON places.id = units.place WHERE session = ? ORDER BY places.root, units.path`,
  ).all(key)
  if (rows.length === 0) return {}
  const titles = rows.flatMap((row) => asString(row['title']) ?? [])
  // What was written there was one. Who was copied, with its calls, may say that it started itself.
  const parents = rows
    .map((row) => asObject(parseJson(asString(row['parent']) ?? '')) as Parent | undefined)
    .filter((one) => one !== undefined && one.session !== key)
  const starter = parents.find((one) => one?.session === parent?.session) ?? parents[0]
  return {
    ...(title === undefined && titles[0] !== undefined && { title: titles[0] }),
    ...(starter !== undefined && { parent: starter }),
  }
}
