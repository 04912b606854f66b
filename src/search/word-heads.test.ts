import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFound, cutWords, SHORT } from './word-heads.ts'

type Cut = { readonly word: string; readonly head: number; readonly more: number; readonly hash: number }

function cut(text: string, before = 0): Cut[] {
  const bytes = Buffer.concat([Buffer.alloc(before, 'x'), Buffer.from(text)]).subarray(before)
  const found = createFound(bytes.length + 1)
  const count = cutWords(bytes, bytes.length, found)
  return Array.from({ length: count }, (_, nth) => ({
    word: bytes.toString('utf8', found.starts[nth], found.ends[nth]),
    head: found.heads[nth] as number,
    more: found.mores[nth] as number,
    hash: found.hashes[nth] as number,
  }))
}

/** Bytes that differ from a space by one bit or by one, and characters of several bytes. */
const texts = fc.string({ unit: fc.constantFrom(' ', ' ', '!', '\x1f', '\xa0', '0', 'a', 'é', '漢', '😀') })

describe('cutting a list of words', () => {
  it('finds what is between spaces, wherever the list lies and ends', () => {
    fc.assert(
      fc.property(texts, fc.nat(8), (text, before) => {
        expect(cut(text, before).map(({ word }) => word)).toEqual(
          text.split(' ').filter((word) => word !== ''),
        )
      }),
      { numRuns: 2000 },
    )
  })

  it('gives a word the same numbers whatever follows it, and short ones numbers that no other has', () => {
    fc.assert(
      fc.property(texts, texts, (text, other) => {
        const seen = new Map<string, string>()
        for (const { word, head, more, hash } of [...cut(text), ...cut(`${other} and what follows`)]) {
          const numbers = `${head} ${more} ${hash}`
          expect(seen.get(word) ?? numbers).toBe(numbers)
          seen.set(word, numbers)
        }
        const short = [...seen].filter(([word]) => Buffer.byteLength(word) <= SHORT)
        expect(new Set(short.map(([, numbers]) => numbers)).size).toBe(short.length)
      }),
      { numRuns: 2000 },
    )
  })
})
