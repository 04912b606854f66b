/** A call that several sources saw, each under a name of its own, is on one bill, in whatever order they came. */
import fs from 'node:fs'
import { describe, expect, it } from 'vitest'
import { AGENT_LOGS, type AgentLog, type LoggedCall } from '../../test/agents-logs.ts'
import { createMachine, type Machine } from '../../test/machine.ts'
import { addReplayed } from '../archive/replayed.ts'
import { record } from '../capture/record.ts'
import { PROVIDER_IDS } from '../../test/agents-logs.ts'

const BEGAN = Date.UTC(2026, 10, 3, 9)
const REPLAYED = BEGAN + 86_400_000
const SESSION = 'aaaaaaaa-0000-4000-8000-000000000001'
const REPLAY = 'aaaaaaaa-0000-4000-8000-000000000002'

const callAt = (n: number, began = BEGAN): LoggedCall => ({
  id: `${n}`,
  at: began + n * 60_000,
  text: `answer ${n}`,
  input: 100 + n,
  cacheRead: 1000 + n,
  output: 10 + n,
})
const CALLS = [1, 2, 3].map((n) => callAt(n))

/** What the proxy writes of a client that does not say which conversation it is. It sees one call more than the agent logs. */
async function recordCalls(machine: Machine, log: AgentLog): Promise<void> {
  let now = BEGAN
  const recorder = await record({
    home: machine.home,
    cwd: machine.cwd,
    agent: log.agent,
    durability: 'os',
    now: () => now,
  })
  for (const { id, at, text, input, cacheRead, output } of [...CALLS, callAt(4)]) {
    now = at - 700
    recorder.user(`ask ${text}`)
    now = at + 40
    const usage = { input, cacheRead, output, quality: 'reported' } as const
    const call = { provider: log.provider, messageId: `${PROVIDER_IDS[log.agent] ?? 'resp-'}${id}` }
    recorder.assistant(text, { model: log.model, usage, call })
  }
  await recorder.end()
}

const writeLog = (machine: Machine, log: AgentLog, calls = CALLS): void => {
  for (const [path, text] of Object.entries(log.files(SESSION, calls, 'own'))) machine.write(path, text)
}

/** The agent logs what the replay answered as any other call, at another time, under other names. */
function replay(machine: Machine, log: AgentLog): void {
  const calls = [1, 2, 3].map((n) => callAt(n, REPLAYED))
  const archive = machine.archive()
  for (const { id, at } of calls)
    addReplayed(archive.files, archive.home, {
      session: 'any',
      call: `m:${PROVIDER_IDS[log.agent] ?? 'resp-'}${id}`,
      at,
    })
  for (const [path, text] of Object.entries(log.files(REPLAY, calls, 'again'))) machine.write(path, text)
}

type Step = (machine: Machine, log: AgentLog) => Promise<unknown> | void

const STEPS: Readonly<Record<string, Step>> = {
  recording: recordCalls,
  log: (machine, log) => writeLog(machine, log),
  // Of a session that goes on.
  hook: async (machine, log) => {
    writeLog(machine, log, CALLS.slice(0, 2))
    await machine.sync()
    writeLog(machine, log)
  },
  replay,
}

function permutations<T>(all: readonly T[]): readonly (readonly T[])[] {
  if (all.length < 2) return [all]
  return all.flatMap((one, at) =>
    permutations([...all.slice(0, at), ...all.slice(at + 1)]).map((others) => [one, ...others]),
  )
}

async function billsAfter(
  log: AgentLog,
  steps: readonly string[],
  isSyncedBetween: boolean,
): Promise<unknown> {
  const machine = createMachine()
  try {
    for (const name of steps) {
      await STEPS[name]?.(machine, log)
      if (isSyncedBetween) await machine.sync()
    }
    await machine.sync()
    const sessions = await machine.list()
    return sessions.map(({ native, startedAt, recordings, totals }) => ({
      session: native?.sessionId,
      startedAt,
      recordings: recordings?.length,
      calls: totals?.calls,
      usage: totals?.usage,
    }))
  } finally {
    fs.rmSync(machine.base, { recursive: true, force: true })
  }
}

describe.each(AGENT_LOGS.map((log) => [log.agent, log] as const))('%s', (_, log) => {
  it('bills each call once, and a replay never, in whatever order they came', async () => {
    const orders = permutations(Object.keys(STEPS))
    const wanted = await billsAfter(log, Object.keys(STEPS), false)
    expect(wanted).toMatchObject([
      { calls: 0 },
      { recordings: 2, calls: 4, usage: { input: 410, cacheRead: 4010, output: 50, quality: 'reported' } },
    ])
    for (const order of orders) expect([order, await billsAfter(log, order, true)]).toEqual([order, wanted])
  })
})
