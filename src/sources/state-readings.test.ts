import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openArchive } from '../archive/archive.ts'
import { openSessions } from './sessions.ts'
import { sync } from './sync.ts'

it('takes in calls whose counts no sum could hold, and the others count', async () => {
  const base = fs.realpathSync(fs.mkdtempSync(join(os.tmpdir(), 'readings-')))
  const session = 'aaaaaaaa-0000-4000-8000-000000000001'
  const line = (n: number, output: number): string =>
    `${JSON.stringify({
      type: 'assistant',
      uuid: `u${n}`,
      parentUuid: null,
      sessionId: session,
      userType: 'external',
      isSidechain: false,
      message: {
        id: `m${n}`,
        role: 'assistant',
        model: 'claude-sonnet-4-5',
        stop_reason: 'end_turn',
        content: [],
        usage: { input_tokens: 10, output_tokens: output },
      },
    })}\n`
  const lines = Array.from({ length: 1100 }, (_, n) => line(n, Number.MAX_SAFE_INTEGER))
  const path = join(base, `${session}.jsonl`)
  fs.writeFileSync(path, `${lines.join('')}${line(2000, 7)}`)
  const archive = openArchive(join(base, 'archive'), { write: true })
  const report = await sync(archive, { cwd: base, env: {}, userHome: base, paths: [path] })
  expect(report.problems).toEqual([])
  const sessions = await openSessions(archive.home)
  expect(sessions.list({}).sessions[0]?.totals).toMatchObject({
    calls: 1101,
    usage: { input: 11_010, output: 7 },
  })
  sessions.close()
})
