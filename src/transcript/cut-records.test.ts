import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { heldBytes } from '../../test/held-bytes.ts'
import { readCutRecords, type Known } from './cut-records.ts'
import { codeOfCut } from './cut-strings-code.ts'
import { createCutter, LINES_AT, STAND_IN, type Cutter } from './cut-strings.ts'
import { isObject, type Json } from './json.ts'
import { createLineShapes, shapeOf, type LineShape } from './line-shapes.ts'
import { readRecords, type JsonRecord, type RecordBatch } from './records.ts'
import type { SourceFile } from './source.ts'
import { PAGE_BYTES } from './wasm-code.ts'

const cutter = createCutter(codeOfCut({ keys: ['content'], whole: 'input', longest: 20 })) as Cutter

function fileOf(bytes: Buffer, chunk: number): SourceFile {
  return {
    path: 'log.jsonl',
    sizeBytes: bytes.length,
    modifiedAt: '2026-01-01T00:00:00.000Z',
    head: async (most) => bytes.subarray(0, most),
    bytes: async () => bytes,
    async *chunks({ isPassing = false } = {}) {
      for (let at = 0; at < bytes.length; at += chunk) {
        const given = Buffer.from(bytes.subarray(at, at + chunk))
        yield given
        // Who asked for it so may not look at it any more.
        if (isPassing) given.fill('"')
      }
    },
  }
}

type Seen = { readonly records: readonly object[]; readonly damage: readonly object[] }

async function all(batches: AsyncIterable<RecordBatch>): Promise<{ seen: readonly Seen[]; cuts: number }> {
  const seen: Seen[] = []
  let cuts = 0
  for await (const { records, damage } of batches) {
    seen.push({ records: records.map(plain), damage: [...damage] })
    const whole = records.filter((record) => record.whole === undefined)
    expect(whole.some(({ value }) => hasStandIn(value))).toBe(false)
    cuts += records.length - whole.length
  }
  return { seen, cuts }
}

/** As it is whole, without its text, which is cut as well. */
function plain({ number, byteOffset, byteLength, value, whole }: JsonRecord): object {
  return { number, byteOffset, byteLength, value: whole?.() ?? value }
}

function hasStandIn(value: Json): boolean {
  if (Array.isArray(value)) return value.some((one: Json) => hasStandIn(one))
  return isObject(value) ? Object.values(value).some(hasStandIn) : value === STAND_IN
}

async function isSame(bytes: Buffer, chunk: number): Promise<number> {
  const cut = await all(readCutRecords(fileOf(bytes, chunk), cutter))
  expect(cut.seen).toEqual((await all(readRecords(fileOf(bytes, chunk)))).seen)
  return cut.cuts
}

const line = fc.oneof(
  fc
    .record({
      type: fc.constantFrom('user', 'é'),
      content: fc.string({ maxLength: 60, size: 'max' }),
      input: fc.record({ content: fc.string({ maxLength: 60, size: 'max' }) }),
    })
    .map((one) => JSON.stringify(one)),
  fc.constantFrom(
    '',
    '   ',
    '[1,2]',
    '7',
    '{"a":1',
    'no json',
    '\0\0\0',
    '{"type":"x","con{"type":"user","content":"fused"}',
    ' {"content":"behind a space, and long enough"}',
    '{"content" : "a colon that stands apart"}\r',
    '{"content":"漢字漢字漢字漢字漢字漢字漢字"}',
    `{"content":"${'\\n'.repeat(30)}"}`,
    '\uFEFF{"content":"a byte order mark before it"}',
  ),
)

