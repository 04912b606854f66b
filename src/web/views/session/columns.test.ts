import { describe, expect, it } from 'vitest'
import { entryAt, NO_COLUMNS, type Columns } from './columns.ts'

const columns: Columns = {
  ...NO_COLUMNS,
  length: 4,
  times: Float64Array.from([1000, 2000, 2000, Number.NaN]),
  costs: Float32Array.from([-1, 0, 0.5, -1]),
}

describe('the entry of a time', () => {
  it('is the one that was billed then, or the first of that time, or the first after it', () => {
    expect(entryAt(columns, 2000)).toBe(2)
    expect(entryAt(columns, 1000)).toBe(0)
    expect(entryAt(columns, 1500)).toBe(1)
  })

  it('is none after the last, or for what is no time', () => {
    expect(entryAt(columns, 3000)).toBeUndefined()
    expect(entryAt(columns, Number.NaN)).toBeUndefined()
  })
})
