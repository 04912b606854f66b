import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createGramSet, gramTest } from './grams.ts'
import { createMatcher } from './match.ts'
import { alternativesOf, toGramTest } from './query-literals.ts'
import { parseQuery, type Query } from './query.ts'
import { encodeTexts } from './text-bytes.ts'

function setOf(...texts: readonly string[]): Uint8Array {
  const set = createGramSet()
  set.add(encodeTexts(texts))
  return set.take() ?? new Uint8Array(8)
}

const mayHave = (query: Query, text: string): boolean => toGramTest(query)?.(setOf(text)) ?? true

const matches = (query: Query, text: string): boolean =>
  createMatcher(query).entry(
    { id: 'e', source: 'primary', sequence: 1, kind: 'message', blocks: [{ type: 'text', text }] },
    { id: 's', status: 'completed' },
  ) !== undefined

describe('the set of what stands together', () => {
  it('has every character of Unicode in either case', () => {
    const set = createGramSet()
    const missed: number[] = []
    for (let code = 1; code < 0x20000; code += 1) {
      const text = `X${String.fromCodePoint(code)}y`
      set.add(encodeTexts([text]))
      const bits = set.take() ?? new Uint8Array(8)
      const isThere = [text, text.toLowerCase()].every((one) => gramTest(one)?.(bits) ?? true)
      if (!isThere) missed.push(code)
    }
    expect(missed).toEqual([])
  })
})

describe('what a query must find', () => {
  it.each<[string, ...string[][]]>([
    ['par[s]eSession', ['par~eSession']],
    ['connection (refused|reset) by', ['connection ', ' by']],
    ['foo|bar', ['foo'], ['bar']],
    ['foo|', ['foo'], []],
    ['a(b|c)d|[|]e\\|f', ['a', 'd'], ['e|f']],
    ['(foo|bar)baz', ['baz']],
    ['colou?r', ['colo~r']],
    ['ab*c', ['a~c']],
    ['ab+c', ['ab~c']],
    ['ab{0,2}c', ['a~c']],
    ['ab{2}c', ['ab~c']],
    ['^error: .*$', ['error: ']],
    ['\\bTODO\\b', ['TODO']],
    ['a\\.b\\/c', ['a.b/c']],
    ['\\d+ files', [' files']],
    ['[)(]x', ['x']],
    ['get\\w+Name\\d?.x', ['get~Name', 'x']],
    ['a[a-zA-Z_]*b[0-9x]c[^d]e[.]f[\\w-]g', ['a~b~c', 'e', 'f', 'g']],
    ['a\\W?b\\w\\bc', ['a', 'b', 'c']],
    ['(?!no)yes', ['yes']],
    ['tab\\there', ['tab\there']],
    ['x\\u0041y', ['x', 'y']],
    ['größe', ['gr', 'e']],
    ['文件.错误', ['文件', '错误']],
    [`ab{${'0'.repeat(40)},1}c`, ['a~c']],
    ['a\\k<b|c>d', ['a', '<b'], ['c>d']],
    ['a\\p{b|c}d', ['a', 'b'], ['c', 'd']],
    ['\\p{(}b)?c', ['c']],
  ])('of /%s/', (source, ...alternatives) => {
    const found = alternativesOf(new RegExp(source, 'gi'))
    expect(found.map((literals) => literals.map((literal) => literal.join('~')))).toEqual(alternatives)
  })

  it('tells apart where a text is from where it is not', () => {
    const set = setOf('The quick Brown fox', 'src/search/words.ts', '文件不存在')
    const ask = (text: string): boolean | undefined => toGramTest(parseQuery(text))?.(set)
    for (const there of [
      "'ick bro'",
      "'ORDS.T'",
      "'件不'",
      '/quick.*fox/',
      '/hedgehog|brown/',
      "file:search/wo OR 'zzzzz'",
      "'k b' OR 'zzzzz'",
    ])
      expect([there, ask(there)]).toEqual([there, true])
    for (const gone of [
      "'lazydog'",
      "'ordsxts'",
      "'错误'",
      '/quick.*hedgehog/',
      '/hedgehog|quick.*lazy/',
      "file:search/xo OR 'zzzzz'",
      "'k b' 'zzzzz'",
    ])
      expect([gone, ask(gone)]).toEqual([gone, false])
    for (const unsure of ["'ab'", '/a|b/', '/[0-9]+/', 'words', "-'lazydog'", "'ab' OR 'zzzzz'"])
      expect([unsure, ask(unsure)]).toEqual([unsure, undefined])
  })

  it('never rules out what matches: any part of any text', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', 'B', 'ß', 'İ', 'ς', 'Σ', 'ſ', 'K', 'é', 'e\u0301', '文', '🚀', ' ', '_'),
    })
    fc.assert(
      fc.property(text, fc.nat(), fc.nat(), fc.boolean(), (whole, from, length, caseSensitive) => {
        const start = from % (whole.length + 1)
        const part = whole.slice(start, start + (length % 12)).replaceAll("'", '')
        if (part.trim() === '') return
        const query: Query = {
          text: part,
          caseSensitive,
          fields: [],
          condition: { type: 'substring', text: part },
        }
        if (matches(query, whole)) expect(mayHave(query, whole)).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })

  it('never rules out what matches: any pattern', () => {
    const atom = fc.constantFrom(
      'a',
      'S',
      'k',
      'é',
      '文',
      '.',
      '[ab]',
      '(s|k)',
      '\\w',
      '\\.',
      '(?:ab)',
      '\\bK',
      's',
    )
    const sign = fc.constantFrom('', '', '', '?', '*', '+', '{2}', '{0,1}', '|')
    const pattern = fc.array(fc.tuple(atom, sign), { minLength: 1, maxLength: 7 })
    const text = fc.string({
      unit: fc.constantFrom('a', 'b', 's', 'S', 'ſ', 'k', 'K', 'é', 'É', '文', '.', ' '),
    })
    fc.assert(
      fc.property(pattern, text, fc.boolean(), (parts, whole, isLoose) => {
        const source = parts.flat().join('').replace(/\|$/u, '')
        const regex = new RegExp(source, isLoose ? 'gi' : 'giu')
        const query: Query = {
          text: source,
          caseSensitive: false,
          fields: [],
          condition: { type: 'regex', pattern: regex },
        }
        if (matches(query, whole))
          expect([source, whole, mayHave(query, whole)]).toEqual([source, whole, true])
      }),
      { numRuns: 5000 },
    )
  })

  it('is little beside the texts', () => {
    const words = Array.from({ length: 9000 }, (_, at) => `word${(at * 7919) % 4001}`).join(' ')
    expect(setOf(words).length).toBeLessThan(words.length / 16)
  })
})
