/** A number for each name. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createCounters } from './counters.ts'

it('is what was set last, of any number of names', () => {
  const change = fc.tuple(fc.integer({ min: 0, max: 3000 }), fc.nat(1000))
  fc.assert(
    fc.property(fc.array(change, { maxLength: 5000, size: 'max' }), (changes) => {
      const counters = createCounters(10)
      const plain = new Map<string, number>()
      for (const [name, count] of changes) {
        expect(counters.get(`n${name}`)).toBe(plain.get(`n${name}`) ?? 0)
        counters.set(`n${name}`, count)
        plain.set(`n${name}`, count)
      }
      for (const [name, count] of plain) expect(counters.get(name)).toBe(count)
    }),
    { numRuns: 20 },
  )
})
