import fs from 'node:fs'
import os from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { withClosed } from '../../test/unprivileged.ts'
import { walk, type Problem, type WalkOptions } from './walk.ts'

let root: string
beforeEach(() => {
  root = fs.realpathSync(fs.mkdtempSync(join(os.tmpdir(), 'hansard-walk-')))
  fs.chmodSync(root, 0o755)
})
afterEach(() => fs.rmSync(root, { recursive: true, force: true }))

function put(path: string, text = 'x'): void {
  fs.mkdirSync(dirname(join(root, path)), { recursive: true })
  fs.writeFileSync(join(root, path), text)
}

function walked(
  options: WalkOptions,
  from = root,
): { paths: string[]; problems: [string, Problem['cause']][] } {
  const problems: [string, Problem['cause']][] = []
  const onProblem = (path: string, { cause }: Problem): void => void problems.push([path, cause])
  return { paths: [...walk(from, { ...options, onProblem })].map(({ path }) => path), problems }
}

describe('a walk', () => {
  it('gives the files that are asked for, folder by folder, sorted', () => {
    for (const path of ['b/2.jsonl', 'b/1.jsonl', 'a.jsonl', 'a/x.jsonl', 'a/x.txt', '.h/c.jsonl']) put(path)
    expect(walked({ files: ['**/*.jsonl'] })).toEqual({
      paths: ['.h/c.jsonl', 'a/x.jsonl', 'a.jsonl', 'b/1.jsonl', 'b/2.jsonl'],
      problems: [],
    })
  })

  it.runIf(process.platform === 'linux')('tells of names that are no UTF-8, which it cannot open', () => {
    put('a.jsonl')
    put('\uFFFD.jsonl')
    const garbled = (name: string): Buffer =>
      Buffer.concat([Buffer.from(`${root}/${name}`), Buffer.from([0xff])])
    fs.writeFileSync(garbled('b.jsonl'), 'x')
    fs.mkdirSync(garbled('folder'))
    expect(walked({ files: ['**'] })).toEqual({
      paths: ['a.jsonl', '\uFFFD.jsonl'],
      problems: [
        [join(root, 'b.jsonl\uFFFD'), 'name'],
        [join(root, 'folder\uFFFD'), 'name'],
      ],
    })
  })

  it('says of each what tells that it is unchanged', () => {
    put('a/b.jsonl', 'twelve bytes')
    const [file] = [...walk(root, { files: ['a/*'] })]
    const { dev, ino, mtimeMs } = fs.statSync(join(root, 'a/b.jsonl'))
    expect(file).toEqual({
      path: 'a/b.jsonl',
      absolute: join(root, 'a/b.jsonl'),
      stamp: `${dev}:${ino}:12:${mtimeMs}`,
      size: 12,
    })
  })

  it('never enters a folder where nothing can match', () => {
    put('chats/a.json')
    put('other/deep/a.json')
    withClosed(join(root, 'other'), () =>
      expect(walked({ files: ['chats/*.json'] })).toEqual({ paths: ['chats/a.json'], problems: [] }),
    )
  })

  it('follows no link, and tells of those that lead out or nowhere', () => {
    const outside = fs.mkdtempSync(join(os.tmpdir(), 'hansard-outside-'))
    fs.writeFileSync(join(outside, 'secret.jsonl'), 'x')
    put('a/in.jsonl')
    fs.symlinkSync(outside, join(root, 'out'))
    fs.symlinkSync(join(outside, 'secret.jsonl'), join(root, 'out.jsonl'))
    fs.symlinkSync(join(root, 'a'), join(root, 'again'))
    fs.symlinkSync(root, join(root, 'a/circle'))
    fs.symlinkSync('/nowhere/at/all', join(root, 'broken.jsonl'))
    expect(walked({ files: ['**/*.jsonl'] })).toEqual({
      paths: ['a/in.jsonl'],
      problems: ['broken.jsonl', 'out', 'out.jsonl'].map((path) => [join(root, path), 'link']),
    })
    fs.rmSync(outside, { recursive: true })
  })

  it('goes on past what it may not look into', () => {
    put('closed/a.jsonl')
    put('open/a.jsonl')
    withClosed(join(root, 'closed'), () =>
      expect(walked({ files: ['**/*.jsonl'] })).toEqual({
        paths: ['open/a.jsonl'],
        problems: [[join(root, 'closed'), 'not-permitted']],
      }),
    )
  })

  it('leaves out what is excluded, with all that is in it', () => {
    for (const path of ['a/1.jsonl', 'a/b/2.jsonl', 'c/3.jsonl', 'c/4.tmp']) put(path)
    expect(walked({ files: ['**'], exclude: ['a/b'] }).paths).toEqual(['a/1.jsonl', 'c/3.jsonl', 'c/4.tmp'])
    expect(walked({ files: ['**'], exclude: ['*.tmp', 'b'] }).paths).toEqual(['a/1.jsonl', 'c/3.jsonl'])
    expect(walked({ files: ['**'], exclude: [`${root}/c/**`] }).paths).toEqual(['a/1.jsonl', 'a/b/2.jsonl'])
    expect(walked({ files: ['**'], exclude: [root] }).paths).toEqual([])
    expect(walked({ files: ['**'], exclude: [dirname(root)] }).paths).toEqual([])
  })

  it('passes over programs’ parts, devices and folders without end', () => {
    put('.git/objects/x')
    put('node_modules/y/z')
    put(`${'d/'.repeat(70)}deep`)
    put('a')
    const { paths, problems } = walked({ files: ['**'] })
    expect(paths).toEqual(['a'])
    expect(problems.map(([, cause]) => cause)).toEqual(['too-deep'])
  })

  it('goes on when files vanish and come while it looks', () => {
    for (let number = 0; number < 5; number += 1) put(`${number}/a`)
    const paths: string[] = []
    for (const { path } of walk(root, { files: ['**'] })) {
      paths.push(path)
      fs.rmSync(join(root, '3'), { recursive: true, force: true })
      put('4/b')
    }
    expect(paths).toEqual(['0/a', '1/a', '2/a', '4/a', '4/b'])
  })

  it('gives nothing for a root that is gone', () => {
    expect(walked({ files: ['**'] }, join(root, 'no'))).toEqual({ paths: [], problems: [] })
  })

  it('costs little more than asking the system for each file', () => {
    for (let number = 0; number < 2000; number += 1) put(`p${number % 40}/${number}.jsonl`)
    const bare = (): number => {
      let files = 0
      for (const folder of fs.readdirSync(root)) {
        for (const name of fs.readdirSync(join(root, folder))) {
          if (fs.lstatSync(join(root, folder, name), { bigint: true }).isFile()) files += 1
        }
      }
      return files
    }
    const best = { bare: Infinity, walk: Infinity }
    // In turns, so that a busy machine slows both.
    for (let attempt = 0; attempt < 8; attempt += 1) {
      best.bare = Math.min(
        best.bare,
        timed(() => expect(bare()).toBe(2000)),
      )
      best.walk = Math.min(
        best.walk,
        timed(() => expect(walked({ files: ['**/*.jsonl'] }).paths.length).toBe(2000)),
      )
    }
    expect(best.walk / best.bare).toBeLessThan(5)
  })
})

function timed(run: () => void): number {
  const started = performance.now()
  run()
  return performance.now() - started
}
