/** Files that this program wrote itself, beside its journals: a sync that finds them shows no session twice. */
import fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { record } from '../src/capture/record.ts'
import { createMachine, type Machine } from './machine.ts'
import { run } from './program.ts'

let machine: Machine
beforeEach(() => {
  machine = createMachine()
})
afterEach(() => fs.rmSync(machine.base, { recursive: true, force: true }))

const FLOW = 'swarm/runs/run-1/build'

async function execute(prompt: string): Promise<void> {
  const session = await record({
    home: machine.home,
    cwd: machine.cwd,
    formats: ['swarm'],
    runId: 'run-1',
    flow: 'build',
    step: 'impl',
    agentKey: 'coder',
    engine: 'claude-step',
  })
  session.user(prompt)
  session.assistant('done')
  await session.end()
}

async function listed(): Promise<readonly string[]> {
  const env = { HOME: machine.user, HANSARD_HOME: machine.home }
  expect((await run(['sync', '.'], { env, cwd: machine.cwd })).code).toBe(0)
  const { stdout } = await run(['list', '--json'], { env, cwd: machine.cwd })
  const { sessions } = JSON.parse(stdout) as { sessions: { prompt?: string }[] }
  return sessions.map(({ prompt = '' }) => prompt).sort((a, b) => a.localeCompare(b))
}

it('each execution of a step is listed once, also those whose files a later one set aside', async () => {
  for (const prompt of ['first', 'second', 'third']) await execute(prompt)
  const there = fs.readdirSync(join(machine.cwd, FLOW, 'llm')).sort()
  expect(there).toEqual(['', '.1', '.2'].map((number) => `impl-coder-claude-step${number}.jsonl`).sort())
  expect(await listed()).toEqual(['first', 'second', 'third'])
})

it('what another program had written there is listed as its own, though it was set aside', async () => {
  const path = join(machine.cwd, FLOW, 'llm/impl-coder-claude-step.jsonl')
  const theirs = { timestamp: '2026-01-02T03:04:05.000000Z', role: 'user', content: 'theirs' }
  fs.mkdirSync(join(path, '..'), { recursive: true })
  fs.writeFileSync(path, `${JSON.stringify(theirs)}\n`)
  await execute('ours')
  expect(fs.existsSync(path.replace('.jsonl', '.1.jsonl'))).toBe(true)
  expect(await listed()).toEqual(['ours', 'theirs'])
})
