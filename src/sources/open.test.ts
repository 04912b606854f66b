import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, it } from 'vitest'
import { isHansardError } from '../errors.ts'
import { openDatabase } from '../sqlite/driver.ts'
import type { SourceFile } from '../transcript/source.ts'
import { openSource } from './open.ts'

let folder: string
beforeEach(() => {
  folder = fs.mkdtempSync(join(os.tmpdir(), 'hansard-open-'))
})

const put = (name: string, content: string | Buffer): string => {
  const path = join(folder, name)
  fs.mkdirSync(join(path, '..'), { recursive: true })
  fs.writeFileSync(path, content)
  return path
}

async function readAll(file: SourceFile): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const chunk of file.chunks()) parts.push(chunk)
  return Buffer.concat(parts)
}

async function readFirst(path: string): Promise<{ text: string; damage: readonly { reason: string }[] }> {
  const source = await openSource(path)
  const [file] = await source.list()
  const text = (await readAll(file as SourceFile)).toString('latin1')
  return { text, damage: source.damage() }
}

const codeOf = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  return isHansardError(error) ? error.code : `not ours: ${String(error)}`
}

describe('a file', () => {
  it('gives its bytes in order, in chunks that stay as they were given', async () => {
    const content = Buffer.alloc(1_500_000, 'abcdefghij')
    const source = await openSource(put('a.jsonl', content))
    const [file] = await source.list()
    const parts: Buffer[] = []
    for await (const chunk of (file as SourceFile).chunks()) parts.push(chunk)
    expect(parts.length).toBeGreaterThan(1)
    expect(Buffer.concat(parts).equals(content)).toBe(true)
    expect(file).toMatchObject({ path: 'a.jsonl', sizeBytes: 1_500_000 })
    expect((await (file as SourceFile).head(10)).toString()).toBe('abcdefghij')
  })

  it('refuses a document over the limit it is asked for', async () => {
    const [file] = await (await openSource(put('a.json', 'x'.repeat(100)))).list()
    expect((await (file as SourceFile).bytes(100)).length).toBe(100)
    expect(await codeOf((file as SourceFile).bytes(99))).toBe('too-large')
  })

  it('finds what lies beside it and up to two levels above, and nothing further', async () => {
    const path = put('top/run/flow/llm/a.jsonl', 'a')
    put('top/run/flow/receipts/a.json', 'receipt')
    put('top/run/run.json', 'run')
    put('top/secret.json', 'no')
    const source = await openSource(path)
    expect((await (await source.find('../receipts/a.json'))?.bytes(100))?.toString()).toBe('receipt')
    expect(await source.find('../../run.json')).toBeDefined()
    expect(await source.find('../../../secret.json')).toBeUndefined()
    expect(await source.find('../../../../../../../etc/passwd')).toBeUndefined()
    expect(await source.find('/etc/passwd')).toBeUndefined()
    expect(await source.find('none.json')).toBeUndefined()
    expect(await source.find('a\0b')).toBeUndefined()
  })
})

describe('what is neither a file nor a folder', () => {
  it('is refused at once, and never waited for', async () => {
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    expect(await codeOf(openSource(pipe))).toBe('unsafe-path')
    expect(await codeOf(openSource('/dev/zero'))).toBe('unsafe-path')
    const server = net.createServer().listen(join(folder, 'socket'))
    await new Promise((resolve) => server.once('listening', resolve))
    expect(await codeOf(openSource(join(folder, 'socket')))).toBe('unsafe-path')
    server.close()
    expect(await codeOf(openSource(join(folder, 'none')))).toBe('not-found')
    expect(await codeOf(openSource('a\0b'))).toBe('invalid-argument')
  })
})

describe('a folder', () => {
  it('lists its regular files by code unit, without pipes, links, .git and node_modules', async () => {
    for (const name of ['b.jsonl', 'B.jsonl', 'a/z.jsonl', 'ä.jsonl', 'a.jsonl']) put(name, name)
    for (const name of ['.git/x', 'node_modules/y']) put(name, name)
    execFileSync('mkfifo', [join(folder, 'pipe')])
    fs.symlinkSync('/etc/passwd', join(folder, 'link'))
    fs.symlinkSync(folder, join(folder, 'circle'))
    const files = await (await openSource(folder)).list()
    expect(files.map(({ path }) => path)).toEqual(['B.jsonl', 'a.jsonl', 'a/z.jsonl', 'b.jsonl', 'ä.jsonl'])
  })

  it('finds nothing through a link that leads out of it', async () => {
    const outside = fs.mkdtempSync(join(os.tmpdir(), 'hansard-outside-'))
    fs.writeFileSync(join(outside, 'x.json'), 'secret')
    fs.symlinkSync(outside, join(folder, 'out'))
    fs.symlinkSync(join(outside, 'x.json'), join(folder, 'x.json'))
    put('in/x.json', 'mine')
    const source = await openSource(folder)
    expect(await source.find('out/x.json')).toBeUndefined()
    expect(await source.find('x.json')).toBeUndefined()
    expect(await source.find('../x.json')).toBeUndefined()
    expect(await source.find('in/x.json')).toBeDefined()
  })

  it('says which folders were too deep to look into', async () => {
    put(`${'d/'.repeat(12)}seen.jsonl`, '')
    put(`${'d/'.repeat(13)}unseen.jsonl`, '')
    const source = await openSource(folder)
    expect((await source.list()).map(({ path }) => path)).toEqual([`${'d/'.repeat(12)}seen.jsonl`])
    expect(source.damage()).toMatchObject([{ kind: 'missing', file: 'd/'.repeat(13).slice(0, -1) }])
  })

  it('does not follow a file that became a link after it was listed', async () => {
    const path = put('a.jsonl', 'mine')
    const [file] = await (await openSource(folder)).list()
    fs.rmSync(path)
    fs.symlinkSync('/etc/passwd', path)
    expect(await codeOf((file as SourceFile).bytes(1000))).toBe('unsafe-path')
  })
})

