import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openSource } from '../sources/open.ts'
import { openDatabase } from '../sqlite/driver.ts'
import { cursor } from './cursor.ts'
import type { Format } from './format.ts'
import { goose } from './goose.ts'
import { hermes } from './hermes.ts'
import { opencode } from './opencode.ts'

let folder = ''
beforeEach(() => void (folder = fs.mkdtempSync(join(os.tmpdir(), 'hansard-too-large-'))))
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }))

/** JSON of 34,000,015 bytes, twice as many as a string. */
const LARGE = `'{"role":"😀' || hex(zeroblob(17000000)) || '"}'`

async function damageIn(format: Format, name: string, sql: string): Promise<readonly string[]> {
  const path = join(folder, name)
  const database = await openDatabase(path)
  database.exec(sql)
  database.close()
  const damage: string[] = []
  for await (const items of format.read(await openSource(path)))
    for (const item of items)
      if (item.type === 'damage') damage.push(`${item.damage.kind}: ${item.damage.reason}`)
  return damage
}

const told = (what: string): string =>
  `too-large: ${what}: kept, and too large to be read`.replace('()', 'of 34000015 bytes')

it('is told of each value of Goose’s that is too large to be read', async () => {
  const damage = await damageIn(
    goose,
    'sessions.db',
    `CREATE TABLE sessions (id TEXT PRIMARY KEY, working_dir TEXT, created_at TEXT);
     CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content_json TEXT, created_timestamp INT);
     INSERT INTO sessions VALUES ('s', '/d', '2026-01-01 00:00:00');
     INSERT INTO messages VALUES (7, 's', 'user', ${LARGE}, 1)`,
  )
  expect(damage).toEqual([told('the content_json of a message () (7)')])
})

it('is told of each value of Hermes’ that is too large to be read', async () => {
  const damage = await damageIn(
    hermes,
    'state.db',
    `CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, started_at REAL, message_count INT, system_prompt TEXT, system_prompt_hash TEXT);
     CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, tool_calls TEXT, timestamp REAL);
     CREATE TABLE system_prompts (hash TEXT PRIMARY KEY, content TEXT);
     INSERT INTO sessions VALUES ('s', 'cli', 1, 1, NULL, 'h');
     INSERT INTO system_prompts VALUES ('h', ${LARGE});
     INSERT INTO messages VALUES (7, 's', 'user', ${LARGE}, NULL, 1)`,
  )
  expect(damage).toEqual([told('the content of a prompt ()'), told('the content of a message () (7)')])
})

it('is told of each value in a store of Cursor’s that is too large to be read', async () => {
  const damage = await damageIn(
    cursor,
    'store.db',
    `CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT); CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB);
     INSERT INTO meta VALUES ('0', '{"agentId":"a","latestRootBlobId":"r"}');
     INSERT INTO blobs VALUES ('b', CAST(${LARGE} AS BLOB))`,
  )
  expect(damage).toEqual([told('the data of a blob () (b)')])
})

it('is told of each value beside OpenCode’s messages that is too large to be read', async () => {
  const damage = await damageIn(
    opencode,
    'opencode.db',
    `CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT, version TEXT, revert TEXT,
       cost REAL, time_created INTEGER, time_updated INTEGER);
     CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
     CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
     CREATE TABLE event (id TEXT PRIMARY KEY, aggregate_id TEXT, seq INTEGER, type TEXT, data TEXT);
     INSERT INTO session VALUES ('ses_1', 'p', NULL, '/d', 't', '1', NULL, 0, 1, 1);
     INSERT INTO event VALUES ('evt_1', 'ses_1', 1, 'x', ${LARGE})`,
  )
  expect(damage).toEqual([told('the data of a row of the table event () (evt_1)')])
})
