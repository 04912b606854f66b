import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { json } from '../../test/arbitrary.ts'
import { parseCut } from '../../test/wire-streams.ts'
import { createJsonArrayParser } from './json-array.ts'

const parse = (text: string, cuts: readonly number[] = [], limit?: number) =>
  parseCut(createJsonArrayParser(limit === undefined ? {} : { limit }), Buffer.from(text), cuts)

const texts = (text: string): string[] => parse(text).map(({ data }) => data)

describe('a streamed array', () => {
  it('gives each element as it ends', () => {
    const parser = createJsonArrayParser()
    expect(parser.push(Buffer.from('[{"a":[1,{}]}\n,\r\n{"b":'))).toEqual([
      { data: '{"a":[1,{}]}', complete: true },
    ])
    expect(parser.push(Buffer.from('"}]\\""}'))).toEqual([{ data: '{"b":"}]\\""}', complete: true }])
    expect(parser.push(Buffer.from(']'))).toEqual([])
    expect(parser.end()).toEqual([])
  })

  it('takes texts, numbers, words and lists as elements', () => {
    expect(texts('[1, "a,]", true,[2,[3]],null]')).toEqual(['1', '"a,]"', 'true', '[2,[3]]', 'null'])
  })

  it('takes a bare object, before or after the array', () => {
    expect(texts('{"error":{"code":429}}')).toEqual(['{"error":{"code":429}}'])
    expect(texts('[{"a":1}]{"error":{}}')).toEqual(['{"a":1}', '{"error":{}}'])
  })

  it('marks what was cut off', () => {
    expect(parse('[{"a":1},{"b":"x')).toEqual([
      { data: '{"a":1}', complete: true },
      { data: '{"b":"x', complete: false },
    ])
  })

  it('gives garbage as it is, and ends', () => {
    expect(texts('}x}')).toEqual(['}', 'x', '}'])
    expect(texts('\uFEFF[]')).toEqual([])
  })

  it('reports an element over the limit and goes on with the next', () => {
    expect(parse(`[{"a":"${'x'.repeat(50)}"},{"b":1}]`, [], 32)).toEqual([
      { data: '', complete: true, oversize: 58 },
      { data: '{"b":1}', complete: true },
    ])
  })

  it('gives any array back, however cut and however spaced', () => {
    const cuts = fc.array(fc.nat({ max: 300 }), { maxLength: 6 })
    fc.assert(
      fc.property(
        fc.array(json, { maxLength: 6 }),
        cuts,
        fc.constantFrom(undefined, 1),
        (values, places, indent) => {
          const text = JSON.stringify(values, undefined, indent)
          const sorted = places.filter((place) => place < Buffer.byteLength(text)).sort((a, b) => a - b)
          const events = parse(text, sorted)
          expect(events.map(({ data }) => JSON.parse(data) as unknown)).toEqual(values)
          expect(events.every(({ complete }) => complete)).toBe(true)
        },
      ),
    )
  })
})
