/**
 * What passes say of sessions, as rows. Of a unit with many sessions they come in parts, before the pass is whole: until then they wait
 * in a table of this connection alone, which no reader sees and which goes with a process that dies.
 */
import { journal } from '../journal/format.ts'
import type { Database } from '../sqlite/driver.ts'
import { storedJson, storedText } from '../sqlite/stored.ts'
import type { Session } from '../transcript/session.ts'
import type { Row } from '../transcript/source.ts'
import type { SessionsPart } from './read-unit.ts'
import { UNSETTLED } from './state-speakers.ts'
import { prepared } from './state-statements.ts'
import type { SessionFacts } from './session-facts.ts'

/** Of which pass, and where what it read lies. */
type Recorded = {
  readonly reading: number
  readonly format: string
  readonly file: string
  readonly root: string
}

/** True of a session that nothing recorded. */
export function isUnknown(database: Database, session: string): boolean {
  return prepared(database, 'SELECT 1 FROM recordings WHERE session = ?').get(session) === undefined
}

/** Gives the row, with where it lies. */
export function insertRecording(
  database: Database,
  { reading, format, file, root }: Recorded,
  one: SessionFacts,
  chosen: number,
): Row {
  const row = toRow(reading, format, one, chosen)
  insert(database, 'recordings', row)
  return { ...row, file, root }
}

/** Puts some of the sessions of a pass in waiting. */
export function waitWith(database: Database, reading: number, { format, sessions }: SessionsPart): void {
  database.exec('CREATE TEMP TABLE IF NOT EXISTS waiting AS SELECT * FROM recordings WHERE false')
  for (const one of sessions) insert(database, 'temp.waiting', toRow(reading, format, one, UNSETTLED))
}

/** Makes what waits of a pass what it says. */
export function letIn(database: Database, reading: number): void {
  prepared(
    database,
    'INSERT INTO recordings SELECT * FROM temp.waiting WHERE reading = ? ORDER BY rowid',
  ).run(reading)
  prepared(database, 'DELETE FROM temp.waiting WHERE reading = ?').run(reading)
}

function toRow(
  reading: number,
  format: string,
  { key, session, entries, toolCalls, prompt, work }: SessionFacts,
  chosen: number,
) {
  return {
    reading,
    session: key,
    id: session.id,
    // Of a unit that was rewritten in another format, each session is in the one that it was read in.
    format: format === journal.id ? format : (session.recordings?.[0]?.by ?? format),
    facts: storedJson(session satisfies Session),
    started_at: session.startedAt ?? null,
    ended_at: session.endedAt ?? null,
    parent: session.parent?.session ?? null,
    entries,
    tool_calls: toolCalls,
    prompt: prompt === undefined ? null : storedText(prompt),
    work: storedJson(work),
    chosen,
  } satisfies Row
}

const statements = new Map<string, string>()

function insert(database: Database, table: 'recordings' | 'temp.waiting', row: Row): void {
  let sql = statements.get(table)
  if (sql === undefined) {
    const columns = Object.keys(row)
    sql = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`
    statements.set(table, sql)
  }
  prepared(database, sql).run(...Object.values(row))
}
