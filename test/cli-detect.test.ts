/** What a user is told of detection: the runner-up where it came close, and checkpoints found inside a repository. */
import fs from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createRepository } from './git-repository.ts'
import { run, temporaryFolder } from './program.ts'

const env = { HANSARD_HOME: join(temporaryFolder(), 'none') }
const line = (sessionId: string, text: string): string =>
  `${JSON.stringify({ parentUuid: null, isSidechain: false, userType: 'external', cwd: '/x', sessionId, version: '2', type: 'user', message: { role: 'user', content: text }, uuid: 'u', timestamp: '2026-02-10T10:00:00.000Z' })}\n`

describe('hansard show', () => {
  it('names the runner-up on stderr, and prints the same', async () => {
    const folder = temporaryFolder()
    fs.writeFileSync(join(folder, 'a.jsonl'), line('s', 'hello'))
    const alone = await run(['show', folder, '--json'], { env })
    expect(alone).toMatchObject({ code: 0, stderr: '' })
    const header = { type: 'session', version: 3, id: 'p', timestamp: '2026-02-10T10:00:00.000Z', cwd: '/x' }
    fs.writeFileSync(join(folder, 'b.txt'), `${JSON.stringify(header)}\n`)
    const both = await run(['show', folder, '--json'], { env })
    expect(both.stdout).toBe(alone.stdout)
    expect(both.stderr).toMatch(/is read as claude-code \(0\.95\); pi comes close \(0\.95\): --format pi/)
  })

  it('reads the checkpoints inside a repository, and converts them', async () => {
    const files = { 'ab/cdef012345/0/full.jsonl': line('s', 'hello from git') }
    const repository = createRepository([{ ref: 'refs/heads/entire/checkpoints/v1', files }])
    for (const path of [repository, join(repository, '.git')]) {
      expect(await run(['show', path], { env })).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('hello from git'),
        stderr: '',
      })
    }
    const out = temporaryFolder()
    const converted = await run(['convert', repository, '--to', 'devflow', '--out', out, '--json'], { env })
    expect(converted.code).toBe(0)
    expect(JSON.parse(converted.stdout)).toMatchObject({
      written: expect.arrayContaining([expect.stringMatching(/transcript\.json$/)]),
    })
  })
})
