import { execFileSync } from 'node:child_process'
import zlib from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isZstd, unzstd } from './zstd.ts'
import { javaScriptDecoder } from './zstd-javascript.ts'

const MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])
/** `a` × 200,000 as two runs of one byte, and `tail` stored as it is: written by hand, so no compressor is needed. */
const RUNS = frame([run('a', 131_072), run('a', 68_928)], 0x58)
const hasNative = Reflect.has(zlib, 'createZstdDecompress')
const decoders = hasNative ? [undefined, javaScriptDecoder] : [javaScriptDecoder]

function block(type: number, size: number, content: Buffer): Buffer {
  const header = Buffer.alloc(3)
  header.writeUIntLE((size << 3) | (type << 1), 0, 3)
  return Buffer.concat([header, content])
}
function run(letter: string, size: number): Buffer {
  return block(1, size, Buffer.from(letter))
}
function stored(text: string): Buffer {
  return block(0, Buffer.byteLength(text), Buffer.from(text))
}
/** Blocks behind a header with a window descriptor; the last one marked as such. */
function frame(blocks: readonly Buffer[], windowDescriptor: number): Buffer {
  const last = Buffer.from(blocks.at(-1) as Buffer)
  last[0] = (last[0] as number) | 1
  return Buffer.concat([MAGIC, Buffer.from([0, windowDescriptor]), ...blocks.slice(0, -1), last])
}

async function unpack(
  bytes: Buffer,
  {
    step = bytes.length,
    decoder,
  }: { step?: number; decoder?: (() => never) | typeof javaScriptDecoder } = {},
): Promise<{ out: Buffer; stopped: readonly [number, string][] }> {
  const stopped: [number, string][] = []
  const pieces = (async function* () {
    for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step)
  })()
  const options = {
    name: 'a.zst',
    sizeBytes: bytes.length,
    stopped: (at: number, reason: string) => void stopped.push([at, reason]),
  }
  const out: Buffer[] = []
  for await (const piece of unzstd(pieces, options, decoder?.())) out.push(piece)
  return { out: Buffer.concat(out), stopped }
}

function compress(text: Buffer, ...options: string[]): Buffer {
  return execFileSync('zstd', ['-q', '-c', ...options], { input: text, maxBuffer: 2 ** 30 })
}
const hasProgram = (() => {
  try {
    return compress(Buffer.from('x')).length > 0
  } catch {
    return false
  }
})()

const lines = Buffer.from(
  Array.from({ length: 30_000 }, (_, i) => `{"n":${i},"x":"${(i * 7919) % 10_007}"}`).join('\n'),
)

describe('zstd', () => {
  it('is known by its first bytes, also behind a frame that is to be skipped', () => {
    expect(isZstd(RUNS)).toBe(true)
    expect(isZstd(Buffer.from([0x5a, 0x2a, 0x4d, 0x18]))).toBe(true)
    expect(isZstd(Buffer.from('{"a"'))).toBe(false)
    expect(isZstd(MAGIC.subarray(0, 3))).toBe(false)
  })
})

