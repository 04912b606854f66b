import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mixedText } from '../../test/mixed-text.ts'
import { createGramSet, gramTest } from './grams.ts'
import { addLargeGrams, areLarge, hashLarge, largeTerms } from './large-texts.ts'
import { createTermSet } from './term-set.ts'
import { termsOf } from './words.ts'

const listed = (bytes: Uint8Array | undefined): string[] =>
  Buffer.from(bytes ?? [])
    .toString()
    .split(' ')
    .slice(0, -1)

/** Longer than several pieces, with all that a piece may end in. */
const longText = fc
  .array(mixedText, { minLength: 1, maxLength: 20 })
  .map((parts) => parts.join(' ').repeat(Math.ceil(200_000 / (parts.join(' ').length + 1))))

describe('texts of many MB', () => {
  it('have the terms of the whole, each once, wherever a piece ends', () => {
    fc.assert(
      fc.property(longText, fc.string(), (text, before) => {
        const terms = listed(largeTerms([before, text, before]))
        expect(new Set(terms).size).toBe(terms.length)
        const whole = new Set([before, text].flatMap(termsOf))
        const held = new Set(terms)
        expect([...whole].filter((term) => !held.has(term))).toEqual([])
        // Where nothing tells words apart for half a piece, half words may be among them.
        if (/^.{0,10000}([ ,.;。、].{0,10000})*$/su.test(text)) expect(held.size).toBe(whole.size)
      }),
      { numRuns: 30 },
    )
  })

  it('lose no pair of characters and no word, though nothing stands between them', () => {
    const han = Array.from({ length: 150_000 }, (_, at) =>
      String.fromCharCode(0x4e00 + ((at * 7919) % 20_000)),
    ).join('')
    for (const text of [han, 'a漢'.repeat(100_000), `${'f'.repeat(150_000)} needle`, '👩‍💻'.repeat(50_000)]) {
      const terms = new Set(listed(largeTerms([text])))
      expect(termsOf(text).filter((term) => !terms.has(term))).toEqual([])
    }
  })

  it('have the bytes that stand together in the whole, also where one piece ends and the next begins', () => {
    fc.assert(
      fc.property(longText, fc.nat(), (text, seed) => {
        const grams = createGramSet()
        addLargeGrams(grams, [text])
        const set = grams.take() ?? new Uint8Array(8)
        for (const border of [65_536, 131_064, seed % text.length]) {
          const around = text.slice(Math.max(0, border - 6), border + 6)
          expect(gramTest(around)?.(set) ?? true).toBe(true)
        }
      }),
      { numRuns: 20 },
    )
  })

  it('have another hash when one character differs, at a border too', () => {
    const text = 'word '.repeat(100_000)
    const all = new Set([hashLarge([text], 1)])
    for (const at of [0, 65_528, 65_535, 65_536, 65_537, 131_064, text.length - 1])
      all.add(hashLarge([`${text.slice(0, at)}x${text.slice(at + 1)}`], 1))
    expect(all.size).toBe(8)
    expect(hashLarge([text, ''], 1)).toBe(hashLarge([text, ''], 1))
  })

  it('are told from small ones by all of them together', () => {
    expect(areLarge(['x'.repeat(1 << 20)])).toBe(true)
    expect(areLarge(Array<string>(1100).fill('x'.repeat(1000)))).toBe(true)
    expect(areLarge(['x'.repeat(1000)])).toBe(false)
  })

  it('with more different words than are held say so', () => {
    const numbers = Array.from({ length: 300_000 }, (_, at) => `n${at}`).join(' ')
    expect(largeTerms([numbers])).toBeUndefined()
  })
})

describe('a set of terms', () => {
  it('holds each once, in the order they came', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '漢', '¶'), minLength: 1, maxLength: 3 })),
        (all) => {
          const set = createTermSet()
          expect(set.add(Buffer.from(all.map((one) => `${one} `).join('')))).toBe(true)
          expect(listed(set.bytes())).toEqual([...new Set(all)].filter((one) => one !== '¶'))
        },
      ),
    )
  })
})
