import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hasLongText, jsonPieces, spelledPieces, textPieces } from './long-spelling.ts'

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(fc.constantFrom('a', '"', '\\', '\n', '漢', '🦊', '\ud800', '\udc00', '\0'))
    .map((all) => all.join('')),
)

describe('a long text', () => {
  it('is cut in the middle of no character, and nothing of it is lost', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 9 }), (one, units) => {
        const pieces = [...textPieces(one, units)]
        expect(pieces.join('')).toBe(one)
        const spelled = Buffer.concat([...spelledPieces(one, units)]).toString()
        expect(`"${spelled}"`).toBe(JSON.stringify(one))
        for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(Math.max(2, units))
      }),
      { numRuns: 1000 },
    )
  })
})

describe('a value in pieces', () => {
  it('is what JSON.stringify makes of it, and no piece is longer than a part of a text', () => {
    const long = `🦊"${'x'.repeat(70_000)}漢\n`.repeat(3)
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.constant(long),
        fc.constant(undefined),
        fc.jsonValue({ maxDepth: 2 }),
        fc.array(tie('any'), { maxLength: 4 }),
        fc.dictionary(text, tie('any'), { maxKeys: 4 }),
      ),
    })).any
    fc.assert(
      fc.property(fc.array(value, { maxLength: 3 }), (one) => {
        const pieces = [...jsonPieces(one)]
        expect(pieces.join('')).toBe(JSON.stringify(one))
        for (const piece of pieces) expect(piece.length).toBeLessThan(140_000)
        expect(hasLongText(one)).toBe(JSON.stringify(one).includes('x'.repeat(70_000)))
      }),
      { numRuns: 300 },
    )
  })

  it('may be deeper than any stack', () => {
    let deep: unknown = 'end'
    for (let n = 0; n < 100_000; n += 1) deep = n % 2 === 0 ? [deep] : { a: deep }
    expect([...jsonPieces(deep)].join('')).toContain('[{"a":[{"a":["end"]}]}]')
    expect(hasLongText(deep)).toBe(false)
  })
})
