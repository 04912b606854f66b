import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { SourceFile } from '../transcript/source.ts'
import { gitRefs, gitSource } from './git.ts'

let repository: string
const git = (...args: string[]): string =>
  execFileSync('git', ['-C', repository, '-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], {
    encoding: 'utf8',
    env: { ...process.env, GIT_COMMITTER_DATE: '2026-01-02T03:04:05Z' },
  }).trim()

const put = (name: string, content: string | Buffer): void => {
  const path = join(repository, name)
  fs.mkdirSync(join(path, '..'), { recursive: true })
  fs.writeFileSync(path, content)
}

const large = Buffer.alloc(3_000_000, 'abcdefghij')
let template: string
beforeAll(() => {
  repository = fs.mkdtempSync(join(os.tmpdir(), 'hansard-git-'))
  execFileSync('git', ['init', '-q', '-b', 'main', repository])
  put('ab/cdef/metadata.json', '{"a":1}')
  put('ab/cdef/0/full.jsonl', large)
  put('ä b.txt', 'name')
  fs.symlinkSync('/etc/passwd', join(repository, 'link'))
  git('add', '.')
  git('commit', '-qm', 'one')
  git('branch', 'entire/checkpoints/v1')
  git('update-ref', 'refs/entire/checkpoints/ab/01ULID', 'HEAD')
  put('ab/cdef/metadata.json', '{"a":2}')
  git('commit', '-qam', 'two')
  template = repository
})
beforeEach(() => {
  repository = fs.mkdtempSync(join(os.tmpdir(), 'hansard-git-'))
  fs.cpSync(template, repository, { recursive: true })
})

const bytesOf = async (file: SourceFile | undefined): Promise<Buffer | undefined> => file?.bytes(1e9)

describe('a repository', () => {
  it('lists its refs by how they begin', async () => {
    expect(await gitRefs(repository, 'refs/entire/')).toEqual(['refs/entire/checkpoints/ab/01ULID'])
    expect(await gitRefs(repository, 'refs/heads/')).toEqual([
      'refs/heads/entire/checkpoints/v1',
      'refs/heads/main',
    ])
    expect(await gitRefs(repository, 'refs/none/')).toEqual([])
  })

  it('gives the tree at a ref as a folder, packed or not, without its links', async () => {
    for (const pack of [false, true]) {
      if (pack) git('gc', '-q', '--aggressive', '--prune=now')
      const source = await gitSource(repository, 'entire/checkpoints/v1')
      const files = await source.list()
      expect(files.map(({ path }) => path)).toEqual([
        'ab/cdef/0/full.jsonl',
        'ab/cdef/metadata.json',
        'ä b.txt',
      ])
      expect(files[0]).toMatchObject({ sizeBytes: large.length, modifiedAt: '2026-01-02T03:04:05.000Z' })
      expect((await bytesOf(files[0]))?.equals(large)).toBe(true)
      expect((await (files[0] as SourceFile).head(5)).toString()).toBe('abcde')
      expect((await bytesOf(await source.find('ab/x/../cdef/metadata.json')))?.toString()).toBe('{"a":1}')
      expect(await source.find('../x')).toBeUndefined()
      expect(source.damage()).toEqual([])
    }
    const newer = await gitSource(repository, 'refs/heads/main')
    expect((await bytesOf(await newer.find('ab/cdef/metadata.json')))?.toString()).toBe('{"a":2}')
  })

  it('can be a worktree or a bare one', async () => {
    const other = `${repository}-worktree`
    git('worktree', 'add', '-q', other)
    expect(await gitRefs(other, 'refs/entire/')).toHaveLength(1)
    expect(await gitRefs(join(repository, '.git'), 'refs/entire/')).toHaveLength(1)
  })

  it('is not found where there is none, nor a ref that it lacks, nor one that is an option', async () => {
    const folder = fs.mkdtempSync(join(os.tmpdir(), 'hansard-no-git-'))
    await expect(gitRefs(folder, 'refs/')).rejects.toMatchObject({ code: 'not-found' })
    await expect(gitSource(repository, 'none')).rejects.toMatchObject({ code: 'not-found' })
    for (const ref of ['--output=/tmp/x', ':/two', 'main..none', 'main@{1}', 'a b', '']) {
      await expect(gitSource(repository, ref)).rejects.toMatchObject({ code: 'invalid-argument' })
    }
  })

  it('says so when the git program is missing', async () => {
    const { PATH } = process.env
    process.env['PATH'] = repository
    try {
      await expect(gitRefs(repository, 'refs/')).rejects.toMatchObject({
        code: 'not-found',
        message: expect.stringContaining('git program'),
      })
    } finally {
      process.env['PATH'] = PATH
    }
  })
})

describe('a damaged or hostile repository', () => {
  it('gives what can be read of an object cut off, changed or missing, and reports it', async () => {
    const id = git('rev-parse', 'main:ab/cdef/0/full.jsonl')
    const object = join(repository, '.git/objects', id.slice(0, 2), id.slice(2))
    const whole = fs.readFileSync(object)
    fs.chmodSync(object, 0o600)
    for (const bytes of [whole.subarray(0, whole.length >> 1), Buffer.from('no object'), undefined]) {
      if (bytes === undefined) fs.rmSync(object)
      else fs.writeFileSync(object, bytes)
      const source = await gitSource(repository, 'main')
      for (const file of await source.list()) await bytesOf(file)
      expect(source.damage().length).toBeGreaterThan(0)
    }
  })

  it('runs no program that it names', async () => {
    const mark = join(repository, 'mark')
    const program = join(repository, 'program.sh')
    fs.writeFileSync(program, `#!/bin/sh\ntouch '${mark}'\n`, { mode: 0o755 })
    for (const [key, value] of [
      ['core.fsmonitor', program],
      ['core.pager', program],
      ['core.sshCommand', program],
      ['remote.origin.url', `ext::${program}`],
      ['remote.origin.promisor', 'true'],
      ['protocol.ext.allow', 'always'],
      ['filter.x.smudge', program],
    ] as const) {
      git('config', key, value)
    }
    const id = git('rev-parse', 'main:ab/cdef/metadata.json')
    fs.rmSync(join(repository, '.git/objects', id.slice(0, 2), id.slice(2)))
    const source = await gitSource(repository, 'main')
    for (const file of await source.list()) await bytesOf(file)
    await gitRefs(repository, 'refs/')
    expect(fs.existsSync(mark)).toBe(false)
    expect(source.damage().length).toBeGreaterThan(0)
  })

  it('ends at a tree that has no end', async () => {
    const blob = execFileSync('git', ['-C', repository, 'hash-object', '-w', '--stdin'], { input: 'x' })
    let tree = execFileSync('git', ['-C', repository, 'mktree'], {
      input: Array.from({ length: 20 }, (_, i) => `100644 blob ${blob.toString().trim()}\tf${i}`).join('\n'),
      encoding: 'utf8',
    }).trim()
    for (let level = 0; level < 8; level += 1) {
      tree = execFileSync('git', ['-C', repository, 'mktree'], {
        input: Array.from({ length: 20 }, (_, i) => `040000 tree ${tree}\td${i}`).join('\n'),
        encoding: 'utf8',
      }).trim()
    }
    const source = await gitSource(repository, tree)
    await expect(source.list()).rejects.toMatchObject({ code: 'too-large' })
  })
})
