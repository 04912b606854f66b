import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { unprivileged } from '../../test/unprivileged.ts'
import { openArchive, type Archive } from '../archive/archive.ts'
import { sync, type SyncOptions } from './sync.ts'

let base: string
let archive: Archive
beforeEach(() => {
  base = fs.realpathSync(fs.mkdtempSync(join(os.tmpdir(), 'sync-warn-')))
  archive = openArchive(join(base, 'archive'), { write: true })
})

const DAY_MS = 86_400_000

function write(name: string, ageDays: number): void {
  const folder = join(base, 'claude/projects/p')
  fs.mkdirSync(folder, { recursive: true })
  const line = {
    type: 'user',
    uuid: name,
    parentUuid: null,
    sessionId: name,
    userType: 'external',
    isSidechain: false,
  }
  const path = join(folder, `${name}.jsonl`)
  fs.writeFileSync(path, `${JSON.stringify({ ...line, message: { role: 'user', content: 'hello' } })}\n`)
  const then = new Date(Date.now() - ageDays * DAY_MS)
  fs.utimesSync(path, then, then)
}

const options = () => ({
  cwd: base,
  env: { CLAUDE_CONFIG_DIR: join(base, 'claude') },
  userHome: join(base, 'home'),
})
const purges = async (keep: boolean) =>
  (await sync(archive, { ...options(), keep })).problems.filter(({ cause }) => cause === 'purge')

it('warns of logs that Claude Code deletes soon and that are not kept, and names the setting', async () => {
  write('aaaaaaaa-0000-4000-8000-000000000001', 28)
  write('aaaaaaaa-0000-4000-8000-000000000002', 1)
  const [warning] = await purges(false)
  expect(warning?.example).toMatch(/30 days.*settings\.json.*1 log is at risk.*: sync without --no-keep/)
})

it('says the way out that is one: room, where the disk is full', async () => {
  write('aaaaaaaa-0000-4000-8000-000000000001', 28)
  const warned = async (how: SyncOptions): Promise<string | undefined> =>
    (await sync(archive, { ...options(), ...how })).problems.find(({ cause }) => cause === 'purge')?.example
  const full = await warned({ disk: () => ({ free: 99, total: 1000 }) })
  expect(full).toMatch(/1 log is at risk and not kept: make room on the disk, then sync again$/)
  expect(full).not.toContain('--no-keep')
  expect(await warned({})).toBeUndefined()
})

it('says to mend what else is told, where a log could not be read', async () => {
  write('aaaaaaaa-0000-4000-8000-000000000001', 28)
  const closed = join(base, 'claude/projects/p/aaaaaaaa-0000-4000-8000-000000000001.jsonl')
  const somebody = { base, own: [join(base, 'archive')], closed: [closed] }
  const [warning] = await unprivileged(somebody, () => purges(true))
  expect(warning?.example).toMatch(/: see to what else this sync tells of, then sync again$/)
})

it('says nothing of what is kept', async () => {
  write('aaaaaaaa-0000-4000-8000-000000000001', 28)
  expect(await purges(true)).toEqual([])
})

it('says that it does not know, where its settings cannot be understood', async () => {
  write('aaaaaaaa-0000-4000-8000-000000000001', 28)
  fs.writeFileSync(join(base, 'claude/settings.json'), '{bad')
  const { problems } = await sync(archive, { ...options(), keep: false })
  expect(problems).toMatchObject([{ cause: 'settings', count: 1 }])
  expect(problems[0]?.example).toMatch(/settings\.json is not a JSON object: when its agent deletes/)
})
