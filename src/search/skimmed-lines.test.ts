import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJson } from '../transcript/json.ts'
import { FOUND } from './skimmed-lines-code.ts'
import { createSkimmedLines, PADDING, type SkimmedLines } from './skimmed-lines.ts'

const lines = createSkimmedLines({
  ofLine: [
    ['a', 0],
    ['message', 1],
  ],
  ofMessage: [['b', 2]],
  odd: [],
  message: 1,
  mostDepth: 9,
  usage: { place: 2, counts: [], split: 3, splitCounts: [], unusual: 4, unusualNames: [], usualWords: [] },
}) as SkimmedLines

/** The bytes where they are looked at, with ends of lines behind them. */
function put(bytes: Buffer): Buffer {
  const room = lines.room(bytes.length)
  bytes.copy(room)
  room.fill(0x0a, bytes.length, bytes.length + PADDING)
  return room
}

/** Any bytes, many of them those that say something in a string. */
const piece = fc.oneof(
  fc.constantFrom(
    '\\',
    '\\n',
    '\\"',
    '\\u00e9',
    '\\u00G9',
    '\\uD83D',
    '\t',
    '\0',
    '{',
    'é',
    '漢',
    'u',
    '\\\\',
  ),
  fc.string({ maxLength: 40 }),
)

describe('a line that is found', () => {
  it('has strings where JSON.parse has them, and none that it refuses', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = `{"assistant":0,"a":"${pieces.join('').replaceAll('\n', '')}"}`
        const bytes = Buffer.from(text)
        put(bytes)
        const isJson = parseJson(text) !== undefined
        expect(lines.next(0, bytes.length)).toBe(isJson ? FOUND.line : FOUND.refused)
        if (isJson) expect([lines.starts()[0], lines.end()]).toEqual([19, bytes.length])
      }),
      { numRuns: 2000 },
    )
  })

  it('begins behind the last end of a line, at every distance', () => {
    for (let before = 0; before < 70; before += 1) {
      for (const ahead of ['', '\n', 'ahead\n', `${'x'.repeat(before)}\n`]) {
        const bytes = Buffer.from(`${ahead}{"a":"${'x'.repeat(before)}","b":"assistant"}\nbehind`)
        put(bytes)
        expect(lines.next(0, bytes.length)).toBe(FOUND.line)
        expect([lines.starts()[0], lines.ends()[0]]).toEqual([ahead.length + 5, ahead.length + 7 + before])
        expect(lines.end()).toBe(bytes.length - 7)
        expect(lines.next(lines.end() + 1, bytes.length)).toBe(FOUND.none)
      }
    }
  })

  it('is told in memory that has grown', () => {
    const long = Buffer.from(`{"message":{"b":"${'long \\n'.repeat(400_000)}"},"a":"assistant"}`)
    put(Buffer.from('{"a":"assistant"}'))
    expect(lines.next(0, 17)).toBe(FOUND.line)
    put(long)
    expect(lines.next(0, long.length)).toBe(FOUND.line)
    expect(lines.ends()[2]).toBe(long.length - 18)
    expect(lines.end()).toBe(long.length)
  })
})

describe('the word', () => {
  it('is found wherever indexOf finds it', () => {
    const some = fc.constantFrom(
      '"assistant"',
      '"assist',
      '"a',
      'assistant"',
      'x'.repeat(13),
      '"',
      '""assistant"',
    )
    fc.assert(
      fc.property(fc.array(some, { maxLength: 8 }), fc.nat(40), (pieces, from) => {
        const bytes = Buffer.from(pieces.join(''))
        put(bytes)
        expect(lines.find(from, bytes.length)).toBe(
          from > bytes.length ? -1 : bytes.indexOf('"assistant"', from),
        )
      }),
      { numRuns: 2000 },
    )
  })
})
