import { describe, expect, it } from 'vitest'
import { everyNth, ticksTo, timesTo } from './scale.ts'

describe('an axis', () => {
  it('reaches what is shown in round steps', () => {
    expect(ticksTo(7.3)).toEqual([0, 2, 4, 6, 8])
    expect(ticksTo(100)).toEqual([0, 50, 100])
    expect(ticksTo(0)).toEqual([0])
    for (const most of [1e-6, 0.03, 1, 999, 1e9]) {
      const ticks = ticksTo(most)
      expect(ticks.at(-1)).toBeGreaterThanOrEqual(most)
      expect(ticks.length).toBeLessThanOrEqual(6)
    }
  })

  it('of time has steps that clocks have', () => {
    expect(timesTo(353_000)).toEqual([0, 120_000, 240_000])
    expect(timesTo(900)).toEqual([0, 200, 400, 600, 800])
    expect(timesTo(0)).toEqual([0])
    for (const ms of [1, 59_000, 3.6e6, 1e9, 1e14]) expect(timesTo(ms).length).toBeLessThanOrEqual(6)
  })

  it('names as many as there is room for', () => {
    expect([...everyNth([1, 2, 3, 4, 5], 2)]).toEqual([1, 4])
    expect(everyNth([], 3).size).toBe(0)
  })
})
