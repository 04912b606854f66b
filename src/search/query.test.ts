import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stopwatch } from '../../test/stopwatch.ts'
import { isHansardError } from '../errors.ts'
import { toFts } from './query-fts.ts'
import { parseQuery, type Node, type Query } from './query.ts'

const NOW = Date.parse('2026-01-31T12:00:00Z')
const parse = (text: string): Query => parseQuery(text, { now: NOW, utc: true })

/** A tree as a line: `all(a any("b c" b*) not(x))`. */
function shown(node: Node | undefined): string {
  if (node === undefined) return ''
  switch (node.type) {
    case 'all':
    case 'any':
      return `${node.type}(${node.nodes.map(shown).join(' ')})`
    case 'not':
      return `not(${shown(node.node)})`
    case 'words':
      return `${/\s/.test(node.text) ? JSON.stringify(node.text) : node.text}${node.prefix ? '*' : ''}`
    case 'substring':
      return `'${node.text}'`
    case 'regex':
      return String(node.pattern)
    case 'field':
      return JSON.stringify(node.test).replaceAll('"', '')
  }
}

describe('a query', () => {
  it.each([
    ['one two', 'all(one two)'],
    ['one AND two', 'all(one two)'],
    ['"one two" thr*', 'all("one two" thr*)'],
    ['"one tw"*', '"one tw"*'],
    ['a OR b c', 'any(a all(b c))'],
    ['(a OR b) c', 'all(any(a b) c)'],
    ['a -b -"c d" NOT e', 'all(a not(b) not("c d") not(e))'],
    ['a -(b OR c)', 'all(a not(any(b c)))'],
    ["'foo(bar' x", "all('foo(bar' x)"],
    ["don't stop", "all(don't stop)"],
    ["'tis the season", "all('tis the season)"],
    ['/a.*b/ c', 'all(/a.*b/giu c)'],
    ['/a b/s', '/a b/gisu'],
    ['/usr/lib/node', '/usr/lib/node'],
    ['cat /usr/lib/', 'all(cat /usr/lib/)'],
    ['a -> b', "all(a '->' b)"],
    ['--flag', '--flag'],
    ['TypeError: x', 'all(TypeError: x)'],
    ['std::string http://x/y', 'all(std::string http://x/y)'],
    ['role: user', 'all(role: user)'],
    ['x"y z', 'all(x y z)'],
    ['OR a OR', 'a'],
    ['a OR OR b', 'any(a b)'],
    [') a ( b', 'all(a b)'],
    ['a - b', "all(a '-' b)"],
    ['"" a', 'a'],
    ['***', '*'.repeat(1)],
    ['', ''],
    ['   ', ''],
    ['-', "'-'"],
    ['a or b', 'all(a or b)'],
  ])('%j', (text, tree) => {
    const found = shown(parse(text).condition)
    expect(text === '***' ? found.replaceAll("'", '') : found).toBe(tree)
  })

  it.each([
    ['role:user', '{field:role,values:[user]}'],
    ['Role:User,Tool', '{field:role,values:[user,tool]}'],
    ['tool:Bash', '{field:tool,values:[bash]}'],
    ['project:"my app, two"', '{field:project,values:[my app, two]}'],
    ['source:subagent:a1', '{field:source,values:[subagent:a1]}'],
    ['-has:error', 'not({field:has,values:[error]})'],
    ['cost>0.5', '{field:cost,operator:>,value:0.5}'],
    ['cost:>=$2', '{field:cost,operator:>=,value:2}'],
    ['tokens<10k', '{field:tokens,operator:<,value:10000}'],
    ['since:2026-01-30', '{field:since,instant:2026-01-30T00:00:00.000Z}'],
    ['until:2026-01-30', '{field:until,instant:2026-01-31T00:00:00.000Z}'],
    ['until:2026-01', '{field:until,instant:2026-02-01T00:00:00.000Z}'],
    ['since:7d', '{field:since,instant:2026-01-24T12:00:00.000Z}'],
    ['since:yesterday', '{field:since,instant:2026-01-30T00:00:00.000Z}'],
    ['since:2026-01-30T10:00+02:00', '{field:since,instant:2026-01-30T08:00:00.000Z}'],
  ])('%s asks for a field', (text, field) => {
    const { fields, condition } = parse(text)
    expect(fields.map(shown)).toEqual([field])
    expect(condition).toBeUndefined()
  })

  it('keeps fields within an OR where they stand', () => {
    const { fields, condition } = parse('x (role:user OR y) tool:Bash')
    expect(fields.map(shown)).toEqual(['{field:tool,values:[bash]}'])
    expect(shown(condition)).toBe('all(x any({field:role,values:[user]} y))')
  })

  it.each([
    'role:bot',
    'status:done',
    'has:cheese',
    'since:banana',
    'since:2026-02-30',
    'cost>much',
    '/(/',
    'tokens>',
  ])('%s is an error with a hint', (text) => {
    try {
      parse(text)
      expect.unreachable()
    } catch (error) {
      expect(isHansardError(error) && error.code === 'invalid-argument' && error.hint).toBeTruthy()
    }
  })

  it('takes the flags of a pattern, those that every pattern has among them', () => {
    expect(shown(parse('/\\p{Lu}+/u').condition)).toBe('/\\p{Lu}+/giu')
    expect(shown(parse('/a.b/ims').condition)).toBe('/a.b/gimsu')
    expect(shown(parse('/a{/i').condition)).toBe('/a{/gi')
    expect(shown(parseQuery('/a/i', { caseSensitive: true }).condition)).toBe('/a/giu')
    expect(() => parse('/a{/u')).toThrow('not a regular expression')
  })

  it('asks for words that begin like a facet among the words of texts alone', () => {
    expect(toFts(parse('rol*'))).toEqual({ expression: '(text : "rol" *)', exact: true })
    expect(toFts(parse('roles*'))).toEqual({ expression: '"roles" *', exact: true })
    expect(toFts(parse('a -every*'))?.expression).toBe('("a" NOT (text : "every" *))')
  })

  it.each(['(((', ')', '()', 'OR', 'NOT', ' ( OR ) '])(
    'of nothing but operators asks for these: %s',
    (text) => {
      expect(parse(text)).toMatchObject({ fields: [], condition: { type: 'substring', text: text.trim() } })
    },
  )

  it('is a whole pattern on request', () => {
    const { condition } = parseQuery('role:x (a|b)+', { regex: true, caseSensitive: true })
    expect(shown(condition)).toBe('/role:x (a|b)+/gu')
    expect(shown(parseQuery('a{', { regex: true }).condition)).toBe('/a{/gi')
  })
})

