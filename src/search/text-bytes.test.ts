import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mixedText } from '../../test/mixed-text.ts'
import { encodeTexts, hashTexts } from './text-bytes.ts'

const hashOf = (texts: readonly string[]): number => hashTexts(encodeTexts(texts), 7)

describe('texts as bytes', () => {
  it('are those of UTF-8, each from a multiple of four, with two zeros after it', () => {
    fc.assert(
      fc.property(fc.array(mixedText, { maxLength: 6 }), (texts) => {
        const { bytes, starts, ends, isAscii } = encodeTexts(texts)
        for (const [nth, text] of texts.entries()) {
          const [start, end] = [starts[nth] ?? -1, ends[nth] ?? -1]
          expect(start % 4).toBe(0)
          expect(bytes.subarray(start, end).equals(Buffer.from(text))).toBe(true)
          expect([bytes[end], bytes[end + 1]]).toEqual([0, 0])
          expect(isAscii[nth]).toBe(!/[^\0-\x7f]/.test(text))
        }
      }),
    )
  })

  it('have a hash that does not depend on what was encoded before', () => {
    fc.assert(
      fc.property(fc.array(mixedText), mixedText, (texts, other) => {
        const before = hashOf(texts)
        hashOf([other.repeat(20), other])
        expect(hashOf(texts)).toBe(before)
      }),
    )
  })

  it('have another hash when any character, or where a text ends, is another', () => {
    const text = 'The same 1,000 words, 日本語 and é.'
    const all = new Set([hashOf([text])])
    const characters = Array.from(text)
    for (const [at] of characters.entries()) all.add(hashOf([characters.with(at, '~').join('')]))
    for (const [at] of characters.entries())
      all.add(hashOf([characters.slice(0, at).join(''), characters.slice(at).join('')]))
    all.add(hashOf([`${text}\0`]))
    all.add(hashOf([]))
    expect(all.size).toBe(1 + 2 * characters.length + 2)
  })

  it('are let go of when they were large', () => {
    expect(encodeTexts(['x'.repeat(3_000_000)]).bytes.length).toBeGreaterThan(3_000_000)
    expect(encodeTexts(['x']).bytes.length).toBeLessThan(1_000_000)
  })
})