describe('gzip', () => {
  const text = Array.from({ length: 20_000 }, (_, i) => `{"n":${i},"x":"${(i * 7919) % 10007}"}`).join('\n')

  it('arrives unpacked, its members one after the other', async () => {
    const path = put('a.jsonl.gz', Buffer.concat([gzipSync(text), gzipSync('second'), gzipSync('')]))
    expect(await readFirst(path)).toEqual({ text: `${text}second`, damage: [] })
    const [file] = await (await openSource(path)).list()
    expect((await (file as SourceFile).head(6)).toString()).toBe('{"n":0')
  })

  it('gives what can be read of a file cut off at any byte, and says that it was', async () => {
    const whole = gzipSync(text.slice(0, 400))
    for (let length = 2; length < whole.length; length += 1) {
      const { text: got, damage } = await readFirst(put('cut.gz', whole.subarray(0, length)))
      expect(text.startsWith(got)).toBe(true)
      expect(damage).toHaveLength(1)
      if (length > whole.length - 8) expect(got).toBe(text.slice(0, 400))
    }
  })

  it('gives most of a large file that is cut off near its end', async () => {
    const whole = gzipSync(text)
    const { text: got, damage } = await readFirst(put('cut.gz', whole.subarray(0, whole.length - 100)))
    expect(text.startsWith(got)).toBe(true)
    expect(got.length).toBeGreaterThan(text.length * 0.95)
    expect(damage).toMatchObject([{ kind: 'torn', file: 'cut.gz', byteOffset: got.length }])
  })

  it('reports bytes changed in the middle', async () => {
    const changed = Buffer.from(gzipSync(text))
    changed.fill(0xff, changed.length >> 1, (changed.length >> 1) + 50)
    const { damage } = await readFirst(put('bad.gz', changed))
    expect(damage).toHaveLength(1)
  })

  it('refuses a bomb by its ratio, and still shows its head', async () => {
    const path = put('bomb.gz', gzipSync(Buffer.alloc(80 * 1024 * 1024)))
    const [file] = await (await openSource(path)).list()
    expect((await (file as SourceFile).head(4)).equals(Buffer.alloc(4))).toBe(true)
    const error = await readAll(file as SourceFile).catch((error: unknown) => error)
    expect(error).toMatchObject({ code: 'too-large', message: expect.stringContaining('200 times') })
  })
})

describe('zstd', () => {
  it('arrives unpacked, and a file cut off says so', async () => {
    // One frame: a block of five stored bytes, then a run of three.
    const whole = Buffer.from('28b52ffd0058280000', 'hex')
    const bytes = Buffer.concat([whole, Buffer.from('hello'), Buffer.from('1b000021', 'hex')])
    expect(await readFirst(put('a.jsonl.zst', bytes))).toEqual({ text: 'hello!!!', damage: [] })
    const cut = await readFirst(put('cut.jsonl.zst', bytes.subarray(0, bytes.length - 2)))
    expect(cut).toMatchObject({ text: 'hello', damage: [{ kind: 'torn', byteOffset: 5 }] })
  })
})

describe('a zip file', () => {
  it('is a folder when it is named, whatever its name, and a file inside a folder', async () => {
    const empty = Buffer.concat([Buffer.from('504b0506', 'hex'), Buffer.alloc(18)])
    const source = await openSource(put('export.bin', empty))
    expect(source.kind).toBe('folder')
    expect(await source.list()).toEqual([])
    expect(source.damage()).toEqual([])
    expect((await (await openSource(folder)).list()).map(({ path }) => path)).toEqual(['export.bin'])
  })
})

describe('an SQLite database', () => {
  it('is read where it lies, and packed', async () => {
    const database = await openDatabase(join(folder, 'a.db'))
    database.exec('CREATE TABLE t (a); INSERT INTO t VALUES (1)')
    database.close()
    put('a.db.gz', gzipSync(fs.readFileSync(join(folder, 'a.db'))))
    const source = await openSource(folder)
    for (const name of ['a.db', 'a.db.gz']) {
      const opened = await (await source.find(name))?.database?.()
      expect(opened?.tables()).toEqual(['t'])
      for await (const rows of opened?.rows('t') ?? []) expect(rows).toEqual([{ a: 1 }])
      await opened?.close()
    }
    const text = await (await openSource(put('a.txt', 'no database'))).list()
    const none = await (text[0] as SourceFile).database?.()
    expect(none?.tables()).toEqual([])
    expect(source.damage()).toEqual([])
  })
})
