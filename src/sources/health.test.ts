import fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claudeLogs, createMachine, type Machine } from '../../test/machine.ts'
import { MOST, readHealth, type Health } from './health.ts'
import { stateCondition } from './state-condition.ts'
import { openState } from './state.ts'

const ONE = 'aaaaaaaa-0000-4000-8000-000000000001'

let machine: Machine
beforeEach(() => {
  machine = createMachine()
})
afterEach(() => fs.rmSync(machine.base, { recursive: true, force: true }))

/** What is known after the state was changed so. */
async function health(...changes: readonly string[]): Promise<Health> {
  const state = await openState(machine.archive())
  try {
    for (const change of changes) state.database.exec(change)
    return readHealth(state.database)
  } finally {
    state.close()
  }
}

describe('the health of an archive', () => {
  it('names the files that could not be taken in, and why', async () => {
    const log = machine.write(machine.log(ONE), claudeLogs(2, { session: ONE }))
    await machine.sync({ disk: () => ({ free: 0, total: 1000 }) })
    const { failed, totals } = await health()
    expect(failed).toEqual([{ file: log, problem: 'disk-full' }])
    expect(totals.failed).toBe(1)
    await machine.sync()
    expect((await health()).failed).toEqual([])
  })

  it('counts a file once that somebody died over', async () => {
    machine.write(machine.log(ONE), claudeLogs(2, { session: ONE }))
    await machine.sync()
    const { places } = await health('UPDATE files SET pending = 2')
    expect(places.find(({ agent }) => agent === 'claude-code')).toMatchObject({ files: 1, pending: 1 })
  })

  it('says how many there are of what it gives only the beginning of', async () => {
    await machine.sync()
    const { damaged, totals } = await health(
      "INSERT INTO places (id, agent, root) VALUES (99, 'x', '/x')",
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${MOST + 5})
       INSERT INTO units (place, path, dirty, damage) SELECT 99, i, 0, 1 FROM n`,
    )
    expect(damaged).toHaveLength(MOST)
    expect(totals.damaged).toBe(MOST + 5)
  })
})

describe('a state that cannot be used', () => {
  it('is missing, of another version, or no database, and it is said which', async () => {
    const archive = machine.archive()
    expect(await stateCondition(archive)).toBe('none')
    await machine.sync()
    expect(await stateCondition(archive)).toBe('current')
    await health('PRAGMA user_version = 99')
    expect(await stateCondition(archive)).toBe('other-version')
    const path = join(machine.home, 'index/state.db')
    for (const suffix of ['-wal', '-shm']) fs.rmSync(path + suffix, { force: true })
    fs.writeFileSync(path, 'not a database, '.repeat(500))
    expect(await stateCondition(archive)).toBe('damaged')
  })
})
