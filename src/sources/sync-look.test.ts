import fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claudeLogs, createMachine, type Machine } from '../../test/machine.ts'
import type { SyncPlan } from './sync.ts'

const ONE = 'aaaaaaaa-0000-4000-8000-000000000001'
const TWO = 'bbbbbbbb-0000-4000-8000-000000000002'

let machine: Machine
beforeEach(() => {
  machine = createMachine()
})
afterEach(() => fs.rmSync(machine.base, { recursive: true, force: true }))

describe('a look around', () => {
  it('plans for what it looks at, not for what waits elsewhere', async () => {
    machine.write(machine.log(ONE), claudeLogs(50, { session: ONE }))
    await machine.sync({ disk: () => ({ free: 0, total: 1000 }) })
    const log = machine.write('logs/two.jsonl', claudeLogs(2, { session: TWO }))
    const plans: SyncPlan[] = []
    await machine.sync({ paths: [join(machine.user, 'logs')], onPlan: (plan) => void plans.push(plan) })
    expect(plans).toMatchObject([{ files: 1, bytes: fs.statSync(log).size }])
  })

  it('counts what was named and is not there as seen and failed, as an import does', async () => {
    machine.write('logs/two.jsonl', claudeLogs(2, { session: TWO }))
    const paths = [join(machine.user, 'nowhere'), join(machine.user, 'logs')]
    expect(await machine.sync({ paths })).toMatchObject({
      files: { seen: 2, new: 1, unchanged: 0, failed: 1 },
      problems: [{ cause: 'not-found', count: 1 }],
    })
  })

  it('goes on where what was named cannot be remembered', async () => {
    machine.write('logs/two.jsonl', claudeLogs(2, { session: TWO }))
    fs.mkdirSync(join(machine.home, 'places.json', 'x'), { recursive: true })
    expect(await machine.sync({ paths: [join(machine.user, 'logs')] })).toMatchObject({
      files: { new: 1, failed: 1 },
    })
  })

  it('goes on without a folder that was named once and cannot be looked at any more', async () => {
    machine.write('logs/two.jsonl', claudeLogs(2, { session: TWO }))
    await machine.sync({ paths: [join(machine.user, 'logs')] })
    fs.rmSync(join(machine.user, 'logs'), { recursive: true })
    fs.symlinkSync('/dev/null', join(machine.user, 'logs'))
    machine.write(machine.log(ONE), claudeLogs(2, { session: ONE }))
    expect(await machine.sync()).toMatchObject({
      files: { new: 1, failed: 1 },
      problems: [{ cause: 'unsafe-path', count: 1 }],
    })
  })
})
