/** Which elements of a list have a key. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createKeyed } from './keyed.ts'

it('are found in their order, whatever keys there are', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 2 })), fc.string({ maxLength: 2 }), (keys, other) => {
      const keyed = createKeyed(keys.length, (n) => keys[n] as string)
      for (const key of [...keys, other]) {
        const numbers = keys.flatMap((one, n) => (one === key ? [n] : []))
        expect(keyed.find(key)).toEqual(numbers)
        expect(keyed.has(key)).toBe(numbers.length > 0)
        expect(keyed.first(key)).toBe(numbers[0])
      }
    }),
  )
})

it('are found at once where all have the same', () => {
  let asked = 0
  const keyed = createKeyed(100_000, () => ((asked += 1), 'one'))
  expect(keyed.find('one')).toHaveLength(100_000)
  expect(keyed.has('one')).toBe(true)
  expect(asked).toBeLessThan(300_000)
})
