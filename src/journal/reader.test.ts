import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stopwatch } from '../../test/stopwatch.ts'
import { proveBitFlips, proveTruncation } from '../../test/byte-proofs.ts'
import {
  first,
  readBack,
  readItems,
  sampleEntry,
  sampleRecords,
  toLines,
} from '../../test/journal-samples.ts'
import { createJournalParser } from './reader.ts'

const lines = toLines(sampleRecords(10))
const all = lines.map((_, seq) => seq)
const NUL = Buffer.alloc(300)

function line(seq: number): Buffer {
  return lines[seq] as Buffer
}

function read(...parts: readonly (Buffer | string)[]): { seqs: readonly number[]; kinds: readonly string[] } {
  const bytes = Buffer.concat(parts.map((part) => Buffer.from(part)))
  const { seqs, damage } = readBack(bytes)
  // Every damage names bytes that are in the file.
  for (const { byteOffset, byteLength, line } of damage) {
    expect(byteOffset + byteLength).toBeLessThanOrEqual(bytes.length)
    expect(line).toBe(bytes.subarray(0, byteOffset).filter((byte) => byte === 0x0a).length + 1)
  }
  return { seqs, kinds: damage.map(({ kind }) => kind) }
}

function without(...lost: readonly number[]): number[] {
  return all.filter((seq) => !lost.includes(seq))
}

describe('reading a journal', () => {
  it('gives every record once, in order, with its place in the file', () => {
    const records = sampleRecords(10)
    let offset = 0
    for (const [seq, item] of readItems(Buffer.concat(lines)).entries()) {
      expect(item).toMatchObject({ ok: true, seq, line: seq + 1, byteOffset: offset, record: records[seq] })
      offset += line(seq).length
    }
    expect(offset).toBe(Buffer.concat(lines).length)
  })

  it('reads the same in chunks of any size', () => {
    const bytes = Buffer.concat([...lines.slice(0, 4), Buffer.from('junk\n'), NUL, ...lines.slice(5)])
    const whole = readItems(bytes)
    for (const size of [1, 2, 3, 7, 100, 1000]) expect(readItems(bytes, size)).toEqual(whole)
  })

  it('gives exactly the whole lines of a file cut at any byte, and at most one damage', () => {
    expect(proveTruncation(50).broken).toEqual([])
  })

  it('detects every flipped bit, at the cost of at most one record', () => {
    expect(proveBitFlips(5).broken).toEqual([])
  })
})

