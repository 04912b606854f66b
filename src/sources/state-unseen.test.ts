import fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { claudeLogs, createMachine, type Machine } from '../../test/machine.ts'
import { unprivileged } from '../../test/unprivileged.ts'
import { readHealth, type Health } from './health.ts'
import { peekState } from './state.ts'

let machine: Machine
let folder = ''
beforeEach(() => {
  machine = createMachine()
  folder = join(machine.user, '.claude/projects/-r')
  machine.write(machine.log('one'), claudeLogs(2, { session: 'one' }))
  fs.mkdirSync(folder)
  fs.mkdirSync(machine.home)
})
afterEach(() => fs.rmSync(machine.base, { recursive: true, force: true }))

async function health(): Promise<Health> {
  const state = await peekState(machine.archive())
  if (state === undefined) throw new Error('no state')
  try {
    return readHealth(state.database)
  } finally {
    state.close()
  }
}

it('a folder that cannot be looked into is named as long as it is so, and no longer', async () => {
  const closed = { file: folder, problem: 'not-permitted' }
  const somebody = { base: machine.base, own: [machine.home, machine.cwd], closed: [folder] }
  await unprivileged(somebody, async () => {
    await machine.sync()
    const { failed, totals, places } = await health()
    expect(failed).toEqual([closed])
    expect(totals.failed).toBe(1)
    expect(places[0]).toMatchObject({ files: 1, failed: 1 })
    // What a sync of something else does not look at stays as it was.
    await machine.sync({ paths: [machine.log('one')], isOnce: true })
    await machine.sync()
    expect((await health()).failed).toEqual([closed])
  })
  await machine.sync({ paths: [machine.log('one')], isOnce: true })
  expect(await health()).toMatchObject({ failed: [], totals: { failed: 0 } })
  await machine.sync()
  expect((await health()).failed).toEqual([])
})
