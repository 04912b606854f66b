import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createBudget, type Shelf } from './limits.ts'
import { createPieces } from './pieces.ts'

/** Takes a copy of every other block: theirs is used again. */
function everyOther(): Shelf {
  let count = 0
  return {
    put(bytes) {
      count += 1
      if (count % 2 === 0) return undefined
      const copy = Buffer.from(bytes)
      return { length: copy.length, read: (into) => copy.copy(into) === copy.length }
    },
  }
}

describe('pieces', () => {
  it('are joined in order, over any number of blocks', () => {
    const pieces = createPieces(createBudget())
    const words = Array.from({ length: 10_000 }, (_, index) => `${index} `)
    for (const word of words) pieces.add(word)
    expect(pieces.text()).toBe(words.join(''))
  })

  it('are what was said, whatever the characters and however they were cut', () => {
    const unit = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\ud83d', '\ude00', 'é'),
    )
    const long = fc.string({ unit: 'grapheme' }).map((text) => text.repeat(800))
    fc.assert(
      fc.property(fc.array(fc.oneof({ weight: 9, arbitrary: unit }, long), { maxLength: 200 }), (all) => {
        const pieces = createPieces(createBudget(undefined, everyOther()))
        for (const [at, piece] of all.entries()) {
          pieces.add(piece)
          if (at === 20) expect(pieces.text()).toBe(all.slice(0, 21).join(''))
        }
        expect(pieces.text()).toBe(all.join(''))
        expect(pieces.isEmpty).toBe(all.join('') === '')
      }),
    )
  })

  it('do not close over a gap: after the first that does not fit, none is taken', () => {
    const budget = createBudget(100)
    const pieces = createPieces(budget, 5)
    for (const piece of ['abc', 'defgh', 'i']) pieces.add(piece)
    expect(pieces.text()).toBe('abc')
    expect(budget.dropped()).toBe(6)
  })

  it('share one budget', () => {
    const budget = createBudget(5)
    const one = createPieces(budget)
    const two = createPieces(budget)
    one.add('abcd')
    two.add('ef')
    expect([one.text(), two.text(), budget.dropped()]).toEqual(['abcd', '', 2])
    expect(two.isEmpty).toBe(true)
  })
})
