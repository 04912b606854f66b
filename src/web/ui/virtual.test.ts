import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stopwatch } from '../../../test/stopwatch.ts'
import { createHeights } from './virtual-heights.ts'
import { createScale } from './virtual-scale.ts'

describe('the heights of rows', () => {
  it('agree with adding them up, whatever is measured, joins or goes', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('measure'), row: fc.nat(400), to: fc.integer({ min: 1, max: 5000 }) }),
      fc.record({ kind: fc.constant('resize'), row: fc.constant(0), to: fc.nat(400) }),
      fc.record({ kind: fc.constant('forget'), row: fc.nat(400), to: fc.constant(0) }),
    )
    fc.assert(
      fc.property(fc.nat(200), fc.array(step, { maxLength: 60 }), (count, steps) => {
        const heights = createHeights(count, 30)
        let plain = Array.from({ length: count }, () => 30)
        for (const { kind, row, to } of steps) {
          if (kind === 'measure') {
            heights.measure(row, to)
            if (row < plain.length) plain[row] = to
          } else if (kind === 'resize') {
            heights.resize(to)
            plain = Array.from({ length: to }, (_, at) => plain[at] ?? 30)
          } else {
            heights.forget(row)
            plain = plain.map((height, at) => (at >= row ? 30 : height))
          }
        }
        let sum = 0
        plain.forEach((height, row) => {
          expect(heights.offset(row)).toBeCloseTo(sum, 3)
          expect(heights.rowAt(sum)).toBe(row)
          expect(heights.rowAt(sum + height - 0.5)).toBe(row)
          sum += height
        })
        expect(heights.total).toBeCloseTo(sum, 3)
      }),
    )
  })

  it('of a million rows are found in no time', () => {
    const heights = createHeights(1_000_000, 80)
    const spent = stopwatch()
    for (let row = 0; row < 100_000; row += 1) heights.measure(row * 10, 100 + (row % 300))
    let wrong = 0
    for (let row = 0; row < 100_000; row += 1)
      if (heights.rowAt(heights.offset(row * 7)) !== row * 7) wrong += 1
    expect(wrong).toBe(0)
    expect(spent()).toBeLessThan(3000)
  })
})

describe('a scrollbar for what is taller than an element can be', () => {
  it('is the list itself where that fits', () => {
    const { physical, toVirtual } = createScale(7_000_000, 800)
    expect([physical, toVirtual(1234)]).toEqual([7_000_000, 1234])
  })

  it('reaches both ends, one to one near them, and every place between', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 8_000_001, max: 3_000_000_000 }),
        fc.integer({ min: 100, max: 3000 }),
        (total, viewport) => {
          const { physical, toVirtual, toPhysical } = createScale(total, viewport)
          expect(toVirtual(0)).toBe(0)
          expect(toVirtual(physical - viewport)).toBe(total - viewport)
          expect(toVirtual(500) - toVirtual(400)).toBe(100)
          expect(toVirtual(physical - viewport) - toVirtual(physical - viewport - 100)).toBe(100)
          let before = -1
          for (let at = 0; at <= 100; at += 1) {
            const place = ((total - viewport) * at) / 100
            const there = toPhysical(place)
            expect(there).toBeGreaterThan(before)
            before = there
            expect(Math.abs(toVirtual(there) - place)).toBeLessThan(0.01)
          }
        },
      ),
    )
  })
})
