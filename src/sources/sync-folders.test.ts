/** What programs left in the folders that sessions were held in. */
import fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { claudeLogs, createMachine, type Machine } from '../../test/machine.ts'

const ONE = 'aaaaaaaa-0000-4000-8000-000000000001'

let machine: Machine
beforeEach(() => {
  machine = createMachine()
})
afterEach(() => fs.rmSync(machine.base, { recursive: true, force: true }))

function writeRun(folder: string, run: string): void {
  const path = join(folder, '.devflow/runs', run, 'transcript.json')
  fs.mkdirSync(join(path, '..'), { recursive: true })
  const metadata = { flowId: 'fix', nodeId: 'look', status: 'completed', startedAt: '2026-02-10T23:31:05Z' }
  const turns = [{ id: 1, role: 'user', content: 'hello', timestamp: '2026-02-10T23:31:05Z' }]
  fs.writeFileSync(path, JSON.stringify({ runId: run, metadata, turns }))
}

it('is found by the sync that finds the sessions, and the next one has nothing to do', async () => {
  const project = join(machine.base, 'project')
  writeRun(project, '2026-02-10-fix-1')
  machine.write(machine.log(ONE), claudeLogs(4, { session: ONE, cwd: project }))
  expect(await machine.sync()).toMatchObject({ sessions: 2, files: { seen: 2, new: 2, unchanged: 0 } })
  expect(await machine.list()).toHaveLength(2)
  const again = await machine.sync()
  expect(again).toMatchObject({ sessions: 0, bytesRead: 0, files: { seen: 2, unchanged: 2 } })
})

it('is left alone where only some path is looked at', async () => {
  const project = join(machine.base, 'project')
  writeRun(project, '2026-02-10-fix-1')
  machine.write(machine.log(ONE), claudeLogs(4, { session: ONE, cwd: project }))
  const report = await machine.sync({ paths: [join(machine.user, '.claude')] })
  expect(report).toMatchObject({ sessions: 1, files: { seen: 1, new: 1 } })
})
