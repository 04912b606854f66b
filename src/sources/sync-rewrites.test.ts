/** Sources that were emptied, overwritten or replaced: what was listed stays listed, whatever is in their place. */
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claudeLog, claudeLogs, createMachine, type Machine } from '../../test/machine.ts'
import { openKept } from '../archive/kept.ts'

const ONE = 'aaaaaaaa-0000-4000-8000-000000000001'
const TWO = 'bbbbbbbb-0000-4000-8000-000000000002'
const ALL = ['question 0', 'answer 1', 'question 2', 'answer 3']

let machine: Machine
beforeEach(() => {
  machine = createMachine()
})
afterEach(() => fs.rmSync(machine.base, { recursive: true, force: true }))

const forgetState = (): void => fs.rmSync(join(machine.home, 'index'), { recursive: true })

async function theOne(): Promise<readonly string[]> {
  const list = await machine.list()
  expect(list).toHaveLength(1)
  return machine.texts(list[0]?.id ?? '')
}

const versionsHeld = (): number =>
  openKept(machine.archive())
    .places()
    .reduce((sum, place) => sum + place.versions(`-p/${ONE}.jsonl`).length, 0)

/** What pi writes: another agent's log, in a file that was Claude Code's. */
const piLog = [
  { type: 'session', version: 3, id: TWO, timestamp: '2025-01-01T00:00:00.000Z', cwd: '/tmp' },
  {
    type: 'message',
    id: '1',
    parentId: null,
    timestamp: '2025-01-01T00:00:01.000Z',
    message: { role: 'user', content: [{ type: 'text', text: 'to pi' }], timestamp: 1735689601000 },
  },
]
  .map((record) => `${JSON.stringify(record)}\n`)
  .join('')

describe('a log that was overwritten', () => {
  const cases: readonly (readonly [string, () => Buffer])[] = [
    ['nothing', () => Buffer.alloc(0)],
    ['random bytes', () => randomBytes(5000)],
    ['a record of no known format', () => Buffer.from('{"foo":1}\n')],
  ]
  for (const [what, content] of cases) {
    it(`by ${what} is listed and read as before, also by a new state`, async () => {
      machine.write(machine.log(ONE), claudeLogs(4, { session: ONE }))
      await machine.sync()
      const before = await machine.list()
      fs.writeFileSync(machine.log(ONE), content())
      await machine.sync()
      expect(await machine.list()).toEqual(before)
      expect(await theOne()).toEqual(ALL)
      forgetState()
      expect(await theOne()).toEqual(ALL)
      await machine.sync()
      expect(await machine.list()).toEqual(before)
    })
  }

  it('goes on from there when the program writes to it again', async () => {
    machine.write(machine.log(ONE), claudeLogs(4, { session: ONE }))
    await machine.sync()
    machine.write(machine.log(ONE), '')
    await machine.sync()
    machine.write(machine.log(ONE), claudeLog(4, { session: ONE }))
    await machine.sync()
    expect(await theOne()).toEqual([...ALL, 'question 4'])
  })

  it('by another format shows both sessions, and lets go of neither', async () => {
    machine.write(machine.log(ONE), claudeLogs(4, { session: ONE }))
    await machine.sync()
    machine.write(machine.log(ONE), piLog)
    await machine.sync()
    const texts = async () => Promise.all((await machine.list()).map(({ id }) => machine.texts(id)))
    expect(await texts()).toEqual([ALL, ['to pi']])
    expect(versionsHeld()).toBe(1)
    machine.write(machine.log(ONE), claudeLogs(2, { session: ONE }))
    await machine.sync()
    expect(await texts()).toEqual([ALL, ['to pi']])
    forgetState()
    expect(await texts()).toEqual([ALL, ['to pi']])
  })

  it('by what nobody can read keeps those bytes too', async () => {
    machine.write(machine.log(ONE), claudeLogs(2, { session: ONE }))
    await machine.sync()
    machine.write(machine.log(ONE), '{"foo":1}\n')
    await machine.sync()
    machine.write(machine.log(ONE), claudeLogs(4, { session: ONE }))
    await machine.sync()
    expect(versionsHeld()).toBe(1)
    expect(await theOne()).toEqual(ALL)
  })
})

