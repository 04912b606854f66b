import fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claudeLogs, createMachine, type Machine } from '../../test/machine.ts'
import { scanCost } from '../search/cost-scan.ts'
import { importInputs } from './import.ts'
import { rebuild } from './sync.ts'

const SESSION = 'cccccccc-0000-4000-8000-000000000003'
const CHECKPOINT = 'ab/cdef012345'

let machine: Machine
beforeEach(() => {
  machine = createMachine()
})
afterEach(() => fs.rmSync(machine.base, { recursive: true, force: true }))

const log = claudeLogs(4, { session: SESSION })
const usage = { input_tokens: 20, output_tokens: 10, cache_read_tokens: 0, cache_creation_tokens: 0 }
const facts = { checkpoint_id: 'abcdef012345', strategy: 'manual-commit', token_usage: usage }

/** Each file of a checkpoint, and the agent's own log, byte for byte the same as the transcript in it. */
const FILES: Readonly<Record<string, string>> = {
  [`work/${CHECKPOINT}/0/full.jsonl`]: log,
  [`work/${CHECKPOINT}/0/metadata.json`]: JSON.stringify({ ...facts, session_id: SESSION }),
  [`work/${CHECKPOINT}/0/prompt.txt`]: 'question 0',
  [`work/${CHECKPOINT}/metadata.json`]: JSON.stringify({ ...facts, sessions: [] }),
  [`work/logs/${SESSION}.jsonl`]: log,
}

async function only(): Promise<unknown> {
  const sessions = await machine.list()
  return sessions.map(({ native, totals, reportedUsage }) => ({
    session: native?.sessionId,
    tokens: [totals?.usage?.input, totals?.usage?.output],
    calls: totals?.calls,
    stated: reportedUsage?.input,
  }))
}

const ONE = [{ session: SESSION, tokens: [20, 10], calls: 2, stated: 20 }]

describe('a checkpoint beside the log that it was made of', () => {
  it.each([['synced'], ['imported']])('is one session with it when both are %s at once', async (how) => {
    for (const [path, text] of Object.entries(FILES)) machine.write(path, text)
    const path = join(machine.user, 'work')
    const { problems } =
      how === 'synced'
        ? await machine.sync({ paths: [path] })
        : await importInputs(machine.archive(), [{ path }], { env: {}, userHome: machine.user })
    expect(problems).toEqual([])
    expect(await only()).toEqual(ONE)
    await rebuild(machine.archive())
    expect(await only()).toEqual(ONE)
  })

  it.each([
    ['as they are named', (paths: readonly string[]) => paths],
    ['the other way round', (paths: readonly string[]) => paths.toReversed()],
    ['the log first', (paths: readonly string[]) => [...paths.slice(-1), ...paths.slice(0, -1)]],
  ])('is one session with it when files come one by one, %s', async (_, order) => {
    // Something that is no agent's, so that the folder is nobody's whatever comes first.
    machine.write('work/aaa.jsonl', '{"role":"user","content":"alone"}\n')
    machine.write(`work/bbb/${SESSION}.jsonl`, log)
    for (const path of order(Object.keys(FILES))) {
      machine.write(path, FILES[path] ?? '')
      await machine.sync({ paths: [join(machine.user, 'work')] })
    }
    const others = (await machine.list()).filter(({ native }) => native?.sessionId !== SESSION)
    expect(others).toHaveLength(1)
    expect(((await only()) as object[]).filter((one) => 'session' in one && one.session === SESSION)).toEqual(
      ONE,
    )
  })

  it('is billed the same without an archive', async () => {
    for (const [path, text] of Object.entries(FILES)) machine.write(path, text)
    await machine.sync({ paths: [join(machine.user, 'work')], keep: false })
    const scanned = await scanCost(machine.archive(), {
      env: {},
      userHome: machine.user,
      platform: process.platform,
      cwd: machine.cwd,
      exclude: [],
    })
    try {
      const { total } = scanned.ask({ by: 'session' })
      expect([total.calls, total.usage?.input]).toEqual([2, 20])
    } finally {
      scanned.close()
    }
  })
})
