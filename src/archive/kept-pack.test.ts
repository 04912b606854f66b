import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createDisk, withFault } from '../../test/faulty-files.ts'
import { openArchive } from './archive.ts'
import { openKept, type KeptPlace } from './kept.ts'
import { packCold } from './kept-cold.ts'
import { acquireLock } from './lock.ts'

function setup(): { readonly root: string; readonly place: KeptPlace } {
  const folder = fs.mkdtempSync(join(os.tmpdir(), 'pack-'))
  const root = join(folder, 'source')
  fs.mkdirSync(root)
  return { root, place: openKept(openArchive(join(folder, 'home'), { write: true })).place('pi', root) }
}

/** Lines of words, some of them longer than a member. */
function sample(bytes: number): Buffer {
  const lines: string[] = []
  for (let at = 0, held = 0; held < bytes; at += 1) {
    const line = `${JSON.stringify({ at, text: `line ${at} `.repeat(at % 97 === 50 ? 200_000 : (at * 7919) % 300) })}\n`
    lines.push(line)
    held += line.length
  }
  return Buffer.from(lines.join(''))
}

const content = sample(5_000_000)

async function keepPacked(): Promise<{ root: string; place: KeptPlace; file: string; packed: string }> {
  const { root, place } = setup()
  const file = join(root, 'x.jsonl')
  fs.writeFileSync(file, content)
  const at = new Date(Date.now() - 60_000)
  fs.utimesSync(file, at, at)
  await place.keep('x.jsonl', { file })
  expect(await place.pack('x.jsonl')).toBe(true)
  return { root, place, file, packed: join(place.folder, 'packed/x.jsonl.gz') }
}

describe('a packed file', () => {
  it('is smaller, private, read by zcat and by us as what it was', async () => {
    const { place, packed, file } = await keepPacked()
    expect(fs.existsSync(join(place.folder, 'files/x.jsonl'))).toBe(false)
    expect(fs.statSync(packed).mode & 0o777).toBe(0o600)
    expect(fs.statSync(packed).size).toBeLessThan(content.length / 3)
    expect(execFileSync('gzip', ['-dc', packed], { maxBuffer: 1e9 }).equals(content)).toBe(true)
    expect((await place.file('x.jsonl')?.bytes(1e9))?.equals(content)).toBe(true)
    expect(place.file('x.jsonl')?.modifiedAt).toBe(fs.statSync(file).mtime.toISOString())
    const paths: string[] = []
    for await (const path of place.paths()) paths.push(path)
    expect(paths).toEqual(['x.jsonl'])
    expect(await place.pack('x.jsonl')).toBe(false)
  })

  it('is found by who had it before it was packed', async () => {
    const { root, place } = setup()
    fs.writeFileSync(join(root, 'x.jsonl'), content)
    await place.keep('x.jsonl', { file: join(root, 'x.jsonl') })
    const file = place.file('x.jsonl')
    expect((await file?.head(100))?.equals(content.subarray(0, 100))).toBe(true)
    expect(await place.pack('x.jsonl')).toBe(true)
    expect((await file?.bytes(1e9))?.equals(content)).toBe(true)
  })

  it('is given in chunks that pass as in chunks that stay, packed or not, by several at a time', async () => {
    const { root, place } = setup()
    for (const name of ['plain', 'packed']) {
      fs.writeFileSync(join(root, name), content)
      await place.keep(name, { file: join(root, name) })
    }
    expect(await place.pack('packed')).toBe(true)
    const passing = async (name: string): Promise<Buffer> => {
      const parts: Buffer[] = []
      for await (const chunk of place.file(name)?.chunks({ isPassing: true }) ?? [])
        parts.push(Buffer.from(chunk))
      return Buffer.concat(parts)
    }
    const all = await Promise.all(['plain', 'packed', 'plain'].map(passing))
    for (const one of all) expect(one.equals(content)).toBe(true)
  })

  it('gives any bytes by where they are uncompressed', async () => {
    const { place } = await keepPacked()
    await fc.assert(
      fc.asyncProperty(fc.nat(content.length + 10), fc.nat(3_000_000), async (offset, length) => {
        const there = await place.readAt('x.jsonl', undefined, offset, length)
        return there.equals(content.subarray(offset, offset + length))
      }),
      { numRuns: 40 },
    )
  })

  it('reads no byte of a source that did not change, and the suffix of one that grew', async () => {
    const { place, file } = await keepPacked()
    expect(await place.keep('x.jsonl', { file })).toMatchObject({ change: 'none', bytesRead: 0 })
    fs.appendFileSync(file, 'more\n')
    expect(await place.keep('x.jsonl', { file })).toMatchObject({ change: 'grown', bytesRead: 4096 + 5 })
    expect((await place.file('x.jsonl')?.bytes(1e9))?.equals(fs.readFileSync(file))).toBe(true)
    expect(fs.readdirSync(join(place.folder, 'packed'))).toEqual([])
  })

  it('becomes an older version as it is', async () => {
    const { place, file } = await keepPacked()
    fs.writeFileSync(file, 'other\n')
    expect((await place.keep('x.jsonl', { file })).change).toBe('rewritten')
    expect(place.versions('x.jsonl')).toEqual([1])
    expect((await place.file('x.jsonl', 1)?.bytes(1e9))?.equals(content)).toBe(true)
    expect(fs.readdirSync(join(place.folder, 'older'))).toEqual(['x.jsonl.1.gz'])
    place.drop('x.jsonl', 1)
    expect(place.versions('x.jsonl')).toEqual([])
  })

  it('packs older versions too, and leaves alone what would not get smaller', async () => {
    const { root, place } = setup()
    const file = join(root, 'x')
    for (const text of [`${'a'.repeat(9999)}\n`, 'b']) {
      fs.writeFileSync(file, text)
      await place.keep('x', { file })
    }
    expect(await place.pack('x')).toBe(true)
    expect(fs.readdirSync(join(place.folder, 'older'))).toEqual(['x.1.gz'])
    expect(fs.readdirSync(join(place.folder, 'files'))).toEqual(['x'])
    expect((await place.file('x', 1)?.bytes(1e9))?.length).toBe(10_000)
  })

  it('says where it is damaged; what lies before can still be had while the table is whole', async () => {
    const { place, packed } = await keepPacked()
    const bytes = fs.readFileSync(packed)
    bytes[bytes.length - 40] = (bytes[bytes.length - 40] as number) ^ 0xff
    fs.writeFileSync(packed, bytes)
    expect((await place.readAt('x.jsonl', undefined, 0, 1000)).equals(content.subarray(0, 1000))).toBe(true)
    await expect(place.file('x.jsonl')?.bytes(1e9)).rejects.toThrow('is damaged at byte')
    fs.truncateSync(packed, 1000)
    await expect(place.readAt('x.jsonl', undefined, 0, 10)).rejects.toThrow('is damaged at byte')
  })

  it('is there whole, or the plain one is, wherever packing stops', async () => {
    const text = Buffer.from('some line\n'.repeat(1000))
    for (let at = 1; ; at += 1) {
      const disk = createDisk()
      const keep = openKept(openArchive('/home', { write: true, files: disk.files })).place('pi', '/source')
      await keep.keep('x', {
        async *chunks() {
          yield text
        },
      })
      const faulty = withFault(disk, { at, kind: 'crash', sticky: true })
      const place = openKept({ ...openArchive('/home', { files: disk.files }), files: faulty.files }).place(
        'pi',
        '/source',
      )
      await place.pack('x').catch(() => false)
      const again = openKept(openArchive('/home', { files: disk.files })).place('pi', '/source')
      expect((await again.file('x')?.bytes(1e9))?.equals(text)).toBe(true)
      if (faulty.calls() < at) break
    }
  })
})