describe('a sync that keeps nothing, after one that kept', () => {
  it('shows what is new in place, and all that is kept once the source is gone or shorter', async () => {
    machine.write(machine.log(ONE), claudeLogs(2, { session: ONE }))
    await machine.sync()
    machine.write(machine.log(ONE), claudeLogs(4, { session: ONE }))
    await machine.sync({ keep: false })
    expect(await theOne()).toEqual(ALL)
    machine.write(machine.log(ONE), claudeLog(2, { session: ONE }))
    await machine.sync({ keep: false })
    expect(await theOne()).toEqual(ALL.slice(0, 3))
    fs.rmSync(machine.log(ONE))
    await machine.sync({ keep: false })
    expect(await theOne()).toEqual(ALL.slice(0, 2))
  })

  it('is made good by the next that keeps', async () => {
    machine.write(machine.log(ONE), claudeLogs(2, { session: ONE }))
    await machine.sync()
    machine.write(machine.log(ONE), claudeLogs(4, { session: ONE }))
    await machine.sync({ keep: false })
    expect(await machine.sync()).toMatchObject({ files: { grown: 1, failed: 0 } })
    fs.rmSync(machine.log(ONE))
    await machine.sync()
    expect(await theOne()).toEqual(ALL)
  })
})

describe('a session that was only read in place', () => {
  it('stays listed when its source is gone, and says so when it is to be shown', async () => {
    machine.write(machine.log(ONE), claudeLogs(4, { session: ONE }))
    await machine.sync({ keep: false })
    const list = await machine.list()
    fs.rmSync(machine.log(ONE))
    for (const keep of [false, true]) {
      expect((await machine.sync({ keep })).problems).toEqual([])
      expect(await machine.list()).toEqual(list)
    }
    await expect(theOne()).rejects.toMatchObject({
      code: 'not-found',
      message: expect.stringContaining('is gone, and nothing of it was kept') as string,
    })
  })

  it('stays listed also when it has to be read again', async () => {
    const agent = join(machine.log(ONE).replace('.jsonl', ''), 'subagents/agent-a1.jsonl')
    machine.write(machine.log(ONE), claudeLogs(4, { session: ONE }))
    machine.write(agent, claudeLogs(2, { session: ONE, more: { agentId: 'a1', isSidechain: true } }))
    await machine.sync({ keep: false })
    const list = await machine.list()
    expect(list.length).toBeGreaterThan(0)
    fs.rmSync(join(machine.user, '.claude'), { recursive: true })
    const { openState } = await import('./state.ts')
    const state = await openState(machine.archive())
    state.database.exec('UPDATE units SET dirty = 1')
    state.close()
    await machine.sync({ keep: false })
    expect(await machine.list()).toEqual(list)
  })
})

describe('the report', () => {
  it('counts a session once, however many recordings of it were taken in', async () => {
    machine.write(machine.log(ONE), claudeLogs(4, { session: ONE }))
    machine.write(machine.log(ONE).replace('/-p/', '/-q/'), claudeLogs(2, { session: ONE }))
    expect(await machine.sync()).toMatchObject({ sessions: 1, files: { new: 2 } })
  })

  it('and the list count no fewer entries than calls of a session in several recordings', async () => {
    const lines = Array.from({ length: 8 }, (_, n) => claudeLog(n, { session: ONE }))
    machine.write(machine.log(ONE), lines.slice(0, 4).join(''))
    machine.write(machine.log(ONE).replace('/-p/', '/-q/'), lines.slice(3).join(''))
    await machine.sync()
    const [session] = await machine.list()
    expect(session?.totals).toMatchObject({ entries: 6, calls: 4 })
    expect(await theOne()).toHaveLength(8)
  })
})

it('a log that is shorter than it was is said to be rewritten, whether or not it is kept', async () => {
  for (const keep of [true, false]) {
    for (const [messages, files] of [
      [4, { new: 1, grown: 0, rewritten: 0 }],
      [6, { new: 0, grown: 1, rewritten: 0 }],
      [2, { new: 0, grown: 0, rewritten: 1 }],
      [5, { new: 0, grown: 1, rewritten: 0 }],
    ] as const) {
      machine.write(machine.log(ONE), claudeLogs(messages, { session: ONE }))
      expect(await machine.sync({ keep })).toMatchObject({ files })
    }
    fs.rmSync(machine.base, { recursive: true, force: true })
    machine = createMachine()
  }
})
