import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createHeldTexts } from './held-texts.ts'

describe('texts put aside', () => {
  it('come back as they were, whatever is in them', () => {
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.constant('\ud800 alone'),
      fc.constant('x'.repeat(900)),
    )
    fc.assert(
      fc.property(fc.array(text), (all) => {
        const held = createHeldTexts(1e6, 1e5)
        const places = all.map((one) => held.put(one, one))
        expect(places.map((place) => held.get(place as number))).toEqual(all)
      }),
    )
  })

  it('are cut where one is too long, and not held where all are too much', () => {
    const held = createHeldTexts(3_000_000, 2_000_000)
    expect(held.get(held.put('é'.repeat(2_000_001), 'a') as number)).toBe('é'.repeat(2_000_000))
    expect(held.get(held.put('€'.repeat(1_500_000), 'b') as number)).toBe('€'.repeat(1_500_000))
    expect(held.put('c', 'c')).toBeUndefined()
    expect(held.get(held.put('é'.repeat(2_000_001), 'a') as number)).toHaveLength(2_000_000)
  })
})
