import { describe, expect, it } from 'vitest'
import { createBudget, createPieces } from './limits.ts'

describe('pieces', () => {
  it('are joined in order, over any number of batches', () => {
    const pieces = createPieces(createBudget())
    const words = Array.from({ length: 10_000 }, (_, index) => `${index} `)
    for (const word of words) pieces.add(word)
    expect(pieces.text()).toBe(words.join(''))
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
