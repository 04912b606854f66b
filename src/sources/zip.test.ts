import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { crc32, deflateRawSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Damage } from '../transcript/damage.ts'
import type { SourceFile } from '../transcript/source.ts'
import { openZip } from './zip.ts'

let path: string
let damage: Damage[]
beforeEach(() => {
  path = join(fs.mkdtempSync(join(os.tmpdir(), 'hansard-zip-')), 'a.zip')
  damage = []
})

type Made = {
  readonly name: string
  readonly content: Buffer | string
  readonly stored?: boolean
  readonly flags?: number
  readonly method?: number
  readonly mode?: number
  /** Sizes and offset in fields of 64 bits. */
  readonly large?: boolean
}

function zip(entries: readonly Made[]): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const { name, content, stored = false, flags = 0, method, mode = 0, large = false } of entries) {
    const plain = Buffer.from(content)
    const packed = stored ? plain : deflateRawSync(plain)
    const local = Buffer.alloc(30)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt16LE(Buffer.byteLength(name), 26)
    const central = Buffer.alloc(46)
    central.writeUInt32LE(0x02014b50, 0)
    central[5] = 3
    central.writeUInt16LE(flags, 8)
    central.writeUInt16LE(method ?? (stored ? 0 : 8), 10)
    central.writeUInt16LE(0x5a21, 14)
    central.writeUInt32LE(crc32(plain), 16)
    central.writeUInt32LE(large ? 0xffffffff : packed.length, 20)
    central.writeUInt32LE(large ? 0xffffffff : plain.length, 24)
    central.writeUInt16LE(Buffer.byteLength(name), 28)
    central.writeUInt16LE(large ? 28 : 0, 30)
    central.writeUInt16LE(mode, 40)
    central.writeUInt32LE(large ? 0xffffffff : at, 42)
    const extra = Buffer.alloc(large ? 28 : 0)
    if (large) {
      extra.writeUInt16LE(1, 0)
      extra.writeUInt16LE(24, 2)
      for (const [index, value] of [plain.length, packed.length, at].entries()) {
        extra.writeBigUInt64LE(BigInt(value), 4 + index * 8)
      }
    }
    parts.push(local, Buffer.from(name), packed)
    directory.push(central, Buffer.from(name), extra)
    at += 30 + Buffer.byteLength(name) + packed.length
  }
  const bytes = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(bytes.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...parts, bytes, end])
}

async function contents(bytes: Buffer): Promise<Record<string, string>> {
  damage = []
  fs.writeFileSync(path, bytes)
  const source = openZip(path, (found) => void damage.push(found))
  const all: [string, string][] = []
  for (const file of await source.list()) all.push([file.path, (await file.bytes(1e9)).toString('latin1')])
  return Object.fromEntries(all)
}

const text = Array.from({ length: 5000 }, (_, i) => `{"n":${i},"x":${(i * 7919) % 10_007}}`).join('\n')

