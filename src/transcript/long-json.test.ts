import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLineSplitter } from './lines.ts'
import { parseLong } from './long-json.ts'

const LONGEST = 8

function parsed(json: string): unknown {
  return parseLong(Buffer.from(json), { longest: LONGEST })?.value
}

describe('JSON of many MB', () => {
  it('says the same as when it is parsed at once', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 40 })
    const value = fc.jsonValue({ noUnicodeString: false, maxDepth: 4 })
    fc.assert(
      fc.property(text, text, value, (a, b, rest) => {
        const whole = [`longer than that${a}`, { [`a name that is long ${b}`]: b, rest, __proto: a }, rest]
        const bytes = Buffer.from(JSON.stringify(whole))
        const before = Buffer.from(bytes)
        const got = parseLong(bytes, { longest: LONGEST })
        // What has half characters, or NULs, is for somebody else, and as it was.
        if (got === undefined) expect(bytes.equals(before)).toBe(true)
        else expect(got.value).toEqual(JSON.parse(before.toString()))
      }),
    )
  })

  it('has all escapes, and characters of every length', () => {
    const json = String.raw`{"a":"\"\\\/\b\f\n\r\t\u0041\u00e9\u6f22\ud83d\ude00 é漢😀 end","b":[1,"a long string it is"]}`
    expect(parsed(json)).toEqual(JSON.parse(json))
  })

  it('may be one string', () => {
    expect(parsed('"nothing but a string"')).toBe('nothing but a string')
  })

  it('has the last of several values of one name, and a name that means something to objects', () => {
    const json = '{"a":"a long string 1","a":"a long string 2","__proto__":"a long string 3"}'
    const value = parsed(json) as object
    expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(json)))
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  })

  it.each([
    ['torn', '{"a":"a long string that'],
    ['torn behind a string', '{"a":"a long string that"'],
    ['no JSON', '{"a":"a long string",}'],
    ['a control character', '{"a":"a long \u0001 string"}'],
    ['an escape that is none', String.raw`{"a":"a long \x string"}`],
    ['half an escape', String.raw`{"a":"a long string \u12"}`],
    ['half a character', String.raw`{"a":"a long string \ud83d"}`],
    ['the other half', String.raw`{"a":"a long string \ude00\ud83d"}`],
    ['something that looks like what stands in', String.raw`{"a":"a long string","b":"\u00000"}`],
    ['nothing that is long', '{"a":"b"}'],
  ])('is left as it was where it is %s', (_, json) => {
    const bytes = Buffer.from(json)
    expect(parseLong(bytes, { longest: LONGEST })).toBeUndefined()
    expect(bytes.toString()).toBe(json)
  })

  it('is left as it was where it is no UTF-8', () => {
    const bytes = Buffer.from('{"a":"a long string \u00e9"}', 'latin1')
    expect(parseLong(bytes, { longest: LONGEST })).toBeUndefined()
  })

  it('comes from lines with its value, and a text that is short', () => {
    const value = { number: 12345678901234567890n, text: 'é"漢\n'.repeat(500_000) }
    const line = `{"number":${value.number},"text":${JSON.stringify(value.text)}}`
    const bytes = Buffer.from(`${line}\n${line}\r\n{}\n`)
    for (const [isJson, size] of [
      [true, 65_536],
      [false, 65_536],
      [true, bytes.length],
    ] as const) {
      const splitter = createLineSplitter(undefined, isJson)
      const got: unknown[] = []
      for (let at = 0; at < bytes.length; at += size)
        for (const { text = '', value: own, byteLength } of splitter.push(bytes.subarray(at, at + size)))
          got.push([(own ?? JSON.parse(text)) as unknown, byteLength, text.length > 1000])
      const expected = [JSON.parse(line), Buffer.byteLength(line), !isJson || size === bytes.length]
      expect(got).toEqual([expected, expected, [{}, 2, false]])
    }
  })
})
