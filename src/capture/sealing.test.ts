import { describe, expect, it } from 'vitest'
import { createSealing } from './sealing.ts'

describe('memory for what is sealed', () => {
  it('is used again, but for what is rarely as long', () => {
    const sealing = createSealing()
    for (const [length, isKept] of [
      [1000, true],
      [128 * 1024, true],
      [1024 * 1024, false],
    ] as const) {
      const block = sealing.block(length)
      sealing.give(block)
      expect(sealing.block(length) === block).toBe(isKept)
    }
  })
})
