import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { openArchive } from '../archive/archive.ts'
import { openKept } from '../archive/kept.ts'
import { openSessions } from './sessions.ts'
import { sync } from './sync.ts'

let base: string
let repository: string

const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
    cwd: repository,
    encoding: 'utf8',
  })

beforeEach(() => {
  base = fs.realpathSync(fs.mkdtempSync(join(os.tmpdir(), 'sync-git-')))
  repository = join(base, 'project')
  fs.mkdirSync(repository)
  git('init', '-q')
})

const SESSION = 'aaaaaaaa-0000-4000-8000-000000000001'
const OTHER = 'bbbbbbbb-0000-4000-8000-000000000002'

/** How long an object on Entire's branch is. */
const sizeOf = (path: string): number =>
  Number(git('cat-file', '-s', `refs/heads/entire/checkpoints/v1:${path}`))

const line = (n: number): string =>
  JSON.stringify({
    type: 'assistant',
    uuid: `u${n}`,
    parentUuid: n === 0 ? null : `u${n - 1}`,
    sessionId: 'aaaaaaaa-0000-4000-8000-000000000001',
    timestamp: `2026-05-01T10:00:0${n}.000Z`,
    userType: 'external',
    isSidechain: false,
    requestId: `r${n}`,
    message: {
      id: `m${n}`,
      role: 'assistant',
      model: 'claude-sonnet-4-5',
      stop_reason: 'end_turn',
      content: [{ type: 'text', text: `answer ${n}` }],
      usage: { input_tokens: 10, output_tokens: 5 },
    },
  })

/** A commit on Entire's branch, whose tree holds one checkpoint with the first lines of the session. */
function checkpoint(id: string, lines: number, session = SESSION): void {
  const folder = `${id.slice(0, 2)}/${id.slice(2)}`
  const full = Array.from({ length: lines }, (_, n) => `${line(n)}\n`).join('')
  const metadata = {
    checkpoint_id: id,
    session_id: session,
    agent: 'Claude Code',
  }
  for (const [path, text] of [
    [`${folder}/0/full.jsonl`, full],
    [`${folder}/0/metadata.json`, JSON.stringify(metadata)],
  ] as const) {
    const blob = execFileSync('git', ['hash-object', '-w', '--stdin'], {
      cwd: repository,
      input: text,
      encoding: 'utf8',
    })
    git('update-index', '--add', '--cacheinfo', `100644,${blob.trim()},${path}`)
  }
  const tree = git('write-tree').trim()
  const commit = git('commit-tree', tree, '-m', id).trim()
  git('update-ref', 'refs/heads/entire/checkpoints/v1', commit)
}

const options = () => ({ cwd: repository, env: {}, userHome: join(base, 'nobody') })

