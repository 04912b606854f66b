import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { asCount, parseJson, rest, toJson } from './json.ts'

describe('json', () => {
  it('writes what JSON.parse takes at a depth that JSON.stringify does not', () => {
    const deep = `${'[{"a":'.repeat(50_000)}1${'}]'.repeat(50_000)}`
    const value = parseJson(deep)
    expect(() => JSON.stringify(value)).toThrow(RangeError)
    expect(toJson(value)).toBe(deep)
  })

  it('writes deep values as JSON.stringify would, were it able to', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        let deep: unknown = value
        for (let i = 0; i < 6000; i += 1) deep = [deep]
        const written = toJson(deep)
        expect(written.slice(6000, written.length - 6000)).toBe(JSON.stringify(value))
      }),
      { numRuns: 20 },
    )
  })

  it('keeps unknown keys without ever setting a prototype', () => {
    const kept = rest(
      parseJson('{"known":1,"__proto__":{"polluted":true},"x":2}') as never,
      new Set(['known']),
    )
    expect(Object.keys(kept ?? {})).toEqual(['__proto__', 'x'])
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
    expect(rest({ known: 1 }, new Set(['known']))).toBeUndefined()
  })

  it('counts only whole numbers from 0: anything else is unknown', () => {
    expect([0, 12, -1, 1.5, '3', null, 2 ** 60, Number.NaN].map(asCount)).toEqual([
      0,
      12,
      ...Array(6).fill(undefined),
    ])
  })
})
