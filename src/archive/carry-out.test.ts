import { execFile, execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeEach, describe, expect, it } from 'vitest'
import { createCarryOut } from './carry-out.ts'

let folder: string
beforeEach(() => {
  folder = fs.mkdtempSync(join(os.tmpdir(), 'hansard-carry-'))
})

const read = (path: string): string => fs.readFileSync(join(folder, path), 'utf8')

describe('carrying out file operations live', () => {
  it('has each step on disk when it returns', () => {
    const out = createCarryOut({ root: folder, way: 'live' })
    out.run([{ op: 'append', path: 'a/b.jsonl', text: '1\n' }])
    expect(read('a/b.jsonl')).toBe('1\n')
    out.run([{ op: 'append', path: 'a/b.jsonl', text: '2\n' }])
    expect(read('a/b.jsonl')).toBe('1\n2\n')
    expect(out.finish()).toEqual([join(folder, 'a/b.jsonl')])
  })

  it('keeps files and folders to their owner, whatever the umask', () => {
    const umask = process.umask(0)
    try {
      createCarryOut({ root: join(folder, 'r'), way: 'live' }).run([
        { op: 'append', path: 'a/b', text: 'x' },
        { op: 'write', path: 'a/c', content: 'x' },
      ])
    } finally {
      process.umask(umask)
    }
    expect(fs.statSync(join(folder, 'r/a')).mode & 0o777).toBe(0o700)
    expect(fs.statSync(join(folder, 'r/a/b')).mode & 0o777).toBe(0o600)
    expect(fs.statSync(join(folder, 'r/a/c')).mode & 0o777).toBe(0o600)
  })

  it('creates once, updates from what is there, removes, and keeps the newest by name', () => {
    const out = createCarryOut({ root: folder, way: 'live' })
    out.run([
      { op: 'create', path: 'once', content: 'first' },
      { op: 'create', path: 'once', content: 'second' },
      { op: 'update', path: 'index', change: (now) => `${now ?? 'none'}+` },
      { op: 'update', path: 'index', change: (now) => `${now ?? 'none'}+` },
      { op: 'write', path: 'gone', content: 'x' },
      { op: 'remove', path: 'gone' },
      ...['3.txt', '1.txt', '2.txt', '0.md'].map((name) => ({
        op: 'write' as const,
        path: `t/${name}`,
        content: name,
      })),
      { op: 'prune', folder: 't', suffix: '.txt', keep: 2 },
    ])
    expect(read('once')).toBe('first')
    expect(read('index')).toBe('none++')
    expect(fs.readdirSync(join(folder, 't')).sort()).toEqual(['0.md', '2.txt', '3.txt'])
    expect(fs.existsSync(join(folder, 'gone'))).toBe(false)
  })

  it('sets an earlier file aside under the next free number, and never its own', () => {
    const first = createCarryOut({ root: folder, way: 'live' })
    first.run([
      { op: 'set-aside', path: 's.jsonl' },
      { op: 'append', path: 's.jsonl', text: 'first' },
      { op: 'set-aside', path: 's.jsonl' },
    ])
    expect(fs.readdirSync(folder)).toEqual(['s.jsonl'])
    for (const text of ['second', 'third']) {
      const next = createCarryOut({ root: folder, way: 'live' })
      next.run([
        { op: 'set-aside', path: 's.jsonl' },
        { op: 'append', path: 's.jsonl', text },
      ])
    }
    expect([read('s.1.jsonl'), read('s.2.jsonl'), read('s.jsonl')]).toEqual(['first', 'second', 'third'])
  })

  it('tells of a path before it is created', () => {
    const claims: [string, boolean][] = []
    const onClaim = (path: string): void => void claims.push([path, fs.existsSync(join(folder, path))])
    createCarryOut({ root: folder, way: 'live', onClaim }).run([
      { op: 'append', path: 'x', text: '1' },
      { op: 'append', path: 'x', text: '2' },
    ])
    expect(claims).toEqual([['x', false]])
  })

  it.each(['../x', '/etc/x', 'a/../../x', 'a//b', 'a\0b', '..', 'a\\..\\x'])(
    'refuses the path %j',
    (path) => {
      const out = createCarryOut({ root: join(folder, 'root'), way: 'live' })
      expect(() => out.run([{ op: 'append', path, text: 'x' }])).toThrow(/not a path below the root/)
      expect(fs.existsSync(join(folder, 'x'))).toBe(false)
    },
  )

  it('does not follow a link planted as a file or as a folder', () => {
    fs.mkdirSync(join(folder, 'elsewhere'))
    fs.mkdirSync(join(folder, 'root'))
    fs.symlinkSync(join(folder, 'elsewhere'), join(folder, 'root/a'))
    fs.symlinkSync(join(folder, 'elsewhere/file'), join(folder, 'root/b'))
    const out = createCarryOut({ root: join(folder, 'root'), way: 'live' })
    expect(() => out.run([{ op: 'append', path: 'a/x', text: 'x' }])).toThrow(/not a folder/)
    expect(() => out.run([{ op: 'append', path: 'b', text: 'x' }])).toThrow(/already there/)
    out.run([{ op: 'write', path: 'b', content: 'ours' }])
    expect(fs.lstatSync(join(folder, 'root/b')).isSymbolicLink()).toBe(false)
    expect(fs.readdirSync(join(folder, 'elsewhere'))).toEqual([])
  })

  it('does not follow a root that is a link, nor one above it that was not chosen', () => {
    fs.mkdirSync(join(folder, 'elsewhere'))
    fs.symlinkSync(join(folder, 'elsewhere'), join(folder, 'link'))
    const refuses = (root: string, trusted?: string): void => {
      const out = createCarryOut({ root: join(folder, root), way: 'live', ...(trusted && { trusted }) })
      expect(() => out.run([{ op: 'append', path: 'a', text: 'x' }])).toThrow(/not a folder/)
      expect(() => out.claim('b')).toThrow(/not a folder/)
      expect(() => out.run([{ op: 'update', path: 'c', change: () => 'x' }])).toThrow(/not a folder/)
      expect(() => out.run([{ op: 'prune', folder: '.', suffix: '', keep: 0 }])).toThrow(/not a folder/)
    }
    fs.writeFileSync(join(folder, 'elsewhere/theirs'), 'x')
    refuses('link')
    refuses('link/below', folder)
    expect(fs.readdirSync(join(folder, 'elsewhere'))).toEqual(['theirs'])
    // Above a root that somebody chose, links are theirs to have.
    createCarryOut({ root: join(folder, 'link/below'), way: 'live' }).run([
      { op: 'append', path: 'a', text: 'x' },
    ])
    expect(read('elsewhere/below/a')).toBe('x')
  })

  it('keeps transcripts out of git inside a repository, and leaves a .gitignore that is there', () => {
    execFileSync('git', ['init', '-q', folder])
    createCarryOut({ root: join(folder, '.x'), way: 'live', ignored: 'runs' }).run([
      { op: 'append', path: 'runs/a', text: 'x' },
    ])
    expect(read('.x/runs/.gitignore')).toBe('*\n')
    fs.mkdirSync(join(folder, '.y'))
    fs.writeFileSync(join(folder, '.y/.gitignore'), 'mine\n')
    createCarryOut({ root: join(folder, '.y'), way: 'live', ignored: '.' }).run([
      { op: 'append', path: 'a', text: 'x' },
    ])
    expect(read('.y/.gitignore')).toBe('mine\n')
    expect(execFileSync('git', ['-C', folder, 'status', '--porcelain'], { encoding: 'utf8' })).not.toContain(
      'runs',
    )
  })
})