describe("Entire's checkpoints in the working directory's repository", () => {
  it('are kept by session, grow with later checkpoints, and are looked at no more while no ref moves', async () => {
    const archive = openArchive(join(base, 'archive'), { write: true })
    checkpoint('aaaaaaaaaaaa', 2)
    const first = await sync(archive, options())
    expect(first.problems).toEqual([])
    expect(first).toMatchObject({ sessions: 1, files: { failed: 0 } })

    const again = await sync(archive, options())
    expect(again).toMatchObject({ sessions: 0, bytesRead: 0, files: { new: 0, grown: 0, rewritten: 0 } })

    checkpoint('bbbbbbbbbbbb', 4)
    expect(await sync(archive, options())).toMatchObject({ files: { grown: 1, rewritten: 0 } })
    const sessions = await openSessions(archive.home)
    const { sessions: listed } = sessions.list({})
    sessions.close()
    expect(listed).toHaveLength(1)
    expect(listed[0]?.totals).toMatchObject({ calls: 4, usage: { input: 40, output: 20 } })
  })

  it('of a session that has no new one are not looked into, and of one that has only what is new is read', async () => {
    const archive = openArchive(join(base, 'archive'), { write: true })
    checkpoint('aaaaaaaaaaaa', 2)
    checkpoint('cccccccccccc', 3, OTHER)
    await sync(archive, options())
    const blob = git('rev-parse', 'refs/heads/entire/checkpoints/v1:aa/aaaaaaaaaa/0/full.jsonl').trim()
    fs.rmSync(join(repository, '.git/objects', blob.slice(0, 2), blob.slice(2)))

    checkpoint('dddddddddddd', 4, OTHER)
    const again = await sync(archive, options())
    expect(again.problems).toEqual([])
    expect(again).toMatchObject({
      sessions: 1,
      files: { seen: 5, new: 1, grown: 1, rewritten: 0, unchanged: 3 },
      bytesRead: sizeOf('dd/dddddddddd/0/full.jsonl') + sizeOf('dd/dddddddddd/0/metadata.json'),
    })
  })

  it('of a session that is known are looked at again once a pattern no longer leaves some out', async () => {
    const archive = openArchive(join(base, 'archive'), { write: true })
    checkpoint('aaaaaaaaaaaa', 2)
    await sync(archive, { ...options(), exclude: ['**/metadata.json'] })
    expect(await keptPaths()).toEqual([`${SESSION}/full.jsonl`])
    await sync(archive, options())
    expect(await keptPaths()).toEqual([
      `${SESSION}/checkpoints/aaaaaaaaaaaa/metadata.json`,
      `${SESSION}/full.jsonl`,
    ])
  })

  it('are known and read up to where one cannot be kept, however often that one fails', async () => {
    const archive = openArchive(join(base, 'archive'), { write: true })
    checkpoint('aaaaaaaaaaaa', 2)
    await sync(archive, options())
    const folders = fs.readdirSync(archive.home, { recursive: true, encoding: 'utf8' })
    const own = folders.find((path) => path.endsWith(SESSION)) ?? ''
    // Every name that it could have is taken.
    for (const end of ['', '%!'])
      fs.writeFileSync(join(archive.home, `${own.replace(SESSION, OTHER)}${end}`), 'no folder')

    checkpoint('bbbbbbbbbbbb', 4)
    checkpoint('cccccccccccc', 3, OTHER)
    expect(await sync(archive, options())).toMatchObject({ sessions: 1, files: { grown: 1, failed: 1 } })
    expect(await sync(archive, options())).toMatchObject({ sessions: 0, bytesRead: 0, files: { failed: 1 } })
  })

  it('stay when the branch is deleted', async () => {
    const archive = openArchive(join(base, 'archive'), { write: true })
    checkpoint('aaaaaaaaaaaa', 3)
    await sync(archive, options())
    git('update-ref', '-d', 'refs/heads/entire/checkpoints/v1')
    await sync(archive, options())
    const sessions = await openSessions(archive.home)
    expect(sessions.list({}).sessions[0]?.totals?.calls).toBe(3)
    sessions.close()
  })

  it('are kept by a sync that keeps, after one that only read them', async () => {
    const archive = openArchive(join(base, 'archive'), { write: true })
    checkpoint('aaaaaaaaaaaa', 3)
    await sync(archive, { ...options(), keep: false })
    expect(await keptPaths()).toEqual([])
    await sync(archive, options())
    expect(await keptPaths()).toContain(`${SESSION}/full.jsonl`)
    git('update-ref', '-d', 'refs/heads/entire/checkpoints/v1')
    expect(await sync(archive, { ...options(), keep: false })).toMatchObject({ files: { failed: 0 } })
    expect(await calls()).toBe(3)
  })

  it('are not kept where the disk has no room, and are with the next sync that has it', async () => {
    const archive = openArchive(join(base, 'archive'), { write: true })
    checkpoint('aaaaaaaaaaaa', 3)
    const full = await sync(archive, { ...options(), disk: () => ({ free: 100, total: 1000 }) })
    expect(full.problems.map(({ cause }) => cause)).toEqual(['disk-full'])
    expect(await keptPaths()).toEqual([])
    expect((await sync(archive, options())).problems).toEqual([])
    expect(await calls()).toBe(3)
  })

  it('are not looked at in a repository that is excluded', async () => {
    const archive = openArchive(join(base, 'archive'), { write: true })
    checkpoint('aaaaaaaaaaaa', 3)
    await sync(archive, { ...options(), exclude: ['**/project/**'] })
    await sync(archive, { ...options(), exclude: [base] })
    expect(await keptPaths()).toEqual([])
    await sync(archive, options())
    expect(await calls()).toBe(3)
  })

  it('are taken in once their objects are there, though no ref has moved', async () => {
    const archive = openArchive(join(base, 'archive'), { write: true })
    checkpoint('aaaaaaaaaaaa', 3)
    const blob = git('rev-parse', 'refs/heads/entire/checkpoints/v1:aa/aaaaaaaaaa/0/full.jsonl').trim()
    const object = join(repository, '.git/objects', blob.slice(0, 2), blob.slice(2))
    fs.renameSync(object, join(base, 'object'))
    expect((await sync(archive, options())).problems.map(({ cause }) => cause)).toContain('damage')
    fs.renameSync(join(base, 'object'), object)
    expect((await sync(archive, options())).problems).toEqual([])
    expect(await calls()).toBe(3)
  })
})

async function keptPaths(): Promise<readonly string[]> {
  const paths: string[] = []
  for (const place of openKept(openArchive(join(base, 'archive'))).places())
    for await (const path of place.paths()) paths.push(path)
  return paths
}

async function calls(): Promise<number | undefined> {
  const sessions = await openSessions(join(base, 'archive'))
  try {
    return sessions.list({}).sessions[0]?.totals?.calls
  } finally {
    sessions.close()
  }
}