describe.each(decoders.map((decoder) => [decoder === undefined ? 'Node' : 'JavaScript', decoder] as const))(
  'zstd, decoded by %s',
  (_, decoder) => {
    const with_ = decoder === undefined ? {} : { decoder }

    it('gives every frame, and nothing of the frames that are to be skipped', async () => {
      const skipped = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3])
      const bytes = Buffer.concat([skipped, frame([stored('one')], 0), RUNS, skipped, frame([stored('')], 0)])
      for (const step of [1, 7, bytes.length]) {
        const { out, stopped } = await unpack(bytes, { ...with_, step })
        expect(out.toString() === `one${'a'.repeat(200_000)}`).toBe(true)
        expect(stopped).toEqual([])
      }
    })

    it('gives the whole blocks of a stream cut off at any byte, and says that it was', async () => {
      const whole = Buffer.concat([
        frame([stored('one'), stored('two'), run('x', 5)], 0),
        frame([stored('end')], 0),
      ])
      for (let length = 1; length < whole.length; length += 1) {
        const { out, stopped } = await unpack(whole.subarray(0, length), with_)
        const text = out.toString()
        expect('onetwoxxxxxend'.startsWith(text)).toBe(true)
        expect(text.length).toBeGreaterThanOrEqual(length >= 18 ? 6 : length >= 12 ? 3 : 0)
        // Between two frames nothing is missing that could be missed.
        expect(stopped).toEqual(length === 22 ? [] : [[text.length, expect.stringContaining('breaks off')]])
      }
    })

    it('refuses a bomb by its ratio', async () => {
      const bomb = frame(
        Array.from({ length: 1000 }, () => run('a', 131_072)),
        0x58,
      )
      await expect(unpack(bomb, with_)).rejects.toMatchObject({ code: 'too-large' })
    })

    it('allocates nothing for a header that asks for gigabytes', async () => {
      expect(await unpack(frame([stored('one')], 0xff), with_)).toMatchObject({
        stopped: [[0, expect.stringContaining('bytes of memory')]],
      })
      const declared = Buffer.concat([MAGIC, Buffer.from([0xe0]), Buffer.alloc(8, 0x7f), stored('one')])
      expect((await unpack(declared, with_)).stopped).toHaveLength(1)
    })

    it('says when a dictionary is needed, a block is none, or bytes follow that are no frame', async () => {
      const dictionary = Buffer.concat([MAGIC, Buffer.from([1, 0, 7]), stored('one')])
      expect((await unpack(dictionary, with_)).stopped[0]?.[1]).toContain('dictionary')
      expect((await unpack(frame([block(3, 0, Buffer.alloc(0))], 0), with_)).stopped).toHaveLength(1)
      const trailed = await unpack(Buffer.concat([frame([stored('one')], 0), Buffer.from('no frame')]), with_)
      expect(trailed).toMatchObject({ stopped: [[3, expect.stringContaining('no frame')]] })
      expect(trailed.out.toString()).toBe('one')
    })

    it('never throws, whatever the bytes', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.uint8Array({ maxLength: 200 }),
          fc.integer({ min: 0, max: 3 }),
          async (bytes, type) => {
            const content = Buffer.from(bytes)
            await unpack(Buffer.concat([MAGIC, content]), with_)
            await unpack(frame([stored('one'), block(type, content.length, content)], 0x58), with_)
          },
        ),
        { numRuns: 100 },
      )
    })

    it.runIf(hasProgram)('gives what the zstd program packed, at several levels', async () => {
      for (const options of [['-1'], ['-3', '--no-check'], ['-6', '--long=23']]) {
        const { out, stopped } = await unpack(compress(lines, ...options), { ...with_, step: 4096 })
        expect(stopped).toEqual([])
        expect(out.equals(lines)).toBe(true)
      }
    })

    it.runIf(hasProgram)('reports bytes changed in the middle, and gives what came before', async () => {
      const changed = compress(lines)
      changed.fill(0xff, changed.length >> 1, (changed.length >> 1) + 50)
      const { out, stopped } = await unpack(changed, with_)
      expect(stopped).toHaveLength(1)
      expect(out.subarray(0, 100_000).equals(lines.subarray(0, 100_000))).toBe(true)
    })
  },
)

describe('the decoder in JavaScript', () => {
  it('ends a block that would keep it busy for minutes', async () => {
    // No literals, 98,047 sequences, each a copy of 65,539 bytes: tables of one symbol, so they take no bits at all.
    const sequences = Buffer.from([0x00, 0xff, 0xff, 0xff, 0x54, 0, 0, 52, 1])
    const bytes = frame([stored('one'), ...Array.from({ length: 40 }, () => block(2, 9, sequences))], 0x58)
    const { out, stopped } = await unpack(bytes, { decoder: javaScriptDecoder })
    expect(out.toString()).toBe('one')
    expect(stopped).toEqual([[3, expect.stringContaining('too long')]])
  })
})