describe('packing what has gone cold', () => {
  it('packs what is older than asked, older versions with it, and says what that saved', async () => {
    const folder = fs.mkdtempSync(join(os.tmpdir(), 'pack-cold-'))
    const root = join(folder, 'source')
    fs.mkdirSync(root)
    const archive = openArchive(join(folder, 'home'), { write: true })
    const place = openKept(archive).place('pi', root)
    const write = async (name: string, text: string, day: string): Promise<void> => {
      fs.writeFileSync(join(root, name), text)
      fs.utimesSync(join(root, name), new Date(day), new Date(day))
      await place.keep(name, { file: join(root, name) })
    }
    const [one, two] = ['one\n'.repeat(5000), 'two\n'.repeat(4000)]
    await write('old.jsonl', one, '2026-01-01')
    await write('old.jsonl', two, '2026-01-02')
    await write('young.jsonl', one, '2026-06-01')
    expect(place.bytesHeld('old.jsonl')).toBe(one.length + two.length)

    const packed = await packCold(archive, '2026-03-01T00:00:00.000Z', (path, reason) => {
      throw new Error(`${path}: ${reason}`)
    })
    const left = place.bytesHeld('old.jsonl')
    expect(packed).toEqual({
      files: 1,
      bytes: one.length + two.length,
      saved: one.length + two.length - left,
    })
    expect(left).toBeLessThan(1000)
    expect((await place.file('old.jsonl', 1)?.bytes(1e6))?.toString()).toBe(one)
    expect((await place.file('old.jsonl')?.bytes(1e6))?.toString()).toBe(two)
    expect(fs.existsSync(join(place.folder, 'files/young.jsonl'))).toBe(true)
    expect(await packCold(archive, '2026-03-01T00:00:00.000Z', () => {})).toEqual({
      files: 0,
      bytes: 0,
      saved: 0,
    })

    const release = acquireLock(archive.files, archive.home)
    await expect(packCold(archive, '2026-03-01', () => {})).rejects.toMatchObject({ code: 'locked' })
    release()
  })
})
