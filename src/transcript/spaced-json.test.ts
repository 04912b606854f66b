import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { json } from '../../test/arbitrary.ts'
import { toSpacedJson } from './json.ts'

describe('JSON with spaces', () => {
  it('is spaced as Python spaces it', () => {
    expect(toSpacedJson({ a: [1, { b: null }], c: {}, d: [], e: 'x, y: z' })).toBe(
      '{"a": [1, {"b": null}], "c": {}, "d": [], "e": "x, y: z"}',
    )
  })

  it('is the same value on one line, whatever the value', () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = toSpacedJson(value)
        expect(text).not.toContain('\n')
        expect(JSON.parse(text)).toEqual(value)
      }),
    )
  })

  it('has no depth that it cannot write, and leaves out what is undefined', () => {
    const deep = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000)) as unknown
    expect(toSpacedJson(deep)).toHaveLength(200_000)
    expect(toSpacedJson({ a: undefined, b: 1 })).toBe('{"b": 1}')
  })
})
