import { expect, it } from 'vitest'
import { createFlag } from './v8-flag.ts'

it('is set back by whoever set it, or when the process ends, and only once', () => {
  const before = process.listenerCount('exit')
  const flag = createFlag('heap-growing-percent', 50, 0)
  flag.usual()
  expect(process.listenerCount('exit')).toBe(before)
  flag.set()
  flag.set()
  expect(process.listenerCount('exit')).toBe(before + 1)
  flag.usual()
  expect(process.listenerCount('exit')).toBe(before)
})
