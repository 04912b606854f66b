import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json } from '../transcript/json.ts'
import { parseCut } from './cut-json.ts'

/** True when all that `part` says stands in `whole`: fewer keys and elements, texts that begin so, null for what was cut. */
function isBeginning(part: Json | undefined, whole: Json | undefined): boolean {
  if (part === null) return true
  if (typeof part === 'string') return typeof whole === 'string' && whole.startsWith(part)
  if (typeof part !== 'object') return part === whole
  if (typeof whole !== 'object' || whole === null || Array.isArray(part) !== Array.isArray(whole))
    return false
  const all = new Map(Object.entries(whole))
  return Object.entries(part).every(([key, value]) => all.has(key) && isBeginning(value, all.get(key)))
}

describe('JSON that is cut off', () => {
  const whole = {
    type: 'x',
    payload: { id: 'é\n"\\ \u{1F600}', list: [1, { a: null }, [], 'z'], n: -12.5e3, ok: true },
    last: {},
  }

  it.each([
    JSON.stringify(whole),
    JSON.stringify(whole, null, 2),
    `\uFEFF ${JSON.stringify([whole, whole])}`,
  ])('says at every byte what came before', (text) => {
    const bytes = Buffer.from(text)
    const value = JSON.parse(text.replace(/^\uFEFF/, '')) as Json
    const from = text.search(/[[{]/) === 0 ? 1 : bytes.indexOf('[') + 1
    for (let end = from; end <= bytes.length; end += 1) {
      const cut = parseCut(bytes.toString('utf8', 0, end))
      expect(cut, String(end)).toBeDefined()
      expect(isBeginning(cut, value), `${end}: ${JSON.stringify(cut)}`).toBe(true)
    }
    expect(parseCut(text)).toEqual(value)
  })

  it('says so of anything', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(), (object, n) => {
        const bytes = Buffer.from(JSON.stringify(object))
        const cut = parseCut(bytes.toString('utf8', 0, 1 + (n % bytes.length)))
        expect(isBeginning(cut, JSON.parse(bytes.toString('utf8')) as Json)).toBe(true)
      }),
    )
  })

  it('has the keys whose values were not reached', () => {
    expect(parseCut('{"a":1,"b":')).toEqual({ a: 1, b: null })
    expect(parseCut('{"a":1,"b":12')).toEqual({ a: 1, b: null })
    expect(parseCut('{"a":1,"b')).toEqual({ a: 1 })
    expect(parseCut('{"a":[{"b":"lo')).toEqual({ a: [{ b: 'lo' }] })
  })

  it.each(['', 'no', '"x', '12', '{"a":]', '}', '{"a":"b\nc","d":[', '{]'])('is not %j', (text) => {
    expect(parseCut(text)).toBeUndefined()
  })

  it('may be nothing but brackets', () => {
    expect(Array.isArray(parseCut('['.repeat(65_536)))).toBe(true)
    expect(parseCut('{"a":'.repeat(10_000))).toBeTypeOf('object')
  })
})