describe('two executions at once', () => {
  const execution = (claims: string[] = []): ReturnType<typeof createCarryOut> =>
    createCarryOut({
      root: folder,
      way: 'live',
      onClaim: (path, taken) => claims.push(taken ? `not ${path}` : path),
    })
  const open = [
    { op: 'set-aside', path: 'llm/s.jsonl', with: ['receipts/s.json'] },
    { op: 'create', path: 'llm/s.jsonl', content: '' },
  ] as const
  const close = (content: string): Parameters<ReturnType<typeof execution>['run']>[0] => [
    { op: 'write', path: 'receipts/s.json', content, beside: 'llm/s.jsonl' },
  ]

  it('keep each its own transcript and receipt, whoever ends first', () => {
    for (const order of [
      ['a', 'b', 'c'],
      ['c', 'b', 'a'],
      ['b', 'c', 'a'],
    ]) {
      folder = fs.mkdtempSync(join(os.tmpdir(), 'hansard-carry-'))
      const all = new Map(['a', 'b', 'c'].map((name) => [name, execution()]))
      for (const [name, out] of all) {
        out.run(open)
        for (const [other, before] of all) {
          before.run([{ op: 'append', path: 'llm/s.jsonl', text: `${other}\n` }])
          if (other === name) break
        }
      }
      for (const name of order) all.get(name)?.run(close(name))
      expect([read('llm/s.1.jsonl'), read('llm/s.2.jsonl'), read('llm/s.jsonl')]).toEqual([
        'a\na\na\n',
        'b\nb\n',
        'c\n',
      ])
      expect([read('receipts/s.1.json'), read('receipts/s.2.json'), read('receipts/s.json')]).toEqual([
        'a',
        'b',
        'c',
      ])
    }
  })

  it('give a transcript and its receipt one number, though one of them was never written', () => {
    for (const name of ['a', 'b', 'c']) {
      const out = execution()
      out.run([...open, { op: 'append', path: 'llm/s.jsonl', text: name }])
      if (name !== 'a') out.run(close(name))
    }
    expect(fs.readdirSync(join(folder, 'receipts')).sort()).toEqual(['s.2.json', 's.json'])
    expect([read('llm/s.2.jsonl'), read('receipts/s.2.json')]).toEqual(['b', 'b'])
  })

  it('get a name once, and say which names others have', () => {
    const [ours, theirs]: [string[], string[]] = [[], []]
    const [a, b] = [execution(ours), execution(theirs)]
    expect([a.claim('d/x'), a.claim('d/x'), b.claim('d/x'), b.claim('d/y')]).toEqual([
      true,
      true,
      false,
      true,
    ])
    expect([ours, theirs]).toEqual([['d/x'], ['not d/x', 'd/y']])
  })

  it('do not write into a file that took the place of theirs', () => {
    const out = execution()
    out.run([{ op: 'append', path: 'f', text: 'ours' }])
    fs.rmSync(join(folder, 'f'))
    fs.writeFileSync(join(folder, 'f'), 'theirs')
    expect(() => out.run([{ op: 'append', path: 'f', text: 'more' }])).toThrow(/removed or replaced/)
    expect(read('f')).toBe('theirs')
  })

  it('lose no change of a file they share, and break a lock that a crash left', async () => {
    fs.writeFileSync(
      join(folder, '.index.lock'),
      JSON.stringify({ holder: '999999999-1-dead', boot: 'no-such-boot' }),
    )
    const program = `
      import { createCarryOut } from ${JSON.stringify(join(import.meta.dirname, '../../dist/src/archive/carry-out.js'))}
      const out = createCarryOut({ root: ${JSON.stringify(folder)}, way: 'live' })
      for (let n = 0; n < 40; n += 1)
        out.run([{ op: 'update', path: 'index', change: (now) => (now ?? '') + process.argv[1] }])`
    const run = promisify(execFile)
    const args = ['--input-type=module', '-e', program]
    await Promise.all(['a', 'b', 'c'].map((name) => run(process.execPath, [...args, name])))
    expect(read('index').split('').sort().join('')).toBe('a'.repeat(40) + 'b'.repeat(40) + 'c'.repeat(40))
    expect(fs.readdirSync(folder)).toEqual(['index'])
  })
})

