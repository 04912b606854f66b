import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { openArchive, type Archive } from '../archive/archive.ts'
import { openKept } from '../archive/kept.ts'
import { deleteKept, findExpiredKept } from './clean-kept.ts'
import { openSessions } from './sessions.ts'
import { sync } from './sync.ts'

let base: string
let archive: Archive
beforeEach(() => {
  base = fs.realpathSync(fs.mkdtempSync(join(os.tmpdir(), 'clean-kept-')))
  archive = openArchive(join(base, 'archive'), { write: true })
})

const ids = { old: 'aaaaaaaa-0000-4000-8000-00000000000a', young: 'aaaaaaaa-0000-4000-8000-00000000000b' }

function write(session: string, day: string): void {
  const folder = join(base, 'claude/projects/p')
  fs.mkdirSync(folder, { recursive: true })
  const line = {
    type: 'user',
    uuid: `${session}-1`,
    parentUuid: null,
    sessionId: session,
    timestamp: `${day}T10:00:00.000Z`,
    userType: 'external',
    isSidechain: false,
    message: { role: 'user', content: `hello of ${day}` },
  }
  fs.writeFileSync(join(folder, `${session}.jsonl`), `${JSON.stringify(line)}\n`)
}

const options = () => ({
  cwd: base,
  env: { CLAUDE_CONFIG_DIR: join(base, 'claude') },
  userHome: join(base, 'home'),
})

async function natives(): Promise<readonly (string | undefined)[]> {
  const sessions = await openSessions(archive.home)
  const { sessions: listed } = sessions.list({})
  sessions.close()
  return listed.map(({ native }) => native?.sessionId)
}

async function keptPaths(): Promise<string[]> {
  const paths: string[] = []
  for (const place of openKept(archive).places()) for await (const path of place.paths()) paths.push(path)
  return paths
}

describe('retention of kept sessions', () => {
  beforeEach(async () => {
    write(ids.old, '2026-01-01')
    write(ids.young, '2026-06-01')
    await sync(archive, options())
  })

  it('counts the bytes of older versions, too', async () => {
    const path = join(base, 'claude/projects/p', `${ids.old}.jsonl`)
    const { size } = fs.statSync(path)
    fs.writeFileSync(path, '{"foo":1}\n')
    await sync(archive, options())
    const expired = await findExpiredKept(archive, '2026-03-01')
    expect(expired.map(({ bytes }) => bytes)).toEqual([size + 10])
  })

  it('removes what is kept also after a sync that kept nothing', async () => {
    const path = join(base, 'claude/projects/p', `${ids.old}.jsonl`)
    fs.appendFileSync(path, '\n')
    await sync(archive, { ...options(), keep: false })
    const expired = await findExpiredKept(archive, '2026-03-01')
    await deleteKept(
      archive,
      expired.map(({ session }) => session.id),
      { at: '2026-07-01T00:00:00.000Z', reason: 'clean' },
    )
    expect(await keptPaths()).toEqual([`p/${ids.young}.jsonl`])
    expect(await natives()).toEqual([ids.young])
  })

  it('finds those last heard of before, and says what they take', async () => {
    const expired = await findExpiredKept(archive, '2026-03-01T00:00:00.000Z')
    expect(expired.map(({ session }) => session.native?.sessionId)).toEqual([ids.old])
    expect(expired[0]?.bytes).toBe(fs.statSync(join(base, `claude/projects/p/${ids.old}.jsonl`)).size)
  })

  it('removes their bytes from the archive, never from the source, and no sync brings them back', async () => {
    const [one] = await findExpiredKept(archive, '2026-03-01T00:00:00.000Z')
    await deleteKept(archive, [one?.session.id ?? ''], { at: '2026-07-01T00:00:00.000Z', reason: 'clean' })
    expect(await natives()).toEqual([ids.young])
    expect(await keptPaths()).toEqual([`p/${ids.young}.jsonl`])
    expect(fs.existsSync(join(base, `claude/projects/p/${ids.old}.jsonl`))).toBe(true)

    await sync(archive, options())
    expect(await natives()).toEqual([ids.young])
    // Not even when all that is known about it is lost.
    fs.rmSync(join(archive.home, 'index'), { recursive: true })
    await sync(archive, options())
    expect(await natives()).toEqual([ids.young])
    expect(await keptPaths()).toEqual([`p/${ids.young}.jsonl`])
  })
})