describe('records whose long strings are cut', () => {
  it('are the records, whatever lines there are and wherever chunks end', async () => {
    let cuts = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 12 }),
        fc.integer({ min: 1, max: 300 }),
        fc.constantFrom('\n', '\r\n'),
        fc.boolean(),
        async (lines, chunk, ending, isEnded) => {
          cuts += await isSame(Buffer.from(lines.join(ending) + (isEnded ? ending : '')), chunk)
        },
      ),
      { numRuns: 500 },
    )
    expect(cuts).toBeGreaterThan(200)
  })

  it('are the records where bytes are written over', async () => {
    const bytes = Buffer.from(
      Array.from(
        { length: 5 },
        (_, n) => `${JSON.stringify({ n, content: `${n} is "said" é\n`.repeat(9) })}\n`,
      ).join(''),
    )
    for (let at = 0; at < bytes.length; at += 1) {
      const broken = Buffer.from(bytes)
      broken[at] = [0x22, 0x0a, 0xff, 0x5c, 0x00][at % 5] as number
      await isSame(broken, 400)
    }
  })

  it('are the records where more shapes are seen than are learnt, and no more are then looked for', async () => {
    const own = createCutter(codeOfCut({ keys: ['content'], whole: 'input', longest: 20 })) as Cutter
    const shapes = createLineShapes<Known<undefined>>(own)
    let looked = 0
    const learn = (line: () => string) => {
      looked += 1
      const shape = shapeOf(line(), () => 'value') as LineShape
      return { parts: shape.parts, plan: undefined }
    }
    const lines = Array.from({ length: 3000 }, (_, n) => `{"name-${n}":"x","n":${n}}\n`)
    const bytes = Buffer.from([...lines, ...lines].join(''))
    const cut = await all(readCutRecords(fileOf(bytes, 10_000), own, { shapes, learn }))
    expect(cut.seen).toEqual((await all(readRecords(fileOf(bytes, 10_000)))).seen)
    expect(looked).toBeLessThan(3000)
  })

  it('are the records where lines are longer than is cut', async () => {
    const long = (size: number): string => `${JSON.stringify({ content: 'x'.repeat(size), n: size })}\n`
    const bytes = Buffer.from(
      long(100) + long(600_000) + long(100) + long(1_300_000) + long(524_000) + long(30),
    )
    for (const chunk of [200_000, 512 * 1024, 3_000_000]) expect(await isSame(bytes, chunk)).toBe(4)
  })

  it('come some thousand at a time, however short they are, and are all there', async () => {
    const odd = ['{}', '{"a":1}', '[1]', '1', 'no JSON', '', '{"b":"é"}']
    const lines = Array.from({ length: 50_000 }, (_, n) => odd[n % odd.length])
    for (const end of ['', '\n', '\n{"torn":']) {
      const bytes = Buffer.from(lines.join('\n') + end)
      for (const chunk of [1e6, 100_000, 8192 * 3]) {
        const cut = await all(readCutRecords(fileOf(bytes, chunk), cutter))
        const whole = await all(readRecords(fileOf(bytes, chunk)))
        for (const { seen } of [cut, whole]) {
          const most = Math.max(...seen.map(({ records, damage }) => records.length + damage.length))
          expect(most).toBeLessThan(10_000)
        }
        const [some, every] = [cut, whole].map(({ seen }) => seen.flatMap(({ records }) => records))
        expect(isDeepStrictEqual(some, every)).toBe(true)
        expect(cut.seen.flatMap(({ damage }) => damage)).toEqual(whole.seen.flatMap(({ damage }) => damage))
        expect(every).toHaveLength(lines.filter((line) => line !== '' && line !== 'no JSON').length)
      }
    }
  })

  it('need room for a chunk and its longest line, and no more', async () => {
    const fresh = (): Cutter =>
      createCutter(codeOfCut({ keys: ['content'], whole: 'input', longest: 20 })) as Cutter
    const first = fresh().room(0).length
    // Cut at its end: all but the last string stands a second time behind the chunk.
    const line = (size: number): string =>
      `{"many":"${'x'.repeat(size - 60)}","content":"${'y'.repeat(30)}"}\n`
    for (const size of [200_000, 524_000, 524_200, 524_280]) {
      const bytes = Buffer.from(line(size).repeat(2))
      const one = fresh()
      for (const chunk of [size / 2, size, bytes.length]) {
        const cut = await all(readCutRecords(fileOf(bytes, chunk), one))
        expect(cut.seen).toEqual((await all(readRecords(fileOf(bytes, chunk)))).seen)
        expect(cut.cuts).toBe(2)
      }
      const most = LINES_AT + 2 * bytes.length + 2 * PAGE_BYTES
      expect(one.room(0).length).toBeLessThanOrEqual(Math.max(first, most))
    }
  })

  it('leave nothing of the memory for long lines behind when the file is through', async () => {
    const held = (): number => heldBytes('arrayBuffers') / 1e6
    const bytes = Buffer.from(`${JSON.stringify({ text: 'x'.repeat(2_000_000) })}\n{"n":1}\n`)
    const before = held()
    let records = 0
    for await (const batch of readCutRecords(fileOf(bytes, 200_000), cutter)) records += batch.records.length
    expect(records).toBe(2)
    // What is set aside for a line is 32 MB. When it is let go of, a thread of V8's counts it in its own time.
    await vi.waitFor(() => expect(held() - before).toBeLessThan(16), { timeout: 4000, interval: 20 })
  })
})