describe('a zip file', () => {
  it('is a folder of its entries, stored or deflated, sorted', async () => {
    const bytes = zip([
      { name: 'b/c.jsonl', content: text },
      { name: 'b/', content: '', stored: true },
      { name: 'a.txt', content: 'stored', stored: true },
      { name: 'empty', content: '', stored: true },
      { name: './large\\field', content: 'x', large: true },
      { name: 'log.gz', content: gzipSync('packed twice'), stored: true },
    ])
    expect(await contents(bytes)).toEqual({
      'a.txt': 'stored',
      'b/c.jsonl': text,
      empty: '',
      'large/field': 'x',
      'log.gz': 'packed twice',
    })
    expect(damage).toEqual([])
    const source = openZip(path, () => {})
    const found = await source.find('b/../a.txt')
    expect(found).toMatchObject({ path: 'a.txt', sizeBytes: 6, modifiedAt: '2025-01-01T00:00:00.000Z' })
    expect((await (found as SourceFile).head(3)).toString()).toBe('sto')
    expect(await source.find('../a.txt')).toBeUndefined()
  })

  it('gives no name that leads out of it, no links, nothing encrypted, and says so', async () => {
    const names = ['/etc/passwd', '../up', 'a/../../up', 'C:\\x', '..\\up', 'nul\0', '']
    const files = await contents(
      zip([
        ...names.map((name) => ({ name, content: 'x' })),
        { name: 'secret', content: 'x', flags: 1 },
        { name: 'lzma', content: 'x', method: 14 },
        { name: 'link', content: '/etc/passwd', mode: 0o120777 },
        { name: 'fine', content: 'y' },
      ]),
    )
    expect(files).toEqual({ fine: 'y' })
    expect(damage).toHaveLength(names.length + 2)
  })

  it('reads the last of two entries with one name, and says so', async () => {
    expect(
      await contents(
        zip([
          { name: 'a', content: 'old' },
          { name: './a', content: 'new' },
        ]),
      ),
    ).toEqual({ a: 'new' })
    expect(damage).toMatchObject([{ kind: 'missing', file: 'a' }])
  })

  it('refuses a bomb by its ratio, and still shows its head', async () => {
    fs.writeFileSync(path, zip([{ name: 'bomb', content: Buffer.alloc(80 * 1024 * 1024) }]))
    const [file] = await openZip(path, () => {}).list()
    expect((await (file as SourceFile).head(4)).equals(Buffer.alloc(4))).toBe(true)
    await expect((file as SourceFile).bytes(1e9)).rejects.toMatchObject({ code: 'too-large' })
  })

  it('refuses entries that lie over each other', async () => {
    const bytes = zip(Array.from({ length: 4 }, (_, i) => ({ name: `${i}`, content: text })))
    const [end, size] = [bytes.length - 22, deflateRawSync(Buffer.from(text)).length]
    for (let at = bytes.readUInt32LE(end + 16); at < end; at += 47) {
      bytes.writeUInt32LE(0, at + 42)
      bytes.writeUInt32LE(size * 3, at + 20)
    }
    await expect(contents(bytes)).rejects.toMatchObject({ code: 'too-large' })
  })

  it('says when bytes changed, and when an entry is not where it should be', async () => {
    const bytes = zip([{ name: 'a', content: 'abcdef', stored: true }])
    bytes[33] = (bytes[33] as number) ^ 1
    await contents(bytes)
    expect(damage).toMatchObject([{ kind: 'checksum', file: 'a' }])
    bytes.fill(0, 0, 4)
    expect(await contents(bytes)).toEqual({ a: '' })
    expect(damage).toMatchObject([{ kind: 'torn', file: 'a' }])
  })

  it('cut off at any byte, or with anything changed, ends with a report and never throws ours aside', async () => {
    const whole = zip([
      { name: 'a', content: 'first' },
      { name: 'b', content: 'second', stored: true },
    ])
    for (let length = 0; length < whole.length; length += 1) {
      expect(await contents(whole.subarray(0, length))).toEqual({})
      expect(damage).toHaveLength(1)
    }
    await fc.assert(
      fc.asyncProperty(
        fc.nat(whole.length - 1),
        fc.uint8Array({ minLength: 1, maxLength: 8 }),
        async (at, noise) => {
          const changed = Buffer.from(whole)
          changed.set(noise.subarray(0, whole.length - at), at)
          await contents(changed).catch((error: unknown) =>
            expect(error).toMatchObject({ code: 'too-large' }),
          )
        },
      ),
      { numRuns: 200 },
    )
  })

  it('refuses to list more entries than a machine should hold', async () => {
    const end = zip([])
    end.writeUInt16LE(0xfffe, 10)
    expect(await contents(end)).toEqual({})
    expect(damage).toHaveLength(1)
  })

  it('reads a directory of any length in pieces, and reports names that no system could open', async () => {
    const long = Array.from({ length: 40 }, (_, n) => ({ name: `${n}-${'x'.repeat(60_000)}`, content: 'x' }))
    const fine = Array.from({ length: 40 }, (_, n) => ({
      name: `fine/${n}-${'y'.repeat(4000)}`,
      content: `${n}`,
    }))
    const files = await contents(zip(long.flatMap((one, n) => [one, fine[n] as Made])))
    expect(files).toEqual(Object.fromEntries(fine.map(({ name, content }) => [name, content])))
    expect(damage).toHaveLength(long.length)
    expect(damage[7]).toMatchObject({ kind: 'missing', file: long[7]?.name.slice(0, 200) })
  })

  it('refuses names that together fill memory', async () => {
    const name = 'n'.repeat(4000)
    const many = Array.from({ length: 4300 }, (_, n) => ({ name: `${n}${name}`, content: '', stored: true }))
    await expect(contents(zip(many))).rejects.toMatchObject({
      code: 'too-large',
      message: expect.stringContaining('names of more than'),
    })
  })

  const hasProgram = (() => {
    try {
      return execFileSync('zip', ['-v']).length > 0
    } catch {
      return false
    }
  })()
  it.runIf(hasProgram)('made by the zip program reads back, also when it was streamed', async () => {
    const folder = join(path, '..')
    fs.writeFileSync(join(folder, 'in.jsonl'), text)
    execFileSync('zip', ['-q', path, 'in.jsonl'], { cwd: folder })
    expect(await contents(fs.readFileSync(path))).toEqual({ 'in.jsonl': text })
    const streamed = execFileSync('zip', ['-q', '-', '-'], { input: text, maxBuffer: 1e9 })
    expect(Object.values(await contents(streamed))).toEqual([text])
    expect(damage).toEqual([])
  })
})