describe('what the field does to a file', () => {
  it('torn tail', () => {
    expect(read(...lines.slice(0, 5), line(5).subarray(0, 50))).toEqual({
      seqs: [0, 1, 2, 3, 4],
      kinds: ['torn'],
    })
  })
  it('torn line in the middle', () => {
    const torn = Buffer.concat([line(5).subarray(0, 80), Buffer.from('\n')])
    expect(read(...lines.slice(0, 5), torn, ...lines.slice(6))).toEqual({ seqs: without(5), kinds: ['torn'] })
  })
  it('a run of NUL bytes in the middle, over the end of one record and the start of the next', () => {
    const hole = [line(5).subarray(0, 90), NUL, line(6).subarray(60)]
    expect(read(...lines.slice(0, 5), ...hole, ...lines.slice(7))).toEqual({
      seqs: without(5, 6),
      kinds: ['nul', 'missing'],
    })
  })
  it('a run of NUL bytes before a whole record costs nothing', () => {
    expect(read(...lines.slice(0, 5), NUL, ...lines.slice(5))).toEqual({ seqs: all, kinds: ['nul'] })
  })
  it('a stub and the next record fused on one line', () => {
    expect(read(...lines.slice(0, 5), line(5).subarray(0, 70), ...lines.slice(6))).toEqual({
      seqs: without(5),
      kinds: ['fused'],
    })
  })
  it('two whole records fused on one line', () => {
    expect(read(...lines.slice(0, 5), line(5).subarray(0, -1), ...lines.slice(6))).toEqual({
      seqs: all,
      kinds: [],
    })
    expect(read(...lines.slice(0, 5), line(5).subarray(0, -1), '*', ...lines.slice(6))).toEqual({
      seqs: all,
      kinds: ['fused'],
    })
  })
  it('a block written twice', () => {
    const { seqs, kinds } = read(...lines.slice(0, 6), ...lines.slice(2, 6), ...lines.slice(6))
    expect(seqs).toEqual(all)
    expect(kinds).toEqual(['chain', 'chain', 'chain', 'chain'])
  })
  it('two blocks swapped: every record comes, and the place is named once', () => {
    const { seqs, kinds } = read(
      ...lines.slice(0, 3),
      ...lines.slice(6, 9),
      ...lines.slice(3, 6),
      ...lines.slice(9),
    )
    expect(seqs.toSorted((a, b) => a - b)).toEqual(all)
    expect(kinds).toEqual(['chain'])
  })
  it('one line far before its place', () => {
    const moved = [0, 1, 7, 2, 3, 4, 5, 6, 8, 9, 10, 11].map((seq) => line(seq))
    expect(read(...moved)).toEqual({ seqs: all, kinds: ['chain'] })
  })
  it("somebody else's JSON line", () => {
    expect(read(...lines.slice(0, 5), '{"type":"user"}\n', ...lines.slice(5))).toEqual({
      seqs: all,
      kinds: ['not-an-entry'],
    })
  })
  it.each([0, 3, 5, 9, 1000])('a good line of another journal, numbered %i', (seq) => {
    const record = { t: 'entry' as const, entry: sampleEntry(77, 'not ours') }
    const others = toLines(
      Array.from({ length: seq + 1 }, () => record),
      'B'.repeat(43),
    )
    const { seqs, kinds } = read(...lines.slice(0, 5), others[seq] as Buffer, ...lines.slice(5))
    expect(seqs).toEqual(all)
    expect(kinds).toHaveLength(1)
  })
  it('trailing garbage', () => {
    expect(read(...lines, 'garbage')).toEqual({ seqs: all, kinds: ['not-json'] })
  })
  it('lines that are gone are counted', () => {
    const { damage } = readBack(Buffer.concat([...lines.slice(0, 3), ...lines.slice(7)]))
    expect(damage).toEqual([expect.objectContaining({ kind: 'missing', line: 4, byteLength: 0 })])
    expect(damage[0]?.reason).toBe('4 records are missing before line 7')
  })
  it('a line replaced by another that is good on its own', () => {
    const other = toLines(
      sampleRecords(10).map((record) =>
        record.t === 'entry' ? { t: 'entry', entry: sampleEntry(50) } : record,
      ),
    )
    const { seqs, kinds } = read(...lines.slice(0, 5), other[5] as Buffer, ...lines.slice(6))
    expect(seqs).toEqual(all)
    expect(kinds).toEqual(['chain', 'chain'])
  })
  it('an empty file, and nothing but NULs', () => {
    expect(read('')).toEqual({ seqs: [], kinds: [] })
    expect(read(NUL)).toEqual({ seqs: [], kinds: ['nul'] })
    expect(read('\n\n')).toEqual({ seqs: [], kinds: [] })
  })
  it('line ends turned into CRLF cost nothing', () => {
    expect(read(Buffer.concat(lines).toString().replaceAll('\n', '\r\n'))).toEqual({ seqs: all, kinds: [] })
  })
  it('a record of a type this version does not know is given whole', () => {
    const [, second] = toLines([sampleRecords(0)[0] as never, { t: 'later', x: 1 } as never])
    expect(readItems(Buffer.concat([line(0), second as Buffer]))[1]).toMatchObject({
      ok: true,
      record: { t: 'unknown', type: 'later', value: { t: 'later', x: 1 } },
    })
  })
})

