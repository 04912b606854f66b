import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { mayHaveCheckpoints } from './checkpoint-refs.ts'

const folder = fs.mkdtempSync(join(tmpdir(), 'checkpoint-refs-'))
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

describe('a file that says where a repository is', () => {
  it('is followed, and is none when it is longer than a path', () => {
    const [work, store] = [join(folder, 'work'), join(folder, 'store')]
    fs.mkdirSync(work)
    fs.mkdirSync(join(store, 'refs/entire'), { recursive: true })
    fs.mkdirSync(join(store, 'worktrees/work'), { recursive: true })
    fs.writeFileSync(join(store, 'worktrees/work/commondir'), '../..\n')
    fs.writeFileSync(join(work, '.git'), `gitdir: ${store}/worktrees/work\n`)
    expect(mayHaveCheckpoints(work)).toBe(true)
    fs.appendFileSync(join(work, '.git'), 'x'.repeat(5000))
    expect(mayHaveCheckpoints(work)).toBe(false)
    fs.renameSync(join(work, '.git'), join(work, 'long'))
    fs.symlinkSync('long', join(work, '.git'))
    expect(mayHaveCheckpoints(work)).toBe(false)
    fs.rmSync(join(work, '.git'))
    execFileSync('mkfifo', [join(work, '.git')])
    expect(mayHaveCheckpoints(work)).toBe(false)
  })
})

describe('packed refs', () => {
  it.each([0, 65_530, 65_533, 65_536, 200_000])('that name Entire behind %i bytes are found', (before) => {
    fs.mkdirSync(join(folder, '.git'), { recursive: true })
    const others = 'x'.repeat(before)
    fs.writeFileSync(join(folder, '.git/packed-refs'), others)
    expect(mayHaveCheckpoints(folder)).toBe(false)
    fs.writeFileSync(join(folder, '.git/packed-refs'), `${others}entire/checkpoints/v1\n`)
    expect(mayHaveCheckpoints(folder)).toBe(true)
  })
})
