import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLineSplitter, type Line } from './lines.ts'

/** Splits text fed in pieces cut at the given places. */
function split(bytes: Buffer, cuts: readonly number[], limit?: number): Line[] {
  const splitter = createLineSplitter(limit)
  const places = [
    0,
    ...[...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b),
    bytes.length,
  ]
  const lines = places.slice(1).flatMap((to, index) => splitter.push(bytes.subarray(places[index], to)))
  return [...lines, ...splitter.end()]
}

const texts = (lines: readonly Line[]): (string | undefined)[] => lines.map((line) => line.text)

describe('lines', () => {
  it('are the same wherever the chunks are cut', () => {
    const bytes = Buffer.from('{"a":"é漢"}\n\n  \r\n{"b":"\u2028"}\r\nlast')
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      expect(texts(split(bytes, [cut]))).toEqual(['{"a":"é漢"}', '{"b":"\u2028"}', 'last'])
    }
  })

  it('of several MB are each their own, however many there are and wherever they are cut', () => {
    const long = (letter: string, length: number): string => letter.repeat(length)
    const lengths = [3_000_000, 5, 1_048_576, 1_048_577, 0, 2_500_000, 4_000_001, 10, 3_999_999]
    const lines = lengths.map((length, n) => long(String.fromCharCode(97 + n), length))
    const bytes = Buffer.from(`${lines.join('\n')}\n`)
    for (const size of [bytes.length, 1_048_576, 524_288, 300_007]) {
      const splitter = createLineSplitter(4_000_000)
      const got: (string | undefined)[] = []
      for (let at = 0; at < bytes.length; at += size)
        got.push(...splitter.push(bytes.subarray(at, at + size)).map(({ text }) => text))
      got.push(...splitter.end().map(({ text }) => text))
      const expected = lines
        .filter((line) => line !== '')
        .map((line) => (line.length > 4_000_000 ? undefined : line))
      expect(got.length).toBe(expected.length)
      expect(got.every((line, n) => line === expected[n])).toBe(true)
    }
  })

  it('say where they stand, to the byte', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), fc.array(fc.nat()), (parts, cuts) => {
        const bytes = Buffer.from(parts.join('\n'))
        for (const line of split(bytes, cuts)) {
          expect(bytes.subarray(line.byteOffset, line.byteOffset + line.byteLength).toString()).toBe(
            line.text,
          )
        }
      }),
    )
  })

  it('know whether they ended, and count blank lines', () => {
    const lines = split(Buffer.from('a\n\nb'), [])
    expect(lines.map(({ number, ended }) => [number, ended])).toEqual([
      [1, true],
      [3, false],
    ])
  })

  it('strip a byte order mark, and mark bytes that are no UTF-8', () => {
    const lines = split(Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0x0a, 0x62, 0xff, 0x0a, 0xef, 0xbf, 0xbd]), [])
    expect(texts(lines)).toEqual(['a', 'b\uFFFD', '\uFFFD'])
    expect(lines.map((line) => line.isUtf8)).toEqual([true, false, true])
  })

  it('do not hold what is over the limit, and go on after it', () => {
    const bytes = Buffer.from(`${'x'.repeat(100)}\nshort\n${'y'.repeat(100)}`)
    for (const cuts of [[], [50], [5, 10, 99, 150]]) {
      const lines = split(bytes, cuts, 20)
      expect(texts(lines)).toEqual([undefined, 'short', undefined])
      expect(lines.map((line) => line.byteLength)).toEqual([100, 5, 100])
    }
  })
})