describe('carrying out file operations staged', () => {
  it('shows nothing of an appended file until it is finished', () => {
    const out = createCarryOut({ root: folder, way: 'staged' })
    out.run([{ op: 'append', path: 'f', text: 'a' }])
    expect(fs.existsSync(join(folder, 'f'))).toBe(false)
    expect(out.finish()).toEqual([join(folder, 'f')])
    expect(read('f')).toBe('a')
  })

  it('leaves nothing behind when it is abandoned', () => {
    const out = createCarryOut({ root: folder, way: 'staged' })
    out.run([{ op: 'append', path: 'f', text: 'a' }])
    out.abandon()
    expect(fs.readdirSync(folder)).toEqual([])
  })

  it('refuses to change what it did not write, unless it is the same', () => {
    fs.writeFileSync(join(folder, 'f'), 'theirs')
    fs.writeFileSync(join(folder, 'g'), 'theirs')
    const attempt = (content: string): readonly string[] => {
      const out = createCarryOut({ root: folder, way: 'staged' })
      out.run([
        { op: 'append', path: 'f', text: content },
        { op: 'write', path: 'g', content },
      ])
      return out.finish()
    }
    expect(() => attempt('ours')).toThrow(/already there and holds something else/)
    expect([read('f'), read('g')]).toEqual(['theirs', 'theirs'])
    expect(attempt('theirs')).toHaveLength(2)
  })

  it('sets aside only what differs from what it writes', () => {
    fs.writeFileSync(join(folder, 's.jsonl'), 'same')
    fs.writeFileSync(join(folder, 'r.json'), 'theirs')
    const write = (): void => {
      const out = createCarryOut({ root: folder, way: 'staged' })
      out.run([
        { op: 'set-aside', path: 's.jsonl' },
        { op: 'set-aside', path: 'r.json' },
        { op: 'append', path: 's.jsonl', text: 'same' },
        { op: 'write', path: 'r.json', content: 'ours' },
      ])
      out.finish()
    }
    write()
    write()
    expect(fs.readdirSync(folder).sort()).toEqual(['r.1.json', 'r.json', 's.jsonl'])
    expect([read('r.1.json'), read('r.json')]).toEqual(['theirs', 'ours'])
  })

  it('prunes and removes only what it wrote itself', () => {
    fs.mkdirSync(join(folder, 't'))
    fs.writeFileSync(join(folder, 't/0.txt'), 'theirs')
    const out = createCarryOut({ root: folder, way: 'staged' })
    out.run([
      { op: 'write', path: 't/1.txt', content: 'ours' },
      { op: 'write', path: 't/2.txt', content: 'ours' },
      { op: 'prune', folder: 't', suffix: '.txt', keep: 1 },
      { op: 'remove', path: 't/0.txt' },
    ])
    expect(fs.readdirSync(join(folder, 't'))).toEqual(['0.txt', '2.txt'])
  })
})
