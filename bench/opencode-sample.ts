/** A database as OpenCode writes it, of about the size asked for, made by rule so that every run has the same. */
import { type Database, openDatabase } from '../src/sqlite/driver.ts'
import { sampleText } from './samples.ts'

/** Sessions of 60 messages, each with four parts: begun, said, a tool's call with its output, done. About 1 KB a row. */
export async function writeDatabase(path: string, bytes: number): Promise<void> {
  const database = await openDatabase(path)
  database.exec(SCHEMA)
  const put = (table: string, columns: number): ReturnType<Database['prepare']> =>
    database.prepare(`INSERT INTO ${table} VALUES (${Array.from({ length: columns }, () => '?').join(', ')})`)
  const [sessions, messages, parts] = [put('session', 9), put('message', 5), put('part', 6)]
  const name = (kind: string, n: number): string => `${kind}_${String(n).padStart(8, '0')}`
  let message = 0
  let part = 0
  let written = 0
  for (let session = 0; written < bytes; session += 1) {
    written += database.transaction(() => {
      let size = 0
      const at = 1_770_000_000_000 + session * 1e6
      const owner = name('ses', session)
      sessions.run(
        owner,
        'prj_1',
        null,
        'calm-fox',
        '/home/me/project',
        `Session ${session}`,
        '1.2.10',
        at,
        at + 60_000,
      )
      for (let n = 0; n < 60; n += 1) {
        const created = at + n * 1000
        const id = name('msg', message)
        const info = n % 2 === 0 ? USER : assistant(created)
        messages.run(
          id,
          owner,
          created,
          created,
          JSON.stringify({ ...info, time: { created, completed: created + 900 } }),
        )
        message += 1
        size += 700
        for (const data of partsOf(message)) {
          const json = JSON.stringify(data)
          parts.run(name('prt', part), id, owner, created, created, json)
          part += 1
          size += json.length + 250
        }
      }
      return size
    })
  }
  database.close()
}

/** A part more of the last message, as OpenCode adds it. */
export function addPart(database: Database, n: number): void {
  const { id, session_id } =
    database.prepare('SELECT id, session_id FROM message ORDER BY id DESC').get() ?? {}
  const data = JSON.stringify({ type: 'text', text: sampleText(500, n) })
  const [message = null, session = null, now] = [id, session_id, Date.now()]
  database
    .prepare('INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)')
    .run(`prt_added_${n}`, message, session, now, now, data)
}

/** As many rows, each as small as it can be: sessions of 200 messages, each with four parts. How many sessions that are. */
export async function writeSmallRows(path: string, rows: number): Promise<number> {
  const database = await openDatabase(path)
  database.exec(SCHEMA)
  const messages = Math.ceil(rows / 5)
  const sessions = Math.ceil(messages / 200)
  const numbers = (count: number): string =>
    `WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ${count})`
  const at = '1770000000000'
  database.exec(`BEGIN;
    INSERT INTO session ${numbers(sessions)} SELECT printf('ses_%08d', n), 'prj_1', NULL, 'fox', '/home/me', 'Session ' || n, '1.2.10', ${at}, ${at} FROM numbers;
    INSERT INTO message ${numbers(messages)} SELECT printf('msg_%08d', n), printf('ses_%08d', n / 200), ${at} + n, ${at} + n, '${JSON.stringify(USER)}' FROM numbers;
    INSERT INTO part ${numbers(messages * 4)} SELECT printf('prt_%08d', n), printf('msg_%08d', n / 4), printf('ses_%08d', n / 800), ${at} + n, ${at} + n,
      '{"type":"text","text":"part ' || n || '"}' FROM numbers;
    COMMIT`)
  database.close()
  return sessions
}

/** Of its parts. */
export async function changeEveryThousandth(path: string): Promise<void> {
  const database = await openDatabase(path)
  database.exec(`UPDATE part SET data = replace(data, 'part', 'other part') WHERE rowid % 1000 = 0`)
  database.close()
}

export const SCHEMA = `PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
  CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT NOT NULL, parent_id TEXT, slug TEXT, directory TEXT NOT NULL, title TEXT NOT NULL,
    version TEXT NOT NULL, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL);
  CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL,
    data TEXT NOT NULL);
  CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL, time_created INTEGER NOT NULL,
    time_updated INTEGER NOT NULL, data TEXT NOT NULL);
  CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
  CREATE INDEX part_message_id_id_idx ON part (message_id, id);
  CREATE INDEX part_session_idx ON part (session_id);
  CREATE TABLE todo (session_id TEXT NOT NULL, content TEXT NOT NULL, position INTEGER NOT NULL, PRIMARY KEY (session_id, position));`

const USER = { role: 'user', agent: 'build', model: { providerID: 'anthropic', modelID: 'claude-opus-4-5' } }

function assistant(created: number): object {
  const tokens = { input: 3, output: 120, reasoning: 0, cache: { read: 40_000, write: 412 } }
  const path = { cwd: '/home/me/project', root: '/home/me/project' }
  return {
    role: 'assistant',
    mode: 'build',
    path,
    cost: 0.0213,
    tokens,
    modelID: 'claude-opus-4-5',
    providerID: 'anthropic',
    created,
    finish: 'tool-calls',
  }
}

function partsOf(n: number): readonly object[] {
  const output = sampleText(2400, n)
  const time = { start: 1_770_000_000_000 + n, end: 1_770_000_000_500 + n }
  return [
    { type: 'step-start', snapshot: 'a'.repeat(40) },
    { type: 'text', text: sampleText(500, n), time },
    {
      type: 'tool',
      callID: `toolu_${n}`,
      tool: 'read',
      state: {
        status: 'completed',
        input: { filePath: `/home/me/project/src/${n}.ts` },
        output,
        title: `src/${n}.ts`,
        metadata: { preview: output.slice(0, 300) },
        time,
      },
    },
    {
      type: 'step-finish',
      reason: 'tool-calls',
      cost: 0.0213,
      tokens: { input: 3, output: 120, reasoning: 0, cache: { read: 40_000, write: 412 } },
    },
  ]
}
