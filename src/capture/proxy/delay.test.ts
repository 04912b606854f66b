import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createDelays } from './delay.ts'

describe('delays of parts that pass', () => {
  it('are unknown, not zero, while nothing has passed', () => {
    const { summary } = createDelays()
    expect(summary()).toEqual({ parts: 0, p50: null, p99: null, longest: null })
  })

  it('are told within an eighth of what sorting all of them says', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0.001, max: 50_000, noNaN: true }), { minLength: 1 }), (all) => {
        const { add, summary } = createDelays()
        for (const one of all) add(one)
        const sorted = all.map((ms) => ms * 1000).toSorted((a, b) => a - b)
        const at = (part: number): number => sorted[Math.ceil(sorted.length * part) - 1] ?? Number.NaN
        const { parts, p50, p99, longest } = summary()
        expect(parts).toBe(all.length)
        expect(longest).toBe(sorted.at(-1))
        for (const [said, real] of [
          [p50, at(0.5)],
          [p99, at(0.99)],
        ] as const) {
          expect(said).toBeGreaterThanOrEqual(real * (1 - 1e-9))
          expect(said).toBeLessThanOrEqual(real * 1.125)
        }
      }),
    )
  })

  it('count what a clock that stands still or a machine that slept makes of them', () => {
    const { add, summary } = createDelays()
    add(0)
    add(3_600_000)
    expect(summary()).toMatchObject({ parts: 2, p50: 2 ** (1 / 8), longest: 3.6e9 })
    expect(summary().p99).toBeLessThanOrEqual(3.6e9)
  })
})
