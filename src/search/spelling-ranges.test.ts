import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rangesNear, type WordRange } from './spelling-ranges.ts'
import { spellingDistance } from './spelling.ts'

const isWithin = (word: string, ranges: readonly WordRange[]): boolean =>
  ranges.some(([from, to]) => word >= from && word <= to)

/** Letters of one script, as they stand in an index. */
const SCRIPTS = ['abcdez019', 'абвгдя', 'αβγω', 'אבג']

const typed = fc.constantFrom(...SCRIPTS).chain((script) => {
  const letter = fc.constantFrom(...Array.from(script))
  return fc.record({
    word: fc.string({ unit: letter, minLength: 2, maxLength: 14 }),
    wrong: fc.array(fc.record({ at: fc.nat(20), how: fc.nat(3), letter }), { maxLength: 2 }),
  })
})

describe('where words stand that may be meant', () => {
  it('is where every word is that differs in a letter, but not in the first', () => {
    fc.assert(
      fc.property(typed, ({ word, wrong }) => {
        const [one] = wrong
        const meant = one === undefined ? word : mistype(word, { ...one, at: 1 + (one.at % word.length) })
        if (meant.length < 2) return
        expect(isWithin(meant, rangesNear(word))).toBe(true)
      }),
    )
  })

  it('is where a word is whose first letter is too many, or exchanged with the second', () => {
    for (const [word, meant] of [
      ['ssession', 'session'],
      ['esssion', 'session'],
      ['xcat', 'cat'],
      ['act', 'cat'],
      ['ьлодка', 'лодка'],
    ] as const)
      expect(isWithin(meant, rangesNear(word)), `${word}: ${meant}`).toBe(true)
  })

  it('is where words with two wrong letters are, one of them behind the first half', () => {
    fc.assert(
      fc.property(typed, ({ word, wrong: [one, other] }) => {
        if (word.length < 5 || one === undefined || other === undefined) return
        const first = Math.min(5, (word.length >> 1) + 1)
        // What stands behind is changed first: places in front of it stay what they are.
        const behind = mistype(word, { ...other, at: first + 1 + (other.at % (word.length - first)) })
        const meant = mistype(behind, { ...one, at: 1 + (one.at % Math.max(1, first - 2)) })
        const distance = spellingDistance(word, meant, 2)
        if (distance !== undefined) expect(isWithin(meant, rangesNear(word))).toBe(true)
      }),
    )
  })

  it('is few places, in order, none within another', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 2, maxLength: 20 }), (word) => {
        const ranges = rangesNear(word)
        expect(ranges.length).toBeLessThan(10 * (36 + 5 * 128))
        let last = ''
        for (const [from, to] of ranges) {
          expect(from > last && to >= from).toBe(true)
          last = to
        }
      }),
    )
  })

  it('is what begins with one of the two characters, in scripts of thousands', () => {
    expect(rangesNear('修复')).toEqual([
      ['修', '修\u{10ffff}'],
      ['复', '复\u{10ffff}'],
    ])
  })
})

type Wrong = { readonly at: number; readonly how: number; readonly letter: string }

/** A letter added, left out, changed, or exchanged with the next. */
function mistype(word: string, { at, how, letter }: Wrong): string {
  const [before, here, after] = [word.slice(0, at), word.slice(at, at + 1), word.slice(at + 1)]
  if (how === 0 || here === '') return before + letter + here + after
  if (how === 1) return before + after
  return how === 2 ? before + letter + after : before + after.slice(0, 1) + here + after.slice(1)
}
