import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { callHash, mixedFirst, mixedPieces, toHash } from './call-hash.ts'
import { spelledPieces } from './long-spelling.ts'

const hashOf = (text: string): number => callHash({ type: 'tool-call', name: 'Write', input: text })

describe('a long text', () => {
  it('is spelled in pieces as at once', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', '"', '\u0001', 'é', '\ud83d', '\ude00') }),
        (text) => {
          const spelled = Buffer.concat([...spelledPieces(text, 3)]).toString()
          expect(spelled).toBe(JSON.stringify(text).slice(1, -1))
        },
      ),
    )
  })

  it('has the same hash in pieces as at once', () => {
    const parts = fc.constantFrom('a', 'bcd', '"', '\u0001', 'é', '\u{1f600}')
    fc.assert(
      fc.property(
        fc.array(parts, { minLength: 1030, maxLength: 1200 }),
        fc.integer({ min: 1, max: 700 }),
        (texts, units) => {
          const text = texts.join('')
          const mixed = mixedPieces(mixedFirst('Write', []), () => spelledPieces(text, units))
          expect(toHash(mixed)).toBe(hashOf(text))
        },
      ),
    )
  })

  it('is told from others by its beginning, its end and its length', () => {
    const text = 'wörld 😀 "x" '.repeat(200_000)
    expect(hashOf(`x${text.slice(1)}`)).not.toBe(hashOf(text))
    expect(hashOf(`${text.slice(0, -1)}x`)).not.toBe(hashOf(text))
    expect(hashOf(`${text}x`)).not.toBe(hashOf(text))
  })
})
