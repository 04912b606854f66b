import fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { SCHEMA } from '../bench/opencode-sample.ts'
import { withSessions } from '../src/sources/sessions.ts'
import { openDatabase } from '../src/sqlite/driver.ts'
import { createMachine, type Machine } from './machine.ts'

let machine: Machine
beforeEach(() => void (machine = createMachine()))
afterEach(() => fs.rmSync(machine.base, { recursive: true, force: true }))

/** More than are counted at a time: the first are put away before their orphans come. */
const SESSIONS = 1100

it('sessions of OpenCode that have lost a message are one each, with every entry that is left, in list and show', async () => {
  const folder = join(machine.user, '.local/share/opencode')
  fs.mkdirSync(folder, { recursive: true })
  const database = await openDatabase(join(folder, 'opencode.db'))
  database.exec(`${SCHEMA}
    CREATE TEMP TABLE numbers AS WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ${SESSIONS})
      SELECT n FROM numbers;
    INSERT INTO session SELECT 'ses_' || n, 'p', NULL, 'fox', '/d', 'Title ' || n, '1.2.10', 1770000000000 + n, 1770000000000 + n FROM numbers;
    INSERT INTO message SELECT 'msg_a' || n, 'ses_' || n, 1, 1, '{"role":"user"}' FROM numbers;
    INSERT INTO part SELECT 'prt_a' || n, 'msg_a' || n, 'ses_' || n, 1, 1, '{"type":"text","text":"asked"}' FROM numbers;
    INSERT INTO part SELECT 'prt_b' || n, 'msg_b' || n, 'ses_' || n, 2, 2, '{"type":"text","text":"answered ' || n || '"}' FROM numbers;
    INSERT INTO part SELECT 'prt_c' || n, 'msg_c' || n, 'ses_' || n, 2, 2,
      '{"type":"step-finish","tokens":{"total":30,"input":10,"output":20}}' FROM numbers;`)
  database.close()
  expect(await machine.sync()).toMatchObject({ sessions: SESSIONS, entries: 5 * SESSIONS })
  await withSessions(machine.home, async (sessions) => {
    const { sessions: listed, total } = sessions.list({ limit: SESSIONS + 1 })
    expect([listed.length, total]).toEqual([SESSIONS, SESSIONS])
    expect(new Set(listed.map(({ native }) => native?.sessionId)).size).toBe(SESSIONS)
    for (const { totals, title } of listed) {
      expect(title).toMatch(/^Title/)
      expect(totals).toMatchObject({ entries: 5, calls: 1, usage: { input: 10, output: 20 } })
    }
    const numbers: number[] = []
    for await (const items of sessions.read(sessions.find((listed[7] as { id: string }).id)))
      for (const item of items) if (item.type === 'entry') numbers.push(item.entry.sequence)
    expect(numbers).toEqual([0, 1, 2, 3, 4])
  })
  expect((await machine.sync()).sessions).toBe(0)
})
