import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createIdSet, createRecentIds } from './id-set.ts'

describe('a set of ids', () => {
  it('never forgets one, and takes no new one for an old one', () => {
    const ids = createIdSet()
    const known = Array.from({ length: 50_000 }, () => randomUUID())
    for (const id of known) {
      expect(ids.has(id)).toBe(false)
      ids.add(id)
      ids.add(id)
    }
    expect(known.every((id) => ids.has(id))).toBe(true)
    expect(Array.from({ length: 50_000 }, () => randomUUID()).some((id) => ids.has(id))).toBe(false)
  })

  it('tells apart ids that differ in one character, and takes the empty one', () => {
    const ids = createIdSet()
    for (let i = 0; i < 1000; i += 2) ids.add(`primary/${i}`)
    ids.add('')
    expect(Array.from({ length: 1000 }, (_, i) => ids.has(`primary/${i}`))).toEqual(
      Array.from({ length: 1000 }, (_, i) => i % 2 === 0),
    )
    expect(ids.has('')).toBe(true)
  })

  it('of a file without end knows the last ones, and forgets those long before', () => {
    const ids = createRecentIds(100)
    for (let n = 0; n < 1000; n += 1) {
      ids.add(`${n}`)
      for (let back = 0; back <= Math.min(n, 99); back += 1) expect(ids.has(`${n - back}`)).toBe(true)
      expect(ids.has(`${n - 200}`)).toBe(false)
    }
  })
})
