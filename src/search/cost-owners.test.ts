import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createOwners } from './cost-owners.ts'

it('tells the first owner of every number, as a Map would', () => {
  const number = fc.oneof(
    fc.nat({ max: 20 }),
    fc.maxSafeNat(),
    fc.nat({ max: 50 }).map((n) => n * 2 ** 40),
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(number, fc.nat({ max: 9 }))), (all) => {
      const owners = createOwners()
      const known = new Map<number, number>()
      for (const [number, owner] of all) {
        if (!known.has(number)) known.set(number, owner)
        expect(owners(number, owner)).toBe(known.get(number))
      }
    }),
  )
})

it('grows', () => {
  const owners = createOwners()
  for (let n = 0; n < 100_000; n += 1) expect(owners(n * 7919, n)).toBe(n)
  for (let n = 0; n < 100_000; n += 1) expect(owners(n * 7919, -1)).toBe(n)
})
