import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fit, terminalWidth, widthOf } from './width.ts'

describe('the width of a text', () => {
  it.each([
    ['plain', 5],
    ['', 0],
    ['naïve', 5],
    ['nai\u0308ve', 5],
    ['日本語', 6],
    ['ｆｕｌｌ', 8],
    ['한국어', 6],
    ['\u1112\u1161\u11ab', 2],
    ['🎉', 2],
    ['👩‍👩‍👧‍👦', 2],
    ['👍🏽', 2],
    ['🇯🇵🇫🇷', 4],
    ['❤️', 2],
    ['✓ ≥ … — ─', 9],
    ['שלום', 4],
    ['𠮷', 2],
    ['a\u200bb', 2],
  ])('of %s is what it takes up on a terminal', (text, width) => {
    expect(widthOf(text)).toBe(width)
  })
})

describe('fitting', () => {
  it('cuts at the end, or at the start, and says so', () => {
    expect(fit('parliament', 10)).toBe('parliament')
    expect(fit('parliament', 6)).toBe('parli…')
    expect(fit('/home/me/project', 9, 'start')).toBe('…/project')
    expect(fit('日本語の文', 6)).toBe('日本…')
    expect(fit('日本語の文', 6, 'start')).toBe('…の文')
    expect(fit('anything', 1)).toBe('…')
    expect(fit('anything', 0)).toBe('')
  })

  it('keeps characters whole: no flag, family or marked letter is cut apart', () => {
    expect(fit('🇯🇵🇫🇷🇩🇪', 5)).toBe('🇯🇵🇫🇷…')
    expect(fit('👩‍👩‍👧‍👦👩‍👩‍👧‍👦', 3)).toBe('👩‍👩‍👧‍👦…')
    expect(fit('e\u0301e\u0301e\u0301', 2)).toBe('e\u0301…')
  })

  it('never takes more room than there is, and takes all of a text that has it', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 40 })
    fc.assert(
      fc.property(text, fc.nat(30), fc.constantFrom('end', 'start'), (one, width, side) => {
        const fitted = fit(one, width, side)
        expect(widthOf(fitted)).toBeLessThanOrEqual(width)
        if (widthOf(one) <= width) expect(fitted).toBe(one)
      }),
    )
  })
})

describe('the width of a terminal', () => {
  it('is what the terminal says, then COLUMNS, then 80; a pipe has none', () => {
    expect(terminalWidth({ isTTY: true, columns: 120 }, { COLUMNS: '40' })).toBe(120)
    expect(terminalWidth({ isTTY: true, columns: 0 }, { COLUMNS: '40' })).toBe(40)
    expect(terminalWidth({ isTTY: true, columns: 0 }, { COLUMNS: 'wide' })).toBe(80)
    expect(terminalWidth({}, { COLUMNS: '40' })).toBeUndefined()
  })
})
