/** Sessions that others started, by who started them. */
import type { Redactor } from '../redact/redactor.ts'
import { stateMark } from '../search/state-mark.ts'
import type { Database } from '../sqlite/driver.ts'
import { getSession, type FoundSession } from '../sources/state-sessions.ts'
import type { ApiChild, ApiTree } from './api.ts'
import { createMemory } from './ask.ts'
import { withoutSecrets } from './rows.ts'

/** Children by what names their parent: a key, or an id of one of its recordings. */
type Started = ReadonlyMap<string, readonly string[]>

const remember = createMemory<Started>(4)

export function childrenOf(
  database: Database,
  { key, id }: FoundSession,
  redactor: Redactor,
): readonly ApiChild[] {
  return keysOf(database, key, id).flatMap((child) => toChild(database, child, redactor) ?? [])
}

/** A hostile archive may have a tree of any size, or a circle. */
const MOST = 10_000
const DEEPEST = 50

export function treeOf(
  database: Database,
  { key, id }: FoundSession,
  redactor: Redactor,
): ApiTree | undefined {
  const seen = new Set<string>()
  const grow = (own: string, name: string, depth: number): ApiTree | undefined => {
    if (seen.has(own) || seen.size >= MOST || depth > DEEPEST) return undefined
    seen.add(own)
    const child = toChild(database, own, redactor)
    if (child === undefined) return undefined
    const children = keysOf(database, own, name).flatMap(
      (one) => grow(one, getSession(database, one)?.id ?? one, depth + 1) ?? [],
    )
    return { ...child, children }
  }
  return grow(key, id, 0)
}

function keysOf(database: Database, key: string, id: string): readonly string[] {
  const started = remember(stateMark(database), 'started', () => readStarted(database))
  if (started.size === 0) return []
  const names = database.prepare('SELECT id FROM recordings WHERE session = ?').lists(key)
  const all = new Set([key, id, ...names.map(([name]) => String(name))])
  return [...new Set([...all].flatMap((name) => started.get(name) ?? []))].filter((child) => child !== key)
}

function readStarted(database: Database): Started {
  const rows = database
    .prepare(
      `SELECT json_extract(session, '$.parent.session') AS parent, key FROM sessions
       WHERE json_extract(session, '$.parent.session') IS NOT NULL ORDER BY started_at, key`,
    )
    .lists()
  const started = new Map<string, string[]>()
  for (const [parent, key] of rows) {
    const own = started.get(String(parent))
    if (own === undefined) started.set(String(parent), [String(key)])
    else own.push(String(key))
  }
  return started
}

function toChild(database: Database, key: string, redactor: Redactor): ApiChild | undefined {
  const session = getSession(database, key)
  if (session === undefined) return undefined
  const { id, title, prompt, status, parent, totals } = withoutSecrets(session, redactor)
  const name = title ?? prompt
  return {
    id,
    ...(name !== undefined && { title: name }),
    status,
    ...(parent?.citation !== undefined && { citation: parent.citation }),
    ...(parent?.relation !== undefined && { relation: parent.relation }),
    ...(totals && { entries: totals.entries }),
    ...(totals?.usage && { usage: totals.usage }),
    ...(totals?.uncounted !== undefined && { uncounted: totals.uncounted }),
    ...(totals?.cost && { cost: totals.cost }),
  }
}
