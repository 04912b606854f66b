import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createScanner, PASS } from './scanner.ts'

/** Every place of every literal, one by one: what the scanner must find. */
function naive(text: string, literals: readonly string[], ignoreCase: boolean): string[] {
  const found: string[] = []
  for (let at = 0; at < text.length; at += 1) {
    const here = literals
      .map((literal, index) => [literal, index] as const)
      .filter(([literal]) => {
        const slice = text.slice(at, at + literal.length)
        return (ignoreCase ? slice.replace(/[A-Z]/g, (c) => c.toLowerCase()) : slice) === literal
      })
      .sort(([a], [b]) => b.length - a.length)
    for (const [, index] of here) found.push(`${index}@${at}`)
  }
  return found
}

describe('the scanner', () => {
  const letters = fc.constantFrom('a', 'b', 'A', 'B', '-', 'é', '\u0161', '\uD83D', 'x')

  it.each([false, true])('finds what a naive search finds (ignoring case: %s)', (ignoreCase) => {
    const literal = fc
      .string({ unit: letters, minLength: 3, maxLength: 6 })
      .map((text) => (ignoreCase ? text.toLowerCase() : text))
    fc.assert(
      fc.property(
        fc.uniqueArray(literal, { maxLength: 6 }),
        fc.string({ unit: letters, maxLength: 60 }),
        (literals, text) => {
          const found: string[] = []
          createScanner(literals, { ignoreCase }).scan(text, (index, at) => {
            found.push(`${index}@${at}`)
            return PASS
          })
          expect(found).toEqual(naive(text, literals, ignoreCase))
        },
      ),
      { numRuns: 2_000 },
    )
  })

  it('goes on after what was taken, and tries no other literal there', () => {
    const found: string[] = []
    createScanner(['abc', 'abcd', 'cda', 'xyz']).scan('abcdabcd--xyz', (index, at) => {
      found.push(`${index}@${at}`)
      return index === 1 ? at + 6 : PASS
    })
    expect(found).toEqual(['1@0', '3@10'])
  })

  it('takes texts longer than its scratch space, wherever that ends', () => {
    const scratch = 1 << 18
    const scanner = createScanner(['needle', 'a much longer needle'])
    for (let before = scratch - 24; before < scratch + 4; before += 1) {
      const text = `${'-'.repeat(before)}needle${'-'.repeat(scratch - 10)}a much longer needle`
      const found: string[] = []
      scanner.scan(text, (index, at) => {
        found.push(`${index}@${at}`)
        return index === 1 ? at + 20 : PASS
      })
      expect(found).toEqual([`0@${before}`, `1@${before + scratch - 4}`])
    }
  })

  it('takes literals longer than its scratch space', () => {
    const secret = `begin${'-'.repeat(1 << 19)}`
    const found: number[] = []
    createScanner([`${secret}!`]).scan(`${secret}${secret}! and more`, (_, at) => {
      found.push(at)
      return PASS
    })
    expect(found).toEqual([secret.length])
  })
})
