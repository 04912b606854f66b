import { describe, expect, it } from 'vitest'
import { addUsd } from './reported-cost.ts'

describe('reported cost', () => {
  it('adds up without a float’s noise', () => {
    expect(addUsd(addUsd(undefined, 0.1), 0.2)).toBe('0.3')
    expect(addUsd('0.12', '0.030000')).toBe('0.15')
    expect(addUsd(undefined, 1e-7)).toBe('0.0000001')
    expect(addUsd('99', 1)).toBe('100')
    expect(addUsd(undefined, 0)).toBe('0')
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY, 'a lot', '1,5', ''])('refuses %j', (usd) => {
    expect(() => addUsd(undefined, usd)).toThrow(/not an amount/)
  })
})
