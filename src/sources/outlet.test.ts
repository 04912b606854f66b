import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { githubToken } from '../../test/fake-keys.ts'
import { openArchive } from '../archive/archive.ts'
import { openSessions } from './sessions.ts'
import { sync } from './sync.ts'

it('lets no secret of a kept file out, in the list or in the session, unless it is asked for', async () => {
  const base = fs.realpathSync(fs.mkdtempSync(join(os.tmpdir(), 'outlet-')))
  const secret = githubToken(7)
  const folder = join(base, 'claude/projects/p')
  fs.mkdirSync(folder, { recursive: true })
  const line = {
    type: 'user',
    uuid: 'u1',
    parentUuid: null,
    sessionId: 'aaaaaaaa-0000-4000-8000-000000000001',
    timestamp: '2026-05-01T10:00:00.000Z',
    userType: 'external',
    isSidechain: false,
    message: { role: 'user', content: `my key is ${secret}` },
  }
  fs.writeFileSync(join(folder, `${line.sessionId}.jsonl`), `${JSON.stringify(line)}\n`)
  const archive = openArchive(join(base, 'archive'), { write: true })
  await sync(archive, {
    cwd: base,
    env: { CLAUDE_CONFIG_DIR: join(base, 'claude') },
    userHome: join(base, 'home'),
  })

  const texts = async (raw: boolean): Promise<string> => {
    const sessions = await openSessions(archive.home, { raw })
    const listed = sessions.list({})
    const items = []
    for await (const batch of sessions.read(sessions.find(listed.sessions[0]?.id ?? ''))) items.push(...batch)
    sessions.close()
    return JSON.stringify([listed, items])
  }
  expect(await texts(false)).not.toContain(secret)
  expect(await texts(false)).toMatch(/my key is \[redacted:/i)
  expect(await texts(true)).toContain(secret)
})
