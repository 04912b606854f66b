import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isHansardError } from '../errors.ts'
import type { Files } from '../journal/files.ts'
import { openArchive } from './archive.ts'
import { openKept, type KeptPlace } from './kept.ts'

type Setup = { readonly root: string; readonly home: string; readonly place: KeptPlace }

function setup(): Setup {
  const folder = fs.mkdtempSync(join(os.tmpdir(), 'kept-'))
  const [root, home] = [join(folder, 'source'), join(folder, 'archive')]
  fs.mkdirSync(root)
  return { root, home, place: openKept(openArchive(home, { write: true })).place('codex', root) }
}

/** Writes the source, as of some seconds ago: later than that, a look at its times is enough. */
function write({ root }: Setup, path: string, content: string | Buffer, secondsAgo = 5): string {
  const file = join(root, path)
  fs.mkdirSync(join(file, '..'), { recursive: true })
  fs.writeFileSync(file, content)
  const at = new Date(Date.now() - secondsAgo * 1000)
  fs.utimesSync(file, at, at)
  return file
}

async function text(place: KeptPlace, path: string, version?: number): Promise<string | undefined> {
  return (await place.file(path, version)?.bytes(1e9))?.toString('utf8')
}

async function all(place: KeptPlace): Promise<string[]> {
  const paths: string[] = []
  for await (const path of place.paths()) paths.push(path)
  return paths
}

async function codeOf(promise: Promise<unknown>): Promise<string | undefined> {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  return isHansardError(error) ? error.code : undefined
}

