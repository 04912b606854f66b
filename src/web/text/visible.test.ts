import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { oneLine, toPieces, visible, titleLine } from './visible.ts'

describe('text that is looked at', () => {
  it('names what turns text around', () => {
    expect(visible('abc\u202etxt.exe')).toBe('abc⟨RLO⟩txt.exe')
    expect(toPieces('\u2066a\u2069')).toEqual([
      { text: 'LRI', sign: true },
      { text: 'a' },
      { text: 'PDI', sign: true },
    ])
  })

  it('shows controls, fillers, tags and halves of characters', () => {
    expect(visible('a\u0000b\u001b[31m\u007f')).toBe('a⟨␀⟩b⟨␛⟩[31m⟨␡⟩')
    expect(visible('a\u200bb\u3164\u{e0041}')).toBe('a⟨ZWSP⟩b⟨U+3164⟩⟨U+E0041⟩')
    expect(visible('x\ud800')).toBe('x⟨U+D800⟩')
  })

  it('leaves people’s writing alone', () => {
    for (const text of ['', 'plain', 'tab\tand\nline\r\nbreak', 'שלום عربى 日本語', '👩‍👩‍👧 é नमस्ते'])
      expect(toPieces(text)).toEqual([{ text }])
  })

  it('loses nothing but what it names', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 0xffff })), (codes) => {
        const text = String.fromCharCode(...codes)
        let at = 0
        for (const { text: piece, sign } of toPieces(text)) {
          if (sign) continue
          const found = text.indexOf(piece, at)
          if (found === -1) return false
          at = found + piece.length
        }
        return true
      }),
    )
  })

  it('cuts to a line in time that does not depend on the rest', () => {
    expect(oneLine(' a\n\n b ')).toBe('a b')
    expect(oneLine('x'.repeat(50_000_000), 10)).toBe('xxxxxxxxx…')
    expect(oneLine('👍'.repeat(10), 10)).toBe('👍👍👍👍…')
  })
})

describe('a title', () => {
  it('is what Markdown would draw, on one line', () => {
    expect(titleLine('## Fix the **wrong total**\n\nof `SUMMER15`')).toBe('Fix the wrong total of SUMMER15')
    expect(titleLine('2 ** 3 and snake_case_name and a*b*c')).toBe('2 ** 3 and snake_case_name and a*b*c')
  })
})
