import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { json, jsonObject } from '../../test/arbitrary.ts'
import type { Json, JsonObject } from '../transcript/json.ts'
import { keptFields, putBack } from './kept-fields.ts'

/** As it will be in a file. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

describe('kept fields', () => {
  it('give the record back, whatever we would have written', () => {
    // Few keys, so that records and ours meet often.
    const shape = fc.letrec<{ value: Json; object: JsonObject }>((tie) => ({
      value: fc.oneof({ maxDepth: 3 }, json, tie('object'), fc.array(tie('value'), { maxLength: 2 })),
      object: fc.dictionary(fc.constantFrom('a', 'b', 'absent', '__proto__', '0'), tie('value'), {
        maxKeys: 4,
        noNullPrototype: true,
      }),
    }))
    let refused = 0
    fc.assert(
      fc.property(fc.oneof(shape.object, jsonObject), shape.object, (record, ours) => {
        const kept = keptFields(record, ours)
        if (kept === undefined) refused += 1
        else expect(plain(putBack(ours, kept))).toEqual(plain(record))
      }),
      { numRuns: 1000 },
    )
    expect(refused).toBeLessThan(900)
  })

  it('are none where we would write the same', () => {
    const record = { a: [{ b: 1 }, 'x'], c: { d: null } }
    expect(keptFields(record, structuredClone(record))).toEqual({})
  })

  it('stand at their own places, under their own names', () => {
    const kept = keptFields({ a: [{ b: 1, more: true }], n: 1 }, { a: [{ b: 1 }], filler: '' })
    expect(kept).toEqual({ a: { 0: { more: true } }, n: 1, absent: [['filler']] })
  })

  it('are refused where a list of ours is an object in the record', () => {
    expect(keptFields({ a: { 0: 'x' } }, { a: ['y'] })).toBeUndefined()
    expect(keptFields({ absent: 1 }, {})).toBeUndefined()
  })

  it('are put back in time that grows with the record, however many are absent', () => {
    const timeOf = (parts: number): number => {
      const ours = { a: Array.from({ length: parts }, () => ({ b: 1, filler: '' })) }
      const record = { a: Array.from({ length: parts }, () => ({ b: 1 })) }
      const kept = keptFields(record, ours)
      const began = performance.now()
      expect(plain(putBack(ours, kept ?? {}))).toEqual(record)
      return performance.now() - began
    }
    timeOf(1000)
    // Thirty times as many, with all that a busy machine may add; one by one it is a thousand times.
    expect(timeOf(30_000)).toBeLessThan(Math.max(5, timeOf(1000)) * 150)
  })
})
