import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mixedText } from '../../test/mixed-text.ts'
import { textsOfJson } from './match-texts.ts'
import { parseQuery } from './query.ts'
import { createSnippets, type SnippetOptions } from './snippet.ts'

function shown(query: string, texts: readonly string[], options?: SnippetOptions): string | undefined {
  const snippet = createSnippets(parseQuery(query))(texts, options)
  if (snippet === undefined) return undefined
  const { text, marks, isCutBefore, isCutAfter } = snippet
  const marked = marks
    .toReversed()
    .reduce(
      (all, { start, end }) => `${all.slice(0, start)}[${all.slice(start, end)}]${all.slice(end)}`,
      text,
    )
  return `${isCutBefore ? '…' : ''}${marked}${isCutAfter ? '…' : ''}`
}

const filler = 'lorem ipsum dolor sit amet '.repeat(40)

describe('a snippet', () => {
  it('is the text itself where that is short, on one line', () => {
    expect(shown('needle', ['other', ' a\n\tneedle\u001b[31m here '])).toBe('a  [needle] [31m here')
  })

  it('is the window that has most of what was asked for', () => {
    const text = `needle ${filler} needle needle ${filler} needle with thread ${filler}`
    expect(shown('needle thread', ['needle', text], { length: 60 })).toMatch(
      /^….*\[needle\] with \[thread\].*…$/,
    )
  })

  it('is found anywhere in a text of many MB, where a stretch of it ends too', () => {
    for (const before of [10, 262_140, 258_050, 3_000_000]) {
      const text = `${'x '.repeat(before / 2)}needle with thread${' y'.repeat(500_000)}`
      expect(shown('needle thread', [text], { length: 60 })).toMatch(/\[needle\] with \[thread\]/)
    }
  })

  it('is the beginning when only fields were asked for, and nothing of nothing', () => {
    expect(shown('role:user', ['', `first ${filler}`], { length: 20 })).toBe('first lorem ipsum…')
    expect(shown('x', [])).toBeUndefined()
    expect(shown('x', ['', ' '])).toBeUndefined()
  })

  it('comes from a raw record as well', () => {
    expect(shown('needle', textsOfJson({ uuid: 'u', message: { content: [{ text: 'the needle' }] } }))).toBe(
      'the [needle]',
    )
  })

  it('has nothing of what the redactor takes out, and marks what is left', () => {
    const secret = 'sk-0123456789abcdef0123456789abcdef'
    const redact = (text: string): string => text.replaceAll(secret, '[REDACTED]')
    const text = `${filler} needle ${secret} needle ${filler}`
    for (let length = 5; length < 120; length += 1) {
      const found = createSnippets(parseQuery('needle OR sk*'))([text], { length, redact })
      expect(found?.text).not.toContain('0123')
      expect(found?.marks.map(({ start, end }) => found.text.slice(start, end))).toContain(
        'needle'.slice(0, length),
      )
    }
  })

  it('has marks within its text and no half characters, whatever the text', () => {
    fc.assert(
      fc.property(mixedText, mixedText, fc.integer({ min: 4, max: 60 }), (text, around, length) => {
        const whole = `${around} ${text} ${around}`.replace(/\p{Cs}/gu, '')
        const query = parseQuery(`"${text.replace(/["\\]/gu, ' ')}" OR a OR 修`)
        const found = createSnippets(query)([whole], { length })
        if (found === undefined) return
        expect(found.text).not.toMatch(/\p{Cs}/u)
        expect(found.text).not.toMatch(/[\p{Cc}\n]/u)
        for (const { start, end } of found.marks) {
          expect(start).toBeGreaterThanOrEqual(0)
          expect(end).toBeGreaterThan(start)
          expect(end).toBeLessThanOrEqual(found.text.length)
        }
      }),
      { numRuns: 500 },
    )
  })
})
