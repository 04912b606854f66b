import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stopwatch } from '../../test/stopwatch.ts'
import { nearestSpelling, spellingDistance } from './spelling.ts'

describe('the nearest spelling', () => {
  it.each([
    ['sesion', ['session', 'season'], 'session'],
    ['recieve', ['relieve', 'receive'], 'relieve'],
    ['tset', ['text', 'test'], 'test'],
    ['sessoin', ['sensor', 'session'], 'session'],
    ['cat', ['dog', 'cart'], 'cart'],
    ['cat', ['dog', 'bird'], undefined],
    ['cat', ['cat'], undefined],
    ['a', ['b'], undefined],
    ['修复', ['修好'], '修好'],
  ])('of %s among %j', (term, candidates, nearest) => {
    expect(nearestSpelling(term, candidates)).toBe(nearest)
  })

  it('takes the first of those that are equally near', () => {
    expect(nearestSpelling('house', ['mouse', 'horse', 'louse'])).toBe('mouse')
  })

  it('is found for every word with one letter wrong', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd', '修'), minLength: 5, maxLength: 12 })
    fc.assert(
      fc.property(word, fc.nat(), (term, nth) => {
        const letters = Array.from(term)
        const wrong = letters.with(nth % letters.length, 'z').join('')
        expect(nearestSpelling(wrong, ['unrelated', term])).toBe(term)
      }),
    )
  })

  it('is as far one way as the other', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 })
    fc.assert(
      fc.property(word, word, (a, b) => {
        expect(spellingDistance(a, b, 3)).toBe(spellingDistance(b, a, 3))
        for (const most of [0, 1, 2, 3]) {
          const plain = plainDistance(a, b)
          expect(spellingDistance(a, b, most)).toBe(plain <= most ? plain : undefined)
        }
      }),
    )
  })

  it('is found among very many at once', () => {
    const candidates = Array.from({ length: 200_000 }, (_, at) => `candidate${at}`)
    const spent = stopwatch()
    nearestSpelling('candidatf199999', candidates)
    nearestSpelling('x'.repeat(10_000), candidates)
    expect(spent()).toBeLessThan(3000)
  })
})

/** The whole table, by the book. */
function plainDistance(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (_, j) => (i === 0 ? j : i)),
  )
  const at = (i: number, j: number): number => rows[i]?.[j] ?? Number.NaN
  for (let i = 1; i <= a.length; i += 1) {
    for (let j = 1; j <= b.length; j += 1) {
      const change = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isExchange = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const row = rows[i] ?? []
      row[j] = Math.min(
        at(i - 1, j) + 1,
        at(i, j - 1) + 1,
        change,
        isExchange ? at(i - 2, j - 2) + 1 : Number.MAX_VALUE,
      )
    }
  }
  return at(a.length, b.length)
}
