/** The built program with enough to read for threads: they are parts of it, and not programs of their own. */
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { claudeLog, createMachine } from './machine.ts'
import { BIN } from './program.ts'

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