/** Text that is mostly operators. */
const garbage = fc.string({ unit: fc.constantFrom(...Array.from('"\'/\\()-*:<>=,  abrole')), maxLength: 200 })
const words = fc.array(
  fc.constantFrom(
    'OR',
    'AND',
    'NOT',
    '(',
    ')',
    '-',
    '"',
    "'",
    '/',
    'role:',
    'since:',
    'cost>',
    'a',
    'b*',
    '修复',
    '\\',
  ),
  {
    maxLength: 60,
  },
)

/** A query, or the error that says why not. */
function attempt(text: string): Query | undefined {
  try {
    return parse(text)
  } catch (error) {
    if (isHansardError(error)) return undefined
    throw error
  }
}

describe('any text', () => {
  it('is a query or a clear error', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          garbage,
          fc.string({ unit: 'binary' }),
          words.map((all) => all.join(' ')),
          words.map((all) => all.join('')),
        ),
        (text) => {
          const query = attempt(text)
          if (query !== undefined) toFts(query)
        },
      ),
      { numRuns: 2000 },
    )
  })

  it('of 10,000 characters is as well, at once', () => {
    for (const unit of [
      'a ',
      '"',
      '""',
      "'",
      "'a ",
      '/',
      '/a ',
      '(',
      ')',
      '-',
      '-a ',
      'OR ',
      'a OR ',
      '\\"',
      '"\\"',
      '*',
      'a*',
      'role:',
      'NOT ',
      '修',
      '_',
      '\u0301',
      "'a b' ",
      'a.b_',
      '"a b" ',
    ]) {
      const text = unit.repeat(Math.ceil(10_000 / unit.length))
      const spent = stopwatch()
      const query = attempt(text)
      if (query !== undefined) toFts(query)
      expect(spent(), unit).toBeLessThan(1000)
    }
  })
})

describe('for the index', () => {
  it.each([
    ['one', '"one"', true],
    ['one two', '("one" AND "two")', true],
    ['"one two"', '"one two"', true],
    ['sess*', '"sess" *', true],
    ['parseSessionId', '("parse session id" OR "parsesessionid")', true],
    ['max_tok*', '("max tok" * OR "maxtok" *)', true],
    ['one -two', '("one" NOT "two")', true],
    ['one OR two', '("one" OR "two")', true],
    ['修复了', '"修复 复了"', true],
    ['修', '"修" *', true],
    ['bug修', '"bug 修" *', true],
    ["'ome words he'", '("words" AND "he" *)', false],
    ["'.parse_it('", '"parseit"', false],
    ["'_foo bar_'", '"bar" *', false],
    ["x 'frag'", '"x"', false],
    ['x role:user', '"x"', true],
  ])('%s is %s', (text, expression, exact) => {
    expect(toFts(parse(text))).toEqual({ expression, exact })
  })

  it.each(['', '-one', "'frag'", '/a/', 'role:user', 'a OR -b', 'a OR role:user', '"!!"'])(
    '%s is nothing',
    (text) => {
      expect(toFts(parse(text))).toBeUndefined()
    },
  )
})
