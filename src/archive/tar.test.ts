import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readTar, tarEnd, tarHeader, tarPadding, type TarLimits } from './tar.ts'

const LIMITS = { maxBytes: 1_000_000, maxFiles: 100 }

describe('tar', () => {
  it('reads what it writes, in chunks cut anywhere', async () => {
    const name = fc.stringMatching(/^[a-zé-]{1,60}$/u)
    const path = fc.array(name, { minLength: 1, maxLength: 8 }).map((parts) => parts.join('/'))
    const files = fc.uniqueArray(fc.tuple(path, fc.uint8Array({ maxLength: 1500 })), {
      selector: ([path]) => path,
      maxLength: 4,
    })
    await fc.assert(
      fc.asyncProperty(files, fc.integer({ min: 1, max: 2000 }), async (files, size) => {
        expect(await unpack(pack(files), size)).toEqual(
          files.map(([path, bytes]) => [path, Buffer.from(bytes).toString('hex')]),
        )
      }),
      { numRuns: 60 },
    )
  })

  it('is what the tar command takes, long names too', () => {
    const folder = fs.mkdtempSync(join(tmpdir(), 'tar-'))
    const long = `r/${'n'.repeat(90)}/${'m'.repeat(120)}.json`
    fs.writeFileSync(
      join(folder, 'x.tar'),
      pack([
        ['r/a.txt', Buffer.from('hello')],
        [long, Buffer.from('long')],
      ]),
    )
    execFileSync('tar', ['-xf', 'x.tar'], { cwd: folder })
    expect(fs.readFileSync(join(folder, 'r/a.txt'), 'utf8')).toBe('hello')
    expect(fs.readFileSync(join(folder, long), 'utf8')).toBe('long')
  })

  it('takes what the tar command makes', async () => {
    const folder = fs.mkdtempSync(join(tmpdir(), 'tar-'))
    fs.mkdirSync(join(folder, 'r/sub'), { recursive: true })
    fs.writeFileSync(join(folder, 'r/sub/a.txt'), 'hello')
    execFileSync('tar', ['--format=ustar', '-cf', 'x.tar', 'r'], { cwd: folder })
    expect(await unpack(fs.readFileSync(join(folder, 'x.tar')), 700)).toEqual([
      ['r/sub/a.txt', Buffer.from('hello').toString('hex')],
    ])
  })

  it.each(['/etc/passwd', '../x', 'a/../../x', 'a//b', './a', 'a\\..\\b', 'a\0b', ''])(
    'neither writes nor reads the path %j',
    async (path) => {
      expect(() => tarHeader({ path, sizeBytes: 0, modified: 0 })).toThrow(
        expect.objectContaining({ code: 'unsafe-path' }),
      )
      if (path.includes('\0')) return
      await expect(unpack(Buffer.concat([forged({ path }), tarEnd()]))).rejects.toMatchObject({
        code: 'unsafe-path',
      })
    },
  )

  it.each(['1', '2', '3', '4', '6', 'L', 'K'])(
    'does not unpack links, devices and other kinds (%s)',
    async (type) => {
      await expect(unpack(Buffer.concat([forged({ type }), tarEnd()]))).rejects.toMatchObject({
        code: 'unsafe-path',
      })
    },
  )

  it('refuses sizes over the limit before it gives a byte', async () => {
    await expect(unpack(Buffer.concat([forged({ size: '77777777777' }), tarEnd()]))).rejects.toMatchObject({
      code: 'too-large',
    })
    const many = Array.from({ length: 101 }, (_, index): [string, Buffer] => [`f${index}`, Buffer.alloc(0)])
    await expect(unpack(pack(many))).rejects.toMatchObject({ code: 'too-large' })
  })

  it('never gives half an archive for a whole one, wherever it is cut', async () => {
    const whole = pack([
      ['r/a', Buffer.from('hello')],
      ['r/b', Buffer.from('x'.repeat(600))],
    ])
    const lastBlock = whole.length - 512
    for (let size = 0; size < lastBlock; size += 7)
      await expect(unpack(whole.subarray(0, size))).rejects.toMatchObject({ code: 'not-a-transcript' })
  })

  it('of other programs passes over what it must not unpack, tells of it, and gives the rest', async () => {
    const body = Buffer.from('x'.repeat(600))
    const bad = forged({ path: '../up', size: body.length.toString(8).padStart(11, '0') })
    const sparse = Buffer.from('22 GNU.sparse.major=1\n')
    const pax = Buffer.concat([
      forged({ path: 'pax', type: 'x', size: sparse.length.toString(8).padStart(11, '0') }),
      sparse,
      tarPadding(sparse.length),
    ])
    const whole = Buffer.concat([
      bad,
      body,
      tarPadding(body.length),
      forged({ path: 'r/link', type: '2' }),
      pax,
      forged({ path: 'r/holes' }),
      pack([['r/a', Buffer.from('hello')]]),
    ])
    const told: [string, string][] = []
    const limits = { ...LIMITS, passedOver: (path: string, why: string) => void told.push([path, why]) }
    expect(await unpack(whole, 512, limits)).toEqual([['r/a', Buffer.from('hello').toString('hex')]])
    expect(told).toEqual([
      ['../up', 'unsafe-path'],
      ['r/link', 'link'],
      ['r/holes', 'sparse'],
    ])
    await expect(unpack(whole)).rejects.toMatchObject({ code: 'unsafe-path' })
  })

  it('notices every flipped bit of a header', async () => {
    const whole = pack([['r/a', Buffer.from('hello')]])
    for (let bit = 0; bit < 512 * 8; bit += 1) {
      const bytes = Buffer.from(whole)
      bytes[bit >> 3] = (bytes[bit >> 3] as number) ^ (1 << (bit & 7))
      const read = await unpack(bytes).then(
        (files) => files,
        () => 'refused',
      )
      // Flips in the checksum's own padding change nothing.
      if (read !== 'refused') expect(read).toEqual([['r/a', Buffer.from('hello').toString('hex')]])
    }
  })
})

function pack(files: readonly (readonly [string, Uint8Array])[]): Buffer {
  const parts = files.flatMap(([path, bytes]) => [
    tarHeader({ path, sizeBytes: bytes.length, modified: 1_736_937_000 }),
    Buffer.from(bytes),
    tarPadding(bytes.length),
  ])
  return Buffer.concat([...parts, tarEnd()])
}

async function unpack(bytes: Buffer, chunk = 512, limits: TarLimits = LIMITS): Promise<[string, string][]> {
  const chunks = async function* (): AsyncGenerator<Buffer> {
    for (let from = 0; from < bytes.length; from += chunk) yield bytes.subarray(from, from + chunk)
  }
  const files: [string, Buffer[]][] = []
  for await (const item of readTar(chunks(), limits)) {
    if (item.type === 'file') files.push([item.entry.path, []])
    else files.at(-1)?.[1].push(item.bytes)
  }
  return files.map(([path, parts]) => [path, Buffer.concat(parts).toString('hex')])
}

/** A header somebody made by hand, with a right checksum. */
function forged({ path = 'r/a', type = '0', size = '00000000000' }): Buffer {
  const block = tarHeader({ path: 'r/a', sizeBytes: 0, modified: 0 })
  block.fill(0, 0, 100)
  block.write(path, 0)
  block.write(type, 156)
  block.write(size, 124)
  block.fill(0x20, 148, 156)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return block
}
