import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mixedText } from '../../test/mixed-text.ts'
import { placedWithin, stretchesWith } from './match-stretches.ts'
import { placedTerms } from './words.ts'

const plain = fc.string({ unit: fc.constantFrom(...Array.from('abz09AZ_. \n修…')), maxLength: 200 })
const text = fc
  .array(fc.oneof(plain, plain, mixedText, fc.constant('x'.repeat(70))), { maxLength: 6 })
  .map((all) => all.join(' '))

/** Every place of a term, or of one that begins so. */
function places(all: ReturnType<typeof placedWithin>, term: string): string[] {
  return all
    .filter((one) => one.term.startsWith(term))
    .map(({ term, start, end }) => `${start} ${end} ${term}`)
    .toSorted()
}

describe('the stretches of a text that may have a word', () => {
  it('have every place of it that the whole text has, and no other', () => {
    fc.assert(
      fc.property(text, fc.nat(), fc.nat({ max: 5 }), (text, nth, length) => {
        const { parts, wholes } = placedTerms(text)
        const all = [...parts, ...wholes]
        const asked = all[nth % Math.max(1, all.length)]?.term ?? 'a'
        for (const term of [asked, asked.slice(0, length + 1)]) {
          const stretches = stretchesWith(text, [term, 'zz'])
          if (stretches !== undefined)
            expect(places(placedWithin(text, stretches), term)).toEqual(places(all, term))
        }
      }),
      { numRuns: 2000 },
    )
  })

  it('are few of a long text, and all that there are of one with accents', () => {
    const text = `${'other words '.repeat(1000)}the needle, ${'and more '.repeat(1000)}max_tokens`
    expect(stretchesWith(text, ['needle'])?.map(({ start, end }) => text.slice(start, end))).toEqual([
      'needle,',
      'max_tokens',
    ])
    expect(stretchesWith('the café', ['cafe'])).toBeUndefined()
    expect(stretchesWith('the needle', ['né'])).toBeUndefined()
    expect(stretchesWith('搜索 needle 函数', ['needle'])).toEqual([{ start: 3, end: 9 }])
  })
})
