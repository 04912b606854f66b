/** Logs that were overwritten by what does not say whose it is: no other session is listed, and what is new is in the one that was there. */
import fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { claudeLog, claudeLogs, createMachine, type Machine } from '../../test/machine.ts'
import { withSessions } from './sessions.ts'

const SESSION = 'aaaaaaaa-0000-4000-8000-000000000001'
const OTHER = 'bbbbbbbb-0000-4000-8000-000000000002'
const machines: Machine[] = []
afterEach(() => {
  for (const { base } of machines.splice(0)) fs.rmSync(base, { recursive: true, force: true })
})

function setup(): Machine {
  const machine = createMachine()
  machines.push(machine)
  return machine
}

/** Ids and calls of all that is listed. */
const known = (machine: Machine): Promise<readonly unknown[]> =>
  withSessions(machine.home, (sessions) =>
    sessions
      .list({})
      .sessions.map(({ id, totals }) => ({ id, calls: totals?.calls, entries: totals?.entries })),
  )

const withoutState = ({ home }: Machine): void =>
  fs.rmSync(join(home, 'index'), { recursive: true, force: true })

const at = (n: number): string => new Date(Date.UTC(2026, 5, 1, 9, 0, n)).toISOString()
const piLine = (n: number, text: string): string =>
  `${JSON.stringify({
    type: 'message',
    id: `p${n}`,
    parentId: null,
    timestamp: at(n),
    message: {
      role: 'assistant',
      content: [{ type: 'text', text }],
      provider: 'anthropic',
      model: 'claude-sonnet-4-5',
      stopReason: 'stop',
      usage: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, totalTokens: 15 },
    },
  })}\n`
const piHead = (id: string): string =>
  `${JSON.stringify({ type: 'session', version: 3, id, timestamp: at(0), cwd: '/p' })}\n`
const PI = '.pi/agent/sessions/--p--/log.jsonl'

describe('a log that does not say any more which session it is', () => {
  it('is still that of the session with its subagents', async () => {
    for (const keep of [true, false]) {
      for (const name of [SESSION, OTHER]) {
        const machine = setup()
        const subagent = `.claude/projects/-p/${name}/subagents/agent-ab12.jsonl`
        machine.write(machine.log(name), claudeLogs(4, { session: SESSION }))
        machine.write(subagent, claudeLogs(6, { session: SESSION }).split('\n').slice(4).join('\n'))
        await machine.sync({ keep })
        const before = await known(machine)
        expect(before).toHaveLength(1)
        machine.write(machine.log(name), 'garbage\n')
        await machine.sync({ keep })
        // Of what was not kept, the subagent is left, and says whose it is.
        const left = keep ? before : [{ ...(before[0] as object), calls: 1, entries: 2 }]
        expect(await known(machine)).toEqual(left)
        withoutState(machine)
        await machine.sync({ keep })
        expect(await known(machine)).toEqual(left)
      }
    }
  })

  it('adds what is new to the session that was there', async () => {
    const machine = setup()
    machine.write(PI, piHead(SESSION) + piLine(1, 'one') + piLine(2, 'two'))
    await machine.sync()
    const [before] = await known(machine)
    machine.write(PI, piLine(2, 'two') + piLine(3, 'three'))
    await machine.sync()
    const expected = [{ ...(before as object), calls: 3, entries: 4 }]
    expect(await known(machine)).toEqual(expected)
    withoutState(machine)
    await machine.sync()
    expect(await known(machine)).toEqual(expected)
    const [{ id }] = expected as unknown as [{ id: string }]
    expect(await machine.texts(id)).toEqual(['one', 'two', 'three'])
  })

  it('is the last that was named there', async () => {
    const machine = setup()
    machine.write(PI, piHead(SESSION) + piLine(1, 'one'))
    await machine.sync()
    machine.write(PI, piHead(OTHER) + piLine(2, 'two'))
    await machine.sync()
    const two = await machine.list()
    machine.write(PI, piLine(3, 'three'))
    await machine.sync()
    const after = await machine.list()
    expect(after.map(({ id }) => id).toSorted()).toEqual(two.map(({ id }) => id).toSorted())
    const other = after.find(({ native }) => native?.sessionId === OTHER)
    expect(await machine.texts(other?.id ?? '')).toEqual(['two', 'three'])
  })

  it('is that of the session when the log says so again, and nothing before it does', async () => {
    const machine = setup()
    const whole = piHead(SESSION) + piLine(1, 'one')
    machine.write(PI, whole)
    await machine.sync()
    const [{ id }] = (await known(machine)) as [{ id: string }]
    machine.write(PI, piLine(2, 'two'))
    await machine.sync()
    for (const [more, calls] of [
      ['', 2],
      [piLine(3, 'three'), 3],
    ] as const) {
      machine.write(PI, whole + more)
      await machine.sync()
      const expected = [{ id, calls, entries: calls + 1 }]
      expect(await known(machine)).toEqual(expected)
      withoutState(machine)
      await machine.sync()
      expect(await known(machine)).toEqual(expected)
    }
  })

  it('is another session where it says so', async () => {
    const machine = setup()
    machine.write(machine.log(SESSION), claudeLog(0, { session: SESSION }))
    await machine.sync()
    machine.write(machine.log(SESSION), claudeLog(1, { session: OTHER }))
    await machine.sync()
    expect(await machine.list()).toHaveLength(2)
  })
})
