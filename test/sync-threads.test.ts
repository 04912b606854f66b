/** The built program with enough to read for threads: they are parts of it, and not programs of their own. */
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { claudeLog, createMachine } from './machine.ts'
import { BIN } from './program.ts'

it('says the same of many short logs, which it reads beside a thread, as where it reads them one by one', async () => {
  const [threads, alone] = [createMachine(), createMachine()]
  const text = 'a line that is as long as what a tool gives back '.repeat(400)
  for (let n = 0; n < 48; n += 1) {
    const session = `aaaaaaaa-0000-4000-8000-0000000000${n + 10}`
    const more = { input: n + 1, more: { cwd: `/p/${n % 3}` } }
    const lines = Array.from({ length: 20 }, (_, at) => claudeLog(at, { session, text, ...more }))
    for (const machine of [threads, alone])
      machine.write(`.claude/projects/-p/${session}.jsonl`, lines.join(''))
  }
  const env = { PATH: process.env['PATH'], HOME: threads.user, HANSARD_HOME: threads.home }
  const run = (...args: readonly string[]): string =>
    spawnSync(process.execPath, [BIN, ...args], { cwd: threads.cwd, env, encoding: 'utf8', timeout: 50_000 })
      .stdout
  run('sync', '--no-index', '--json')
  await alone.sync()
  const said = (await threads.list()).map((session) => JSON.stringify(session)).join('\n')
  expect(said.replaceAll(threads.base, alone.base)).toBe(
    (await alone.list()).map((session) => JSON.stringify(session)).join('\n'),
  )
  expect(said.match(/"input":/g)?.length).toBeGreaterThanOrEqual(48)
  for (const { base } of [threads, alone]) fs.rmSync(base, { recursive: true, force: true })
})

it('reads in threads that say nothing, serve nothing, and end with it', () => {
  const machine = createMachine()
  const text = 'a line that is as long as what a tool gives back '.repeat(400)
  for (let n = 0; n < 4; n += 1) {
    const session = `aaaaaaaa-0000-4000-8000-00000000000${n}`
    const lines = Array.from({ length: 260 }, (_, at) => claudeLog(at, { session, text }))
    machine.write(`.claude/projects/-p/${session}.jsonl`, lines.join(''))
  }
  const env = { PATH: process.env['PATH'], HOME: machine.user, HANSARD_HOME: machine.home }
  const ran = spawnSync(process.execPath, [BIN, 'sync', '--json'], {
    cwd: machine.cwd,
    env,
    encoding: 'utf8',
    timeout: 50_000,
  })
  expect(JSON.parse(ran.stdout)).toMatchObject({ sessions: 4, entries: 1040, problems: [] })
  expect(ran.stderr).toMatch(/^keeping 4 files, 2\d MB, in \S+\nlist, cost and stats have 4 sessions; .+\n$/)
  expect(ran.status).toBe(0)
  expect(fs.readdirSync(join(machine.home, 'sessions'))).toEqual([])
  fs.rmSync(machine.base, { recursive: true, force: true })
})
