/** What is said of an id that several sessions answer to. */
import fs from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claudeLogs, createMachine, type Machine } from '../../test/machine.ts'
import { record } from '../capture/record.ts'
import { isHansardError } from '../errors.ts'
import { withSessions } from './sessions.ts'

const ONE = 'aaaaaaaa-0000-4000-8000-000000000001'
const TWO = 'aaaaaaaa-0000-4000-8000-000000000002'

let machine: Machine
beforeEach(() => {
  machine = createMachine()
})
afterEach(() => fs.rmSync(machine.base, { recursive: true }))

/** Logged by its agent, and less of it recorded here: the id of the log speaks for it. */
async function logAndRecord(session: string): Promise<string> {
  machine.write(machine.log(session), claudeLogs(4, { session }))
  const recorder = await record({
    home: machine.home,
    cwd: machine.cwd,
    native: { agent: 'claude-code', sessionId: session },
  })
  recorder.user('question 0')
  await recorder.end()
  await machine.sync()
  return recorder.id
}

const find = (id: string): Promise<string> => withSessions(machine.home, (sessions) => sessions.find(id).id)

async function refusal(id: string): Promise<{ readonly message: string; readonly hint: string }> {
  const error: unknown = await find(id).catch((reason: unknown) => reason)
  if (!isHansardError(error)) throw error
  expect(error.code).toBe('ambiguous-id')
  return { message: error.message, hint: error.hint ?? '' }
}

describe('the beginning of an id', () => {
  it('that is of several recordings is answered with theirs, any of which finds its session', async () => {
    const recorded = [await logAndRecord(ONE), await logAndRecord(TWO)]
    const listed = (await machine.list()).map(({ id }) => id)
    expect(listed).toHaveLength(2)
    const shared = recorded[0]?.slice(0, 4) ?? ''
    expect(listed.filter((id) => id.startsWith(shared))).toEqual([])

    const { message, hint } = await refusal(shared)
    expect(message).toContain(`begin with "${shared}"`)
    for (const id of recorded) expect(hint).toContain(`${id} (a recording of ${await find(id)})`)
  })

  it('that is of a session and of a recording is answered with what each begins with', async () => {
    const recorded = await logAndRecord(ONE)
    const other = await record({ home: machine.home, cwd: machine.cwd })
    other.user('hello')
    await other.end()
    await machine.sync()

    const { hint } = await refusal(other.id.slice(0, 4))
    expect(hint).toContain(`${recorded} (a recording of ${await find(recorded)})`)
    expect(hint).toContain(other.id)
    expect(hint).not.toContain(`${other.id} (`)
  })
})
