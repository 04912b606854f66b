import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { claudeLog, createMachine, type Machine } from '../../test/machine.ts'
import { openDatabase, type Database } from '../sqlite/driver.ts'
import { nextTurn } from '../transcript/next-turn.ts'
import { hasManyRecordings, recordedOf } from './state-recorded.ts'
import { SCHEMA } from './state-schema.ts'
import { openState } from './state.ts'

const ONE = 'aaaaaaaa-0000-4000-8000-000000000001'

describe('a session that many logs are of', () => {
  let machine: Machine
  beforeEach(() => {
    machine = createMachine()
  })
  afterEach(() => fs.rmSync(machine.base, { recursive: true, force: true }))

  const write = (from: number, to: number): void => {
    for (let n = from; n < to; n += 1)
      machine.write(machine.log(ONE).replace('/-p/', `/-p${n}/`), claudeLog(2 * n + 1, { session: ONE }))
  }
  const timesWritten = async (): Promise<number> => {
    const state = await openState(machine.archive())
    const n = state.database.prepare('SELECT max(n) AS n FROM sessions').get()?.['n']
    state.close()
    return Number(n)
  }

  it('is listed with all of their calls, and not anew for each of them', async () => {
    write(0, 1)
    await machine.sync()
    write(1, 100)
    await machine.sync()
    const [session, ...others] = await machine.list()
    expect(others).toEqual([])
    expect(session?.totals).toMatchObject({ entries: 100, calls: 100 })
    expect(session?.recordings).toHaveLength(100)
    expect(await timesWritten()).toBeLessThan(20)
  })

  it('is the same whatever order they came in', async () => {
    write(0, 30)
    await machine.sync()
    const together = await machine.list()
    fs.rmSync(machine.home, { recursive: true })
    for (let n = 29; n >= 0; n -= 1) {
      fs.rmSync(machine.log(ONE).replace('/-p/', `/-p${n}/`), { force: true })
    }
    write(15, 30)
    await machine.sync()
    write(0, 15)
    await machine.sync()
    expect(await machine.list()).toEqual(together)
  })
})

describe('recordings of one session, a hundred thousand of them', () => {
  const base = fs.mkdtempSync(join(tmpdir(), 'hansard-recorded-'))
  let database: Database

  beforeAll(async () => {
    database = await openDatabase(join(base, 'state.db'))
    database.exec(SCHEMA)
    const numbers =
      'WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 100000)'
    database.exec(`INSERT INTO places (id, agent, root) VALUES (1, 'claude-code', '/logs');
      INSERT INTO units (place, path, dirty, reading) ${numbers} SELECT 1, printf('%06d.jsonl', n), 0, n FROM numbers;
      INSERT INTO recordings (reading, session, id, format, facts, started_at, entries, tool_calls, prompt, work, chosen)
        ${numbers} SELECT n, 'key', 'id', 'claude-code', '{"id":"id","status":"completed"}', '2026-01-01T00:00:00.000Z', 3, 1,
          iif(n = 77, 'hello', NULL),
          json_object('lastAt', printf('2026-01-02T00:00:00.%06dZ', (n * 7919) % 100000), 'filler', hex(zeroblob(500))),
          iif(n = 5, 2, 1) FROM numbers`)
  })
  afterAll(() => {
    database.close()
    fs.rmSync(base, { recursive: true, force: true })
  })

  it('are told together in little memory, the first thousand by name', async () => {
    await nextTurn()
    const before = process.memoryUsage().rss
    const told = recordedOf(database, 'key')
    expect((process.memoryUsage().rss - before) / 1e6).toBeLessThan(50)
    expect(told?.speaker['reading']).toBe(5)
    expect(told?.prompt).toBe('hello')
    expect(told?.lastAt).toBe('2026-01-02T00:00:00.099999Z')
    expect(told?.speaking).toBe(100_000)
    expect(told?.isForeign).toBe(true)
    expect(told?.named).toHaveLength(1000)
    expect(told?.named[0]?.file).toBe('/logs/000005.jsonl')
    expect(told?.named[1]?.file).toBe('/logs/000001.jsonl')
    expect(hasManyRecordings(database, 'key')).toBe(true)
    expect(hasManyRecordings(database, 'another')).toBe(false)
  })

  it('have another mark when one more counts, or one less', () => {
    const mark = recordedOf(database, 'key')?.mark
    expect(recordedOf(database, 'key')?.mark).toBe(mark)
    database.exec('UPDATE recordings SET chosen = 0 WHERE reading = 9')
    const without = recordedOf(database, 'key')?.mark
    expect(without).not.toBe(mark)
    database.exec('UPDATE recordings SET chosen = 1 WHERE reading = 9')
    expect(recordedOf(database, 'key')?.mark).toBe(mark)
    database.exec('DELETE FROM recordings WHERE reading = 100000')
    expect(recordedOf(database, 'key')?.mark).not.toBe(mark)
  })
})
