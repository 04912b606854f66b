import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMatcher } from './match.ts'
import { parseQuery, type Query } from './query.ts'
import { isAsked, mayBeCut, textsWithin, toWithin, withinLookup } from './query-within.ts'
import { termsOf } from './words.ts'

const ask = (query: string): string | undefined => JSON.stringify(toWithin(parseQuery(query)))
const text = (...texts: string[]): object => ({ type: 'word', texts })

/** Words that a text is found by, as a lookup of its own words would ask for them; undefined when it is not found. */
const found = (query: Query, whole: string): string | undefined => {
  const within = toWithin(query)
  if (within === undefined) return 'not narrowed'
  const asked = textsWithin(within)
  const terms = termsOf(whole).filter(
    (term) => mayBeCut(term) || (asked.some((one) => term.includes(one)) && isAsked(within, term)),
  )
  return withinLookup(within, terms)?.expression
}

const matches = (query: Query, whole: string): boolean =>
  createMatcher(query).entry(
    { id: 'e', source: 'primary', sequence: 1, kind: 'message', blocks: [{ type: 'text', text: whole }] },
    { id: 's', status: 'completed' },
  ) !== undefined

describe('what must stand within a word', () => {
  it('is letters and digits that follow each other, three or more', () => {
    expect(ask("'leneed'")).toBe(JSON.stringify(text('leneed')))
    expect(ask("'LeNeed.ts x'")).toBe(JSON.stringify(text('leneed')))
    expect(ask("'rdinary wor'")).toBe(JSON.stringify({ type: 'all', parts: [text('rdinary'), text('wor')] }))
    expect(ask('/par[^s]eSess(x|y)ion9/')).toBe(
      JSON.stringify({ type: 'all', parts: [text('par'), text('esess'), text('ion9')] }),
    )
    expect(ask("'leneed' OR 'otherneed'")).toBe(
      JSON.stringify({ type: 'any', parts: [text('leneed'), text('otherneed')] }),
    )
  })

  it('is all that follows each other without leaving the word, in this order', () => {
    expect(ask("'max_tokens'")).toBe(JSON.stringify(text('maxtokens')))
    expect(ask('/par[s]eSess(x|y)ion9/')).toBe(
      JSON.stringify({ type: 'all', parts: [text('par', 'esess'), text('ion9')] }),
    )
    expect(ask('/x\\.func\\w+_Name[.]/')).toBe(JSON.stringify(text('func', 'name')))
    expect(ask('/of func\\w+ is/')).toBe(JSON.stringify(text('func')))
    const within = toWithin(parseQuery('/func\\w*name/'))
    if (within === undefined) throw new Error('unknown')
    expect(withinLookup(within, ['namefunc', 'name', 'funcname', 'afuncxnamez'])?.expression).toBe(
      '(("funcname" OR "afuncxnamez"))',
    )
  })

  it('is one of several where a bar parts all of a pattern', () => {
    expect(ask('/leneed|[x]otherneed/')).toBe(ask("'leneed' OR 'otherneed'"))
  })

  it('is unknown of short texts, other scripts, words, what must not be there, and one of several that is unknown', () => {
    for (const query of ["'ab.c'", "'文件不存在'", 'words', "-'leneed'", "'leneed' OR 'ab'", '/leneed|x/'])
      expect([query, ask(query)]).toEqual([query, undefined])
  })

  it('is unknown where it is more than SQLite takes in one question', () => {
    const sides = (count: number): string =>
      Array.from({ length: count }, (_, nth) => `leneed${nth}`).join('|')
    expect(ask(`/${sides(100)}/`)).toBeDefined()
    expect(ask(`/${sides(101)}/`)).toBeUndefined()
    const deep = (pairs: number): string =>
      `${"('leneed' OR ('otherneed' ".repeat(pairs)}'needle'${'))'.repeat(pairs)}`
    expect(ask(deep(8))).toBeDefined()
    expect(ask(deep(9))).toBeUndefined()
  })

  it('is looked up by the words that have it, and by those that may be cut', () => {
    const within = toWithin(parseQuery("'leneed' 'foo'"))
    if (within === undefined) throw new Error('unknown')
    expect(withinLookup(within, ['wholeneedle', 'foobar', 'afoo'])?.expression).toBe(
      '((("wholeneedle") AND ("foobar" OR "afoo")))',
    )
    expect(withinLookup(within, ['wholeneedle'])).toBeUndefined()
    const cut = 'x'.repeat(48)
    expect(withinLookup(within, ['wholeneedle', cut])?.expression).toBe(`("${cut}")`)
  })

  const units = [
    'a',
    'b',
    'B',
    'C',
    '1',
    'ß',
    'İ',
    'ſ',
    'K',
    'é',
    'e\u0301',
    '\u00ad',
    '文',
    '🚀',
    ' ',
    '_',
    '.',
    'abc',
    'ABc',
  ]
  const whole = fc.oneof(
    fc.string({ unit: fc.constantFrom(...units), maxLength: 40 }),
    // Long enough to be cut.
    fc.string({ unit: fc.constantFrom('a', 'b', 'C', '1', 'K', 'é', 'abC'), minLength: 60, maxLength: 120 }),
  )

  it('never rules out what matches: any part of any text', () => {
    let narrowed = 0
    fc.assert(
      fc.property(whole, fc.nat(), fc.nat(), fc.boolean(), (all, from, length, caseSensitive) => {
        const start = from % (all.length + 1)
        const part = all.slice(start, start + (length % 24))
        if (part.trim() === '') return
        const condition = { type: 'substring', text: part } as const
        const query: Query = { text: part, caseSensitive, fields: [], condition }
        if (!matches(query, all)) return
        if (toWithin(query) !== undefined) narrowed += 1
        expect(found(query, all)).toBeDefined()
      }),
      { numRuns: 4000 },
    )
    expect(narrowed).toBeGreaterThan(500)
  })

  it('never rules out what matches: any pattern', () => {
    const atom = fc.constantFrom(
      'abc',
      'ABk',
      'k',
      'é',
      '文',
      '.',
      '[ab]',
      '(s|k)',
      '\\w',
      '[a-z]',
      'c_a',
      '_',
      '\\.',
      '\\bK',
      'sss',
    )
    const sign = fc.constantFrom('', '', '', '?', '*', '+', '{2}', '{0,1}', '|')
    const pattern = fc.array(fc.tuple(atom, sign), { minLength: 1, maxLength: 4 })
    const text = fc.string({
      unit: fc.constantFrom(
        'abc',
        'ABK',
        '_',
        'cabcKabc',
        'a',
        'b',
        's',
        'ſss',
        'S',
        'k',
        'K',
        'é',
        '文',
        '.',
        ' ',
      ),
    })
    fc.assert(
      fc.property(pattern, text, fc.boolean(), (parts, all, isLoose) => {
        const source = parts.flat().join('').replace(/\|$/u, '')
        const regex = new RegExp(source, isLoose ? 'gi' : 'giu')
        const condition = { type: 'regex', pattern: regex } as const
        const query: Query = { text: source, caseSensitive: false, fields: [], condition }
        const isMatch = new RegExp(source, isLoose ? 'i' : 'iu').test(all)
        expect([source, matches(query, all)]).toEqual([source, isMatch])
        if (isMatch) expect([source, found(query, all)]).not.toEqual([source, undefined])
      }),
      { numRuns: 4000 },
    )
  })
})
