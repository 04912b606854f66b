/** The ids of sessions, for somebody who is typing one: no more is read of a session than that. */
import type { Database } from '../sqlite/driver.ts'
import { prepared } from './state-statements.ts'

export type ListedId = { readonly id: string; readonly startedAt?: string; readonly status?: string }

/** Those that begin so, newest first. */
export function listIds(database: Database, prefix: string, limit: number): readonly ListedId[] {
  const rows = prepared(
    database,
    'SELECT id, started_at, status FROM sessions WHERE id BETWEEN ? AND ? ORDER BY started_at DESC LIMIT ?',
  ).all(prefix, `${prefix}\u{10FFFF}`, limit)
  return rows.map(({ id, started_at: startedAt, status }) => ({
    id: String(id),
    ...(typeof startedAt === 'string' && { startedAt }),
    ...(typeof status === 'string' && { status }),
  }))
}
