import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stopwatch } from '../../test/stopwatch.ts'
import { composed, kindOf } from './words-fold.ts'
import { BREAK } from './words-output.ts'
import { mixedText } from '../../test/mixed-text.ts'
import { encodeTexts } from './text-bytes.ts'
import { createTermList, placedTerms, termsOf } from './words.ts'

describe('terms', () => {
  it.each([
    ['parseSessionId', 'parse session id parsesessionid'],
    ['max_tokens', 'max tokens maxtokens'],
    ['MAX_TOKENS', 'max tokens maxtokens'],
    ['HTTPServer.utf8Decode', 'http server utf8 decode httpserver utf8decode'],
    ['LLMs and IDs', 'llms and ids'],
    ['__init__', 'init'],
    ['src/search/words.ts', 'src search words ts'],
    ['3F2A9C de305d54-75b4', '3f2a9c de305d54 75b4'],
    ["don't", 'don t'],
    ['Café cafe\u0301 CAFÉ', 'cafe cafe cafe'],
    ['naïveBayes NAÏVEBAYES', 'naive bayes naivebayes naivebayes'],
    ['straße STRASSE Øre Łódź', 'strasse strasse ore lodz'],
    ['Ｆｕｌｌ ﬃ ½ ①', 'full ffi 12 1'],
    ['ΟΔΟΣ οδος', 'οδοσ οδοσ'],
    ['修复bug', '修复 复 bug'],
    ['修', '修'],
    ['か\u3099く がく', 'がく く がく く'],
    ['\u1112\u1161\u11ab글 한글', '한글 글 한글 글'],
    ['👩‍💻 👍🏽 🇩🇪', '👩 💻 👍 🇩 🇪'],
    ['שָׁלוֹם العَرَبِيَّة', 'שלום العربية'],
    ['हिन्दी', 'हिन्दी'],
    ['x\ud800y', 'x y'],
    ['→ ── !!', ''],
  ])('of %j', (text, terms) => {
    expect(termsOf(text).join(' ')).toBe(terms)
  })

  it('of a blob are its beginning alone, and of a long script no half character', () => {
    expect(termsOf(`x ${'aB3'.repeat(1000)} y`)).toEqual(['x', 'ab3'.repeat(16), 'y'])
    expect(termsOf('ж'.repeat(60))).toEqual(['ж'.repeat(24)])
    expect(termsOf('हि'.repeat(40))).toEqual(['हि'.repeat(8)])
  })

  it('stand in a list with a break between texts, wholes after parts', () => {
    const list = createTermList()
    for (const text of ['one twoThree', '', '!!', 'fourFive']) list.add(text)
    expect(list.take()).toBe(` one two three ${BREAK} four five ${BREAK} twothree ${BREAK} fourfive `)
    expect(list.take()).toBe(' ')
  })

  it('are the same in bytes, of texts that were encoded together', () => {
    fc.assert(
      fc.property(fc.array(mixedText, { maxLength: 5 }), (texts) => {
        const one = createTermList()
        for (const text of texts) one.add(text)
        const list = createTermList()
        list.addEncoded(encodeTexts(texts))
        expect(` ${Buffer.from(list.takeBytes()).toString()}`).toBe(one.take())
        expect(list.takeBytes()).toHaveLength(0)
      }),
    )
  })

  it('are the same with their places, which are within the text and never cut a character', () => {
    fc.assert(
      fc.property(mixedText, (text) => {
        const { parts, wholes } = placedTerms(text)
        expect([...parts, ...wholes].map(({ term }) => term)).toEqual(termsOf(text))
        for (const { term, start, end, kind } of [...parts, ...wholes]) {
          expect(end).toBeGreaterThan(start)
          expect(end).toBeLessThanOrEqual(text.length)
          // What a term stands for, by itself, is that term again.
          if (kind === 0) expect(termsOf(text.slice(start, end)).join('')).toContain(term)
        }
      }),
      { numRuns: 500 },
    )
  })

  it('are the same for an accent that a mark of another script stands before', () => {
    const text = 'LLM\u015B\u3099'
    expect(termsOf(text.normalize('NFD'))).toEqual(termsOf(text))
  })

  it('are unchanged by case, by composition and by being terms already', () => {
    fc.assert(
      fc.property(mixedText, (text) => {
        const terms = termsOf(text)
        expect(termsOf(text.normalize('NFD'))).toEqual(termsOf(text.normalize('NFC')))
        for (const term of terms) expect(term).toBe(term.trim())
        expect(terms.some((term) => term === '' || term.includes(BREAK))).toBe(false)
      }),
      { numRuns: 500 },
    )
  })

  it('of every character are those of its other case', () => {
    const wrong: string[] = []
    for (let code = 0x80; code < 0x20000; code += 1) {
      if (code >= 0xd800 && code < 0xe000) continue
      const kind = kindOf(code)
      if (kind < 1 || kind > 3 || /\s/.test(String.fromCodePoint(code).normalize('NFKD'))) continue
      const letter = String.fromCodePoint(code)
      // Some capitals are several letters, and not of the accents that small ones have.
      const upper = Array.from(letter.toUpperCase()).length === 1 ? letter.toUpperCase() : letter
      for (const other of [letter.toLowerCase(), upper, letter.normalize('NFKD')]) {
        if (other === '' || termsOf(other).join('') !== termsOf(letter).join(''))
          wrong.push(`${letter} ${other}`)
      }
    }
    expect(wrong).toEqual([])
  })

  it('are not parted by an apostrophe that is a letter', () => {
    expect(termsOf('памʼять')).toEqual(['памʼять'])
    expect(termsOf('ПАМʼЯТЬ')).toContain('памʼять')
    expect(termsOf('ŉ')).toEqual(termsOf('ʼn'))
  })

  it('take time in proportion to the text', () => {
    for (const unit of [
      'a',
      'aA',
      'AAa',
      'a_',
      '_',
      '修',
      'か\u3099',
      '\u0301',
      '👩\u200d',
      '\u1112\u1161',
      'é',
      'Éé',
    ]) {
      const spent = stopwatch()
      const terms = termsOf(unit.repeat(Math.ceil(500_000 / unit.length)))
      expect(terms.length).toBeGreaterThanOrEqual(0)
      expect(spent()).toBeLessThan(3000)
    }
  })
})

describe('letters that change the one before', () => {
  it('make one of two as Unicode does', () => {
    for (const mark of [0x3099, 0x309a, 0x1161, 0x1175, 0x11a8, 0x11c2]) {
      for (let before = 0x1100; before <= 0xd7a3; before += 1) {
        if (before === 0x1200) before = 0x3040
        if (before === 0x3100) before = 0xac00
        const one = String.fromCodePoint(before, mark).normalize('NFC')
        expect(composed(before, mark)).toBe(one.length === 1 ? one.charCodeAt(0) : undefined)
      }
    }
  })
})
