import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { documentPieces } from './print.ts'

const textOf = (value: object): string => [...documentPieces(value)].join('')

describe('a document in pieces', () => {
  test('is what JSON.stringify makes of it', () => {
    const member = fc.oneof(fc.jsonValue(), fc.array(fc.jsonValue()), fc.constant(undefined))
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), member), (value) => {
        expect(JSON.parse(textOf(value))).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
    expect(textOf({ none: undefined, list: [undefined, 1], empty: [], at: new Date(0) })).toBe(
      '{"list":[null,1],"empty":[],"at":"1970-01-01T00:00:00.000Z"}',
    )
    expect(textOf({})).toBe('{}')
  })

  test('has no piece that is longer than an item of a list', () => {
    const pieces = [...documentPieces({ changes: Array.from({ length: 1000 }, (_, n) => `step ${n}`) })]
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(20)
  })

  test('escapes what a terminal would obey, in names too', () => {
    expect(textOf({ '\u009b1m': ['\u009b2J'] })).toBe(String.raw`{"\u009b1m":["\u009b2J"]}`)
  })
})
