/** Questions whose answer is one row for each session there is: what SQLite's driver holds of rows is more than they say. */
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openArchive } from '../archive/archive.ts'
import { openDatabase, type Database } from '../sqlite/driver.ts'
import { nextTurn } from '../transcript/next-turn.ts'
import { SCHEMA } from './state-schema.ts'
import { workingFolders } from './state-sessions.ts'
import type { State } from './state.ts'
import { unlistedIds } from './unlisted-ids.ts'

const COUNT = 200_000
const base = fs.mkdtempSync(join(tmpdir(), 'hansard-rows-'))
let database: Database

beforeAll(async () => {
  database = await openDatabase(join(base, 'state.db'))
  const numbers = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${COUNT})`
  database.exec(SCHEMA)
  database.exec(`INSERT INTO places (id, agent, root) VALUES (1, 'journal', '/sessions'), (2, 'claude-code', '/logs');
    INSERT INTO units (place, path, dirty, reading) ${numbers} SELECT 1, 'known-' || n, 0, n FROM numbers;
    INSERT INTO units (place, path, dirty, reading) VALUES (1, 'unread', 1, NULL), (2, 'elsewhere', 0, 1);
    INSERT INTO sessions (key, id, status, root, cwd, session) ${numbers}
      SELECT 'key-' || n, 'id-' || n, 'completed', '/logs', '/home/me/' || (n % 190000), '{}' FROM numbers`)
})
afterAll(() => {
  database.close()
  fs.rmSync(base, { recursive: true, force: true })
})

/** MB that the process has more than before: where the driver holds rows, V8 knows nothing of it. */
async function grownBy(work: () => unknown): Promise<number> {
  await nextTurn()
  const before = process.memoryUsage().rss
  work()
  return (process.memoryUsage().rss - before) / 1e6
}

describe('an archive of very many sessions', () => {
  it('is asked for their folders in little memory, each once', async () => {
    let folders: readonly string[] = []
    expect(await grownBy(() => (folders = workingFolders(database, ['/logs'])))).toBeLessThan(80)
    expect(folders).toHaveLength(190_000)
    expect(new Set(folders).size).toBe(190_000)
    expect(folders).toContain('/home/me/0')
  })

  it('is asked which of its recordings nobody has listed', () => {
    const known = Array.from({ length: 2500 }, (_, n) => `known-${n + 1}`)
    const ids = ['new-1', ...known, 'unread', 'elsewhere', 'new-2']
    const archive = { ...openArchive(join(base, 'archive')), ids: () => ids }
    const found = unlistedIds(archive, { database } as unknown as State)
    expect(found).toEqual(['new-1', 'unread', 'elsewhere', 'new-2'])
    expect(unlistedIds(archive, undefined)).toEqual(ids)
  })
})
