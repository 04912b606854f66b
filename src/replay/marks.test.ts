import { describe, expect, it } from 'vitest'
import type { Quality, Usage } from '../transcript/usage.ts'
import { countMark, differenceMark, legend, marked, sumMark, sumQuality } from './marks.ts'

const usage = (quality: Quality): Usage => ({ input: 10, output: 5, quality })
const cost = (...unpriced: readonly string[]) => ({ usd: '1.00', unpriced })

describe('a mark', () => {
  it('is what the quality is: nothing, at least, or estimated', () => {
    const marks = (['reported', 'partial', 'estimated', 'unavailable'] as const).map((quality) => [
      countMark({ usage: usage(quality) }),
      sumMark({ usage: usage(quality), cost: cost() }),
    ])
    expect(marks).toEqual([
      ['', ''],
      ['≥', '≥'],
      ['~', '~'],
      ['~', '~'],
    ])
  })

  it('says at least where something is missing altogether, also beside estimates', () => {
    for (const quality of ['reported', 'estimated'] as const) {
      expect(sumMark({ usage: usage(quality), uncounted: 1 })).toBe('≥')
      expect(sumMark({ usage: usage(quality), cost: cost('unheard-of') })).toBe('≥')
      expect(sumMark({ usage: { output: 5, quality }, cost: cost() })).toBe('≥')
      expect(sumMark({ usage: { input: 5, quality }, cost: cost() })).toBe('≥')
    }
    // One kind of token is as sure as ever when another is unknown.
    expect(countMark({ usage: { output: 5, quality: 'reported' } })).toBe('')
  })

  it('is of the cost alone where only that is by a rule', () => {
    const run = { usage: usage('reported'), cost: cost(), isEstimated: true }
    expect([countMark(run), sumMark(run), sumQuality(run)]).toEqual(['', '~', 'estimated'])
  })

  it('is of a difference an estimate as soon as either side bears one', () => {
    expect([differenceMark('', ''), differenceMark('≥', ''), differenceMark('', '~')]).toEqual(['', '~', '~'])
    expect(differenceMark('≥', '≥')).toBe('~')
  })

  it('is explained where it stands, and nowhere else', () => {
    const [least, about] = [marked('≥', '5'), marked('~', '$1')]
    expect(legend(['5', 'unknown', '-'])).toBeUndefined()
    expect(legend([least])).toMatch(/^≥ at least: [^~]+$/)
    expect(legend([about, least])).toMatch(/^≥ at least: .+; ~ estimated$/)
  })
})