describe('kept files', () => {
  it('have the bytes, the path and the time of the source', async () => {
    const test = setup()
    const file = write(test, 'a/b.jsonl', 'one\n')
    expect(await test.place.keep('a/b.jsonl', { file })).toMatchObject({
      change: 'new',
      bytesRead: 4,
      bytes: 4,
    })
    expect(fs.readFileSync(join(test.place.folder, 'files/a/b.jsonl'), 'utf8')).toBe('one\n')
    expect(test.place.file('a/b.jsonl')?.modifiedAt).toBe(fs.statSync(file).mtime.toISOString())
    expect(await all(test.place)).toEqual(['a/b.jsonl'])
  })

  it('read no byte of a source that did not change', async () => {
    const test = setup()
    const file = write(test, 'x', 'one\n')
    await test.place.keep('x', { file })
    expect(await test.place.keep('x', { file })).toMatchObject({ change: 'none', bytesRead: 0 })
  })

  it('grow by the suffix, having looked at no more than the last 4 KB', async () => {
    const test = setup()
    const before = `${'a'.repeat(99)}\n`.repeat(1000)
    await test.place.keep('x', { file: write(test, 'x', before) })
    const file = write(test, 'x', `${before}more\n`, 4)
    expect(await test.place.keep('x', { file })).toMatchObject({ change: 'grown', bytesRead: 4096 + 5 })
    expect(await text(test.place, 'x')).toBe(`${before}more\n`)
    expect(test.place.versions('x')).toEqual([])
  })

  it('keep what a rewrite took away as an older version, once', async () => {
    const test = setup()
    for (const [change, content] of [
      ['new', 'one\ntwo\n'],
      ['rewritten', 'one\n'],
      ['rewritten', 'three\n'],
      ['rewritten', 'one\n'],
      ['rewritten', 'three\n'],
    ] as const) {
      const file = write(test, 'x', content)
      expect((await test.place.keep('x', { file })).change).toBe(change)
      expect(await text(test.place, 'x')).toBe(content)
    }
    const older = await Promise.all(test.place.versions('x').map((version) => text(test.place, 'x', version)))
    expect(older).toEqual(['one\ntwo\n', 'one\n'])
  })

  it('take a source that was written again with the same bytes for the same', async () => {
    const test = setup()
    await test.place.keep('x', { file: write(test, 'x', 'one\n') })
    expect((await test.place.keep('x', { file: write(test, 'x', 'one\n', 1) })).change).toBe('none')
    expect(await test.place.keep('x', { file: join(test.root, 'x') })).toMatchObject({ bytesRead: 0 })
    expect(test.place.versions('x')).toEqual([])
  })

  it('notice a change in the middle that left size and end alike', async () => {
    const test = setup()
    const end = 'z'.repeat(5000)
    await test.place.keep('x', { file: write(test, 'x', `a${end}`) })
    expect((await test.place.keep('x', { file: write(test, 'x', `b${end}`, 1) })).change).toBe('rewritten')
    expect(await text(test.place, 'x', 1)).toBe(`a${end}`)
  })

  it('take bytes that something else gives', async () => {
    const { place } = setup()
    const chunks = (...parts: readonly string[]) => ({
      modifiedAt: '2025-01-02T03:04:05.000Z',
      async *chunks() {
        for (const part of parts) yield Buffer.from(part)
      },
    })
    expect((await place.keep('stdin', chunks('a', 'b'))).change).toBe('new')
    expect((await place.keep('stdin', chunks('a', 'b'))).change).toBe('none')
    expect((await place.keep('stdin', chunks('a', 'b', 'c'))).change).toBe('grown')
    expect((await place.keep('stdin', chunks('x'))).change).toBe('rewritten')
    expect(place.file('stdin')?.modifiedAt).toBe('2025-01-02T03:04:05.000Z')
    expect(await text(place, 'stdin', 1)).toBe('abc')
  })

  it('are private, whatever the source and the umask are', async () => {
    const before = process.umask(0)
    try {
      const test = setup()
      const file = write(test, 'a/x', 'one\n')
      fs.chmodSync(file, 0o644)
      await test.place.keep('a/x', { file })
      await test.place.keep('a/x', { file: write(test, 'a/x', 'two\n') })
      for (const name of fs.readdirSync(test.place.folder, { recursive: true, encoding: 'utf8' })) {
        const stat = fs.statSync(join(test.place.folder, name))
        expect([name, stat.mode & 0o777]).toEqual([name, stat.isDirectory() ? 0o700 : 0o600])
      }
      expect(fs.statSync(test.place.folder).mode & 0o777).toBe(0o700)
    } finally {
      process.umask(before)
    }
  })

  it('are found again by where they came from', async () => {
    const test = setup()
    await test.place.keep('x', { file: write(test, 'x', 'one\n') })
    fs.mkdirSync(join(test.home, 'kept/codex/000000000000'))
    fs.writeFileSync(
      join(test.home, 'kept/codex/000000000000/place.json'),
      '{"agent":"codex","root":"/elsewhere"}',
    )
    const places = openKept(openArchive(test.home)).places()
    expect(places.map(({ agent, root }) => [agent, root])).toEqual([['codex', test.root]])
    expect(await text(places[0] as KeptPlace, 'x')).toBe('one\n')
  })

  it('are never read through a link, nor taken from one, nor from a pipe', async () => {
    const test = setup()
    const secret = write(test, 'secret', 'key\n')
    fs.symlinkSync(secret, join(test.root, 'link'))
    expect(await codeOf(test.place.keep('link', { file: join(test.root, 'link') }))).toBe('unsafe-path')
    expect(await codeOf(test.place.keep('null', { file: '/dev/null' }))).toBe('unsafe-path')
    expect(await codeOf(test.place.keep('gone', { file: join(test.root, 'gone') }))).toBe('not-found')
    await test.place.keep('x', { file: secret })
    fs.unlinkSync(join(test.place.folder, 'files/x'))
    fs.symlinkSync(secret, join(test.place.folder, 'files/x'))
    expect(test.place.file('x')).toBeUndefined()
  })

  it('lose nothing that was ever there at a sync, whatever is done to the source', async () => {
    const bytes = fc.string({ unit: fc.constantFrom('a', 'b', '\n'), maxLength: 12 })
    const step = fc.record({
      how: fc.constantFrom('append', 'truncate', 'rewrite', 'replace', 'touch', 'pack', 'again'),
      bytes,
      isLong: fc.boolean(),
      cut: fc.nat(6000),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
        const test = setup()
        const file = write(test, 'x', 'start\n')
        const seen: Buffer[] = []
        let { place } = test
        const first = { how: 'again', bytes: '', isLong: false, cut: 0 }
        for (const [at, { how, bytes: some, isLong, cut }] of [first, ...steps].entries()) {
          // Longer than what is compared, and never the same at the same place.
          const filler = isLong ? Array.from({ length: 700 }, (_, n) => `${at}:${n}\n`).join('') : ''
          if (how === 'append') fs.appendFileSync(file, filler + some)
          if (how === 'truncate') fs.truncateSync(file, Math.min(cut, fs.statSync(file).size))
          if (how === 'rewrite') fs.writeFileSync(file, some + filler)
          if (how === 'touch') fs.utimesSync(file, cut, cut)
          if (how === 'pack') await place.pack('x')
          if (how === 'again') place = openKept(openArchive(test.home)).place('codex', test.root)
          if (how === 'replace') {
            fs.writeFileSync(`${file}.new`, filler + some)
            fs.renameSync(`${file}.new`, file)
          }
          await place.keep('x', { file })
          seen.push(fs.readFileSync(file))
          const held = await Promise.all(
            [undefined, ...place.versions('x')].map((version) => text(place, 'x', version)),
          )
          expect(held[0]).toBe(fs.readFileSync(file, 'utf8'))
          for (const one of seen) expect(held.some((kept) => kept?.startsWith(one.toString()))).toBe(true)
          expect(new Set(held).size).toBe(held.length)
        }
        expect(fs.readdirSync(join(place.folder, 'tmp'))).toEqual([])
        fs.rmSync(join(test.root, '..'), { recursive: true, force: true })
      }),
      { numRuns: 40 },
    )
  })

  it('hold what was read of a source that is written to meanwhile, and the next sync the rest', async () => {
    const test = setup()
    const file = write(test, 'x', 'one\n')
    const archive = openArchive(test.home)
    let reads = 0
    const files: Files = {
      ...archive.files,
      read(fd, buffer, position) {
        reads += 1
        if (reads === 1) fs.appendFileSync(file, 'two\n')
        return archive.files.read(fd, buffer, position)
      },
    }
    const place = openKept({ ...archive, files }).place('codex', test.root)
    expect(await place.keep('x', { file })).toMatchObject({ change: 'new', bytes: 4 })
    expect(await place.keep('x', { file })).toMatchObject({ change: 'grown', bytes: 8, bytesRead: 8 })
  })
})
