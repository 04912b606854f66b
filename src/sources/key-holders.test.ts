import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createKeyHolders } from './key-holders.ts'

it('knows the first pass of every key, of any number', () => {
  const notes = fc.array(fc.tuple(fc.integer({ min: 1, max: 2 ** 53 - 1 }), fc.nat(9)), { maxLength: 40 })
  fc.assert(
    fc.property(notes, fc.nat(3000), (notes, many) => {
      const holders = createKeyHolders()
      const known = new Map<number, number>()
      const more = Array.from({ length: many }, (_, n) => [n + 1, n] as const)
      for (const [hash, reading] of [...more, ...notes]) {
        if (holders.note(hash, reading) !== known.get(hash)) expect.fail(`${hash} in ${reading}`)
        if (!known.has(hash)) known.set(hash, reading)
      }
      expect(holders.count()).toBe(known.size)
    }),
    { numRuns: 20 },
  )
})
