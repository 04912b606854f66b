import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJson } from '../transcript/json.ts'
import { createStringEnds, PADDING } from './string-ends.ts'

const strings = createStringEnds()

/** The bytes where they are looked at, with ends of lines behind them. */
function put(bytes: Buffer): Buffer {
  const room = strings?.room(bytes.length) ?? Buffer.alloc(0)
  bytes.copy(room)
  room.fill(0x0a, bytes.length, bytes.length + PADDING)
  return room
}

/** Any bytes, many of them those that say something in a string. */
const piece = fc.oneof(
  fc.constantFrom(
    '"',
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

describe('the end of a string', () => {
  it('is where JSON.parse ends it, and nowhere for what it refuses', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const bytes = Buffer.from(`"${pieces.join('')}`.replaceAll('\n', ''))
        put(bytes)
        const end = strings?.end(1) ?? 0
        // The first quote at which the beginning is a string, by trying all of them.
        let expected = -1
        for (let at = 1; at < bytes.length && expected === -1; at += 1)
          if (bytes[at] === 0x22 && typeof parseJson(bytes.toString('utf8', 0, at + 1)) === 'string')
            expected = at + 1
        expect(end).toBe(expected)
      }),
      { numRuns: 2000 },
    )
  })

  it('is found at every distance, and in memory that has grown', () => {
    for (let length = 0; length < 70; length += 1) {
      put(Buffer.from(`"${'x'.repeat(length)}"rest`))
      expect(strings?.end(1)).toBe(length + 2)
    }
    const long = Buffer.from(`"${'long \\n'.repeat(400_000)}"`)
    expect(strings?.isHere(put(long))).toBe(true)
    expect(strings?.end(1)).toBe(long.length)
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
        expect(strings?.find(from, bytes.length)).toBe(
          from > bytes.length ? -1 : bytes.indexOf('"assistant"', from),
        )
      }),
      { numRuns: 2000 },
    )
  })
})
