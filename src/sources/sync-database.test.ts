import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { heldBytes } from '../../test/held-bytes.ts'
import { openArchive } from '../archive/archive.ts'
import { openDatabase } from '../sqlite/driver.ts'
import { sync } from './sync.ts'

it('what it took to keep a database is let go of before what was kept is read', async () => {
  const base = fs.realpathSync(fs.mkdtempSync(join(os.tmpdir(), 'sync-database-')))
  fs.mkdirSync(join(base, '.local/share/opencode'), { recursive: true })
  const database = await openDatabase(join(base, '.local/share/opencode/opencode.db'))
  database.exec(`
    CREATE TABLE session (id TEXT PRIMARY KEY, directory TEXT, title TEXT, time_created INTEGER);
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);
    INSERT INTO session VALUES ('ses_1', '/a', 't', 1770000000000)`)
  const archive = openArchive(join(base, 'archive'), { write: true })
  // Once before: what is loaded for it takes more memory than all of it.
  for (const id of ['msg_1', 'msg_2']) {
    database.exec(`INSERT INTO message VALUES ('${id}', 'ses_1', 1770000000000, '{"role":"user"}')`)
    const before = await oldGarbage()
    const { sessions, problems } = await sync(archive, { userHome: base, cwd: base, env: {} })
    expect({ sessions, problems }).toEqual({ sessions: 1, problems: [] })
    expect(before.deref()).toBeUndefined()
  }
  database.close()
  fs.rmSync(base, { recursive: true, force: true })
})

/** Nobody has it, and only a look at the whole heap finds that: it was there when all of it was looked at twice. */
async function oldGarbage(): Promise<WeakRef<object>> {
  const made = { said: 'x'.repeat(1000) }
  heldBytes()
  heldBytes()
  const weak = new WeakRef(made)
  await new Promise((done) => void setImmediate(done))
  return weak
}
