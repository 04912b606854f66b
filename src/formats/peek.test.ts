import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { asString, isObject } from '../transcript/json.ts'
import { peekMembers } from './peek.ts'

const peek = (text: string) => peekMembers(Buffer.from(text), 0)

describe('the members of an object that is cut off', () => {
  const whole = {
    type: 'session_meta',
    payload: { id: 'é\n"x"', list: [1, { a: null }, 'z'], n: 12.5 },
    last: true,
  }

  it('are all that were whole, at every byte, and never more than there were', () => {
    const bytes = Buffer.from(JSON.stringify(whole))
    for (let end = 0; end <= bytes.length; end += 1) {
      const peeked = peekMembers(bytes.subarray(0, end), 0)
      for (const [key, value] of Object.entries(peeked ?? {})) {
        expect(Object.keys(whole)).toContain(key)
        if (key === 'type') expect(whole.type.startsWith(asString(value) ?? '?')).toBe(true)
        if (key === 'payload') expect(value === null || isObject(value)).toBe(true)
      }
    }
    expect(peekMembers(bytes, 0)).toEqual(whole)
  })

  it('reach into the value that was cut', () => {
    expect(peek('{"type":"x","payload":{"id":"a","text":"long te')).toEqual({
      type: 'x',
      payload: { id: 'a', text: 'long te' },
    })
    expect(peek('{"m":{"content":[{"type":"text","text":"a"},{"type":"image","data":"AAAA')).toEqual({
      m: {
        content: [
          { type: 'text', text: 'a' },
          { type: 'image', data: 'AAAA' },
        ],
      },
    })
  })

  it('hold little of what is large', () => {
    const peeked = peek(JSON.stringify({ image: 'A'.repeat(3_000_000), after: 1 }))
    expect(peeked?.['after']).toBe(1)
    expect(asString(peeked?.['image'])).toMatch(/^A{1000,1024}$/)
  })

  it('are those of any object that is whole', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (object) => {
        const text = JSON.stringify(object)
        expect(JSON.stringify(peek(text))).toBe(JSON.stringify(JSON.parse(text)))
      }),
    )
  })

  it.each(['', '[1]', '"x"', 'no', '\0'])('are none of %j', (text) => {
    expect(peek(text)).toBeUndefined()
  })

  it('do not take a deep nest apart level by level', () => {
    expect(peek(`{"a":${'[{"b":'.repeat(100_000)}`)).toBeDefined()
  })
})