describe('bounds', () => {
  it('does not hold a line over the limit, and reads on after it', () => {
    const parser = createJournalParser('f', { limit: 1000 })
    const huge = Buffer.from('x'.repeat(400))
    const items = [line(0), huge, huge, huge, Buffer.from('\n'), line(1)].flatMap((chunk) =>
      parser.push(chunk),
    )
    expect(items).toMatchObject([
      { ok: true, seq: 0 },
      { ok: false, damage: { kind: 'too-large', byteOffset: line(0).length, byteLength: 1200 } },
      { ok: true, seq: 1 },
    ])
  })

  it('reads a line of nothing but marks, or of nothing but ends, in linear time and as one damage', () => {
    const spent = stopwatch()
    for (const piece of [
      '{"v":1,"seq":',
      ',"c":"00000000"}',
      '{"v":1,"seq":1,"c":"00000000"}',
      '\n{"v":1,"seq":',
    ]) {
      const { seqs } = readBack(Buffer.from(piece.repeat(100_000)))
      expect(seqs).toEqual([])
    }
    expect(readBack(Buffer.from('{"v":1,"seq":'.repeat(100_000))).damage).toHaveLength(1)
    expect(spent()).toBeLessThan(10_000)
  })
})

describe('any damage at all', () => {
  const samples = toLines(sampleRecords(20))
  const texts = new Map(samples.map((bytes) => [bytes.toString('utf8', 0, bytes.length - 1), true]))

  type Edit = { kind: 'cut' | 'insert' | 'zero' | 'copy'; at: number; length: number; bytes: Uint8Array }
  const edit: fc.Arbitrary<Edit> = fc.record({
    kind: fc.constantFrom('cut', 'insert', 'zero', 'copy'),
    at: fc.nat(8000),
    length: fc.nat(600),
    bytes: fc.uint8Array({ maxLength: 40 }),
  })

  function damage(bytes: Buffer, { kind, at, length, bytes: inserted }: Edit): Buffer {
    const before = bytes.subarray(0, at)
    if (kind === 'cut') return Buffer.concat([before, bytes.subarray(at + length)])
    if (kind === 'insert') return Buffer.concat([before, inserted, bytes.subarray(at)])
    if (kind === 'copy') return Buffer.concat([before, bytes.subarray(at, at + length), bytes.subarray(at)])
    return Buffer.concat([
      before,
      Buffer.alloc(Math.min(length, bytes.length - before.length)),
      bytes.subarray(at + length),
    ])
  }

  it('never invents a record, never loses a line that is whole, and reports every byte that is not one', () => {
    fc.assert(
      fc.property(fc.array(edit, { maxLength: 4 }), (edits) => {
        const bytes = edits.reduce(damage, Buffer.concat(samples))
        const items = readItems(bytes)
        const covered = Buffer.alloc(bytes.length)
        const seen = new Set<string>()
        for (const item of items) {
          const { byteOffset, byteLength } = item.ok ? item : item.damage
          covered.fill(1, byteOffset, byteOffset + byteLength)
          if (!item.ok) continue
          const text = bytes.toString('utf8', byteOffset, byteOffset + byteLength)
          expect(texts.has(text)).toBe(true)
          expect(seen.has(text)).toBe(false)
          seen.add(text)
        }
        for (const whole of bytes.toString('latin1').split('\n')) {
          const text = Buffer.from(whole, 'latin1').toString('utf8')
          if (texts.has(text)) expect(seen.has(text)).toBe(true)
        }
        for (const [at, byte] of bytes.entries()) {
          if (covered[at] === 0) expect([0x0a, 0x0d]).toContain(byte)
        }
      }),
      { numRuns: 400 },
    )
  })
})

it('says that the first record is the session', () => {
  expect(readItems(line(0))[0]).toMatchObject({ record: { t: 'session', session: first.session } })
})
