import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stopwatch } from '../../test/stopwatch.ts'
import { mixedText } from '../../test/mixed-text.ts'
import { isHansardError } from '../errors.ts'
import type { Block } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import type { Session } from '../transcript/session.ts'
import { withinTime } from './match-regex.ts'
import { textsOf, textsOfJson } from './match-texts.ts'
import { createMatcher } from './match.ts'
import { toFts } from './query-fts.ts'
import { parseQuery, type QueryOptions } from './query.ts'
import { createTermList, placedTerms } from './words.ts'

const session: Session = {
  id: 's',
  status: 'failed',
  title: 'Fix the Login',
  agent: 'claude-code',
  cwd: '/home/me/My-App',
  git: { branch: 'main' },
  run: { id: 'r1', flow: 'build', step: 'impl' },
  startedAt: '2026-01-30T10:00:00.000Z',
  totals: {
    entries: 1,
    toolCalls: 1,
    calls: 1,
    usage: { input: 900, output: 100, quality: 'reported' },
    cost: { usd: '0.75', unpriced: [] },
  },
}

function entry(...blocks: (Block | string)[]): Entry {
  return {
    id: 'e',
    source: 'primary',
    sequence: 1,
    kind: 'message',
    role: 'assistant',
    model: 'claude-opus-4-5',
    blocks: blocks.map((block) => (typeof block === 'string' ? { type: 'text', text: block } : block)),
  }
}

function matches(query: string, subject: Entry | string, options: QueryOptions = {}): boolean {
  const one = typeof subject === 'string' ? entry(subject) : subject
  return createMatcher(parseQuery(query, { utc: true, ...options })).entry(one, session) !== undefined
}

describe('a word', () => {
  it.each([
    ['session', 'parseSessionId', true],
    ['tokens', 'max_tokens: 5', true],
    ['parsesessionid', 'parseSessionId', true],
    ['parseSessionId', 'the parse_session_id', true],
    ['parse_session_id', 'the parsesessionid', true],
    ['"parse_session_id"', 'the parsesessionid', true],
    ['session', 'the parsesessionid', false],
    ['ParseSessionid', 'parseSessionId', true],
    ['sess*', 'parseSessionId', true],
    ['parseSess*', 'parseSessionId', true],
    ['ession', 'parseSessionId', false],
    ['"session id"', 'parseSessionId is', true],
    ['"session is"', 'parseSessionId is', false],
    ['cafe', 'CAFÉ', true],
    ['修复', '请修复这个', true],
    ['修复这个bug', '请修复这个bug吧', true],
    ['修个', '修复这个', false],
    ['个', '修复这个', true],
    ['👩‍💻', 'fix 👩💻', true],
    ['words.ts', 'src/search/words.ts', true],
    ['src/words.ts', 'src/search/words.ts', false],
    ['"one two"', 'one, two', true],
    ["'ne tw'", 'one two', true],
    ["'NE TW'", 'one two', true],
    ["'foo('", 'foo(x)', true],
    ['-> x', 'a -> x', true],
    ['-> x', 'a x', false],
    ['a -b', 'a c', true],
    ['a -b', 'a b', false],
    ['(x OR b) a', 'a b', true],
    ['/b.n+d/', 'a Bonnd', true],
    ['/b.n+d/', 'a bod', false],
  ])('%s in %j', (query, text, found) => {
    expect(matches(query, text)).toBe(found)
  })

  it('with capitals and accents that count', () => {
    const sensitive = { caseSensitive: true }
    expect(matches('Session', 'parseSessionId', sensitive)).toBe(true)
    expect(matches('session', 'parseSessionId', sensitive)).toBe(false)
    expect(matches('parseSessionId', 'parseSessionId', sensitive)).toBe(true)
    expect(matches('parseSessionID', 'parseSessionId', sensitive)).toBe(false)
    expect(matches('cafe', 'café', sensitive)).toBe(false)
    expect(matches('café', 'cafe\u0301', sensitive)).toBe(true)
    expect(matches("'Ab'", 'ab', sensitive)).toBe(false)
    expect(matches('/Ab/', 'ab', sensitive)).toBe(false)
  })

  it('of a long blob is told from another with the same beginning', () => {
    const blob = 'Ab3'.repeat(60)
    expect(matches(`${blob}x`, `data ${blob}x end`)).toBe(true)
    expect(matches(`${blob}x`, `data ${blob}y end`)).toBe(false)
    expect(matches(`${blob.slice(0, 60)}*`, `data ${blob}y end`)).toBe(true)
    expect(matches(`${blob.slice(0, 60)}Z*`, `data ${blob}y end`)).toBe(false)
  })
})

describe('what is searched', () => {
  const blocks: Block[] = [
    { type: 'thinking', text: 'alpha' },
    { type: 'tool-call', name: 'bravo', callId: 'secretid', input: { charlie: ['delta', { x: 42 }] } },
    { type: 'tool-result', name: 'echo', output: 'foxtrot', error: 'golf' },
    { type: 'tool-result', output: [{ type: 'text', text: 'hotel' }] },
    { type: 'error', message: 'india', code: 'juliet' },
    { type: 'unknown', raw: { kilo: 'lima' } },
    { type: 'image', data: 'bWlrZQ', url: 'https://example.com/november' },
  ]
  it.each('alpha bravo delta 42 echo foxtrot golf hotel india juliet lima november'.split(' '))(
    'has %s',
    (word) => {
      expect(matches(word, entry(...blocks))).toBe(true)
    },
  )
  it.each(['secretid', 'charlie', 'bWlrZQ', 'login'])('has no %s', (word) => {
    expect(matches(word, entry(...blocks))).toBe(false)
  })
  it('has the title at the first entry', () => {
    expect(matches('login', { ...entry('x'), sequence: 0 })).toBe(true)
    expect(matches('login', { ...entry('x'), sequence: 0, source: 'subagent:a' })).toBe(false)
  })
  it('is not crossed by a phrase', () => {
    expect(matches('"alpha bravo"', entry(...blocks))).toBe(false)
    expect(matches('alpha bravo', entry(...blocks))).toBe(true)
  })
  it('reaches any depth', () => {
    let raw: Block & { type: 'unknown' } = { type: 'unknown', raw: 'needle' }
    for (let depth = 0; depth < 20_000; depth += 1) raw = { type: 'unknown', raw: [raw.raw] }
    expect(matches('needle', entry(raw))).toBe(true)
  })
})

describe('a field', () => {
  const subject: Entry = {
    ...entry(
      { type: 'tool-call', name: 'Edit', input: { file_path: '/src/login.ts', old_string: 'a' } },
      { type: 'tool-call', name: 'apply_patch', input: '*** Begin Patch\n*** Update File: lib/a.py\n+x' },
      { type: 'tool-result', isError: true },
    ),
    at: '2026-01-31T23:00:00.000123Z',
  }
  it.each([
    ['role:assistant', true],
    ['role:user', false],
    ['-role:user', true],
    ['role:user,assistant', true],
    ['tool:edit', true],
    ['tool:ed', false],
    ['tool:ed*', true],
    ['tool:*patch', true],
    ['agent:claude-code', true],
    ['agent:claude*', true],
    ['model:opus', true],
    ['project:my-app', true],
    ['branch:main', true],
    ['file:login.ts', true],
    ['file:a.py', true],
    ['file:src/*.ts', true],
    ['file:other', false],
    ['run:r1 flow:build step:impl', true],
    ['status:failed', true],
    ['status:completed', false],
    ['source:primary', true],
    ['source:subagent', false],
    ['has:error', true],
    ['has:tool', true],
    ['has:thinking', false],
    ['since:2026-01-31', true],
    ['since:2026-02-01', false],
    ['until:2026-01-31', true],
    ['until:2026-01-30', false],
    ['since:2026-01-31T23:00:00.000124Z', false],
    ['cost>0.5 cost<1 tokens>=1000 tokens<1001', true],
    ['cost>0.75', false],
    ['role:user OR tool:edit', true],
  ])('%s', (query, found) => {
    expect(matches(query, subject)).toBe(found)
  })
  it('that is unknown matches neither more nor less', () => {
    const bare: Session = { id: 's', status: 'running' }
    for (const query of [
      'cost>0',
      'cost<9',
      'tokens>=0',
      'since:2000-01-01',
      'until:2030-01-01',
      'model:x',
      'branch:x',
    ]) {
      expect(
        createMatcher(parseQuery(query)).entry({ ...entry('x'), model: 'm' }, bare),
        query,
      ).toBeUndefined()
    }
  })
})

/** A text, and a part of it from the beginning of one term to the end of another. */
const textAndPart = fc
  .record({ text: mixedText, from: fc.nat(), to: fc.nat() })
  .map(({ text, from, to }) => {
    const runs = [...text.matchAll(/\S+/gu)]
    const first = runs[from % Math.max(1, runs.length)]
    const last = runs[Math.min(runs.length - 1, (from % Math.max(1, runs.length)) + (to % 3))]
    return { text, part: first && last ? text.slice(first.index, last.index + last[0].length) : '' }
  })
  .filter(({ part }) => placedTerms(part).parts.length > 0 && !part.includes('"') && !part.includes('\\'))

describe('whatever the text', () => {
  it('a phrase of it, and its beginning, find it, and so would the index', () => {
    fc.assert(
      fc.property(textAndPart, ({ text, part }) => {
        expect(matches(`"${part}"`, text)).toBe(true)
        expect(matches(`"${part}"*`, text)).toBe(true)
        expect(matches(`"${part}"`, text.normalize('NFD'))).toBe(true)
      }),
      { numRuns: 1000 },
    )
  })

  it('every term of it finds it, and every beginning of a word', () => {
    fc.assert(
      fc.property(mixedText, fc.nat(), (text, nth) => {
        const { parts, wholes } = placedTerms(text)
        const term = [...parts, ...wholes][nth % Math.max(1, parts.length + wholes.length)]?.term
        if (term === undefined) return
        expect(matches(`"${term}"`, text) || term.length > 40).toBe(true)
        expect(matches(`"${Array.from(term).slice(0, 3).join('')}"*`, text)).toBe(true)
      }),
      { numRuns: 1000, examples: [['ŉ', 0]] },
    )
  })

  it('any cut of it is found as a substring, by what the index is asked as well', () => {
    fc.assert(
      fc.property(mixedText, fc.nat(), fc.nat({ max: 40 }), (text, at, length) => {
        const part = text.slice(at % (text.length + 1)).slice(0, length)
        if (part.trim() === '' || part.includes("'") || /\p{Cs}/u.test(part)) return
        const query = parseQuery(`'${part}'`)
        if (query.condition?.type !== 'substring') return
        const subject = entry(text)
        expect(createMatcher(query).entry(subject, session)).toBeDefined()
        const fts = toFts(query)
        if (fts !== undefined) expect(wouldFind(fts.expression, subject), fts.expression).toBe(true)
      }),
      { numRuns: 2000, examples: [[' 𐊀ﹰŗ', 3, 2]] },
    )
  })

  it('what the index says exactly is what the matcher says', () => {
    const word = fc.oneof(
      mixedText,
      fc.constantFrom('a', 'b', 'parseId', 'max_tokens', '修复', '修', 'a*', '"a b"', 'parse*'),
    )
    fc.assert(
      fc.property(
        fc.array(word, { maxLength: 4 }),
        mixedText,
        fc.constantFrom(' ', ' OR ', ' -'),
        (words, text, joint) => {
          const query = safeParse(words.map((one) => one.replace(/['"\\/:<>()=-]/gu, ' ')).join(joint))
          const fts = query && toFts(query)
          if (query === undefined || fts === undefined || query.fields.length > 0) return
          const subject = entry(text, ...words)
          const found = createMatcher(query).entry(subject, session) !== undefined
          if (fts.exact) expect(wouldFind(fts.expression, subject)).toBe(found)
          else if (found) expect(wouldFind(fts.expression, subject)).toBe(true)
        },
      ),
      { numRuns: 1000 },
    )
  })
})

function safeParse(text: string): ReturnType<typeof parseQuery> | undefined {
  try {
    return parseQuery(text)
  } catch (error) {
    if (isHansardError(error)) return undefined
    throw error
  }
}

/** What FTS5 answers: the expression turned into tests on the list of terms. */
function wouldFind(expression: string, subject: Entry): boolean {
  const list = createTermList()
  for (const text of textsOf(subject, session)) list.add(text)
  const terms = list.take()
  const tokens = expression.match(/"[^"]*"( \*)?|AND|OR|NOT|[()]/gu) ?? []
  const readOne = (): boolean => {
    const token = tokens.shift() ?? ''
    if (token !== '(')
      return terms.includes(` ${token.replace(/^"|"( \*)?$/gu, '')}${token.endsWith('*') ? '' : ' '}`)
    let value = readOne()
    for (
      let operator = tokens.shift();
      operator !== ')' && operator !== undefined;
      operator = tokens.shift()
    ) {
      const right = readOne()
      if (operator === 'AND') value = value && right
      else if (operator === 'OR') value = value || right
      else value = value && !right
    }
    return value
  }
  return readOne()
}

describe('a pattern', () => {
  it.each(['(a+)+$', '(a|aa)+$', '^(a?){40}a{40}$b', '(.*a){20}', 'a.*b.*c.*d'])(
    '%s ends in time, whatever it does',
    (source) => {
      const subject = entry('a'.repeat(200_000))
      const spent = stopwatch()
      try {
        createMatcher(parseQuery(source, { regex: true }), { patternMs: 100 }).entry(subject, session)
      } catch (error) {
        expect(isHansardError(error) && error.code).toBe('invalid-argument')
      }
      expect(spent()).toBeLessThan(2000)
    },
  )

  it.each(['/b\\d/', '/xy+z?|b1/', "b 'xyz'", 'role:assistant /[bx]/', '-/b1/'])(
    '%s is matched with several entries as with each',
    (text) => {
      const matcher = createMatcher(parseQuery(text))
      const asked = ['a', 'b1', 'B2 xyz', '', 'xYYz', 'b'].map((one) => ({ entry: entry(one), session }))
      expect(matcher.several(asked)).toEqual(
        asked.map((one) => matcher.entry(one.entry, session) !== undefined),
      )
    },
  )

  it('that takes long over several entries has its time for each of them', () => {
    const slow = entry(`${'a'.repeat(24)}!`)
    const matcher = createMatcher(parseQuery('(a+)+$', { regex: true }), { patternMs: 60_000 })
    const asked = [slow, entry('a'), ...Array.from({ length: 2 }, () => slow)].map((one) => ({
      entry: one,
      session,
    }))
    expect(matcher.several(asked)).toEqual([false, true, ...Array.from({ length: 2 }, () => false)])
    const never = createMatcher(parseQuery('(a+)+$', { regex: true }), { patternMs: 50 })
    const asEver = { entry: entry(`${'a'.repeat(60)}!`), session }
    expect(() => never.several([asEver])).toThrow(/not done after 50 ms/)
  })

  it('that takes long over several entries is left when it is late', () => {
    const matcher = createMatcher(parseQuery('(a+)+$', { regex: true }), { patternMs: 600_000 })
    const asEver = { entry: entry(`${'a'.repeat(60)}!`), session }
    expect(matcher.several([asEver, asEver], () => true)).toEqual([false, false])
  })

  it('is matched with entries of many characters as with others', () => {
    const matcher = createMatcher(parseQuery('/needle\\d/'))
    const hay = '-'.repeat(2_000_000)
    const asked = [`${hay}NEEDLE1`, `needle2${hay}`, `${hay}needle`, hay]
    expect(matcher.several(asked.map((one) => ({ entry: entry(one), session })))).toEqual([
      true,
      true,
      false,
      false,
    ])
  })

  it('shares the limit of the work around it, and what follows goes on', () => {
    const matcher = createMatcher(parseQuery('(a+)+$', { regex: true }), { patternMs: 60_000 })
    expect(() => withinTime(50, () => matcher.entry(entry(`${'a'.repeat(50)}!`), session))).toThrow(
      /not done after 50 ms/,
    )
    expect(withinTime(50, () => 7)).toBe(7)
    expect(() => withinTime(50, () => JSON.parse('{'))).toThrow(SyntaxError)
    expect(matcher.entry(entry('aaa'), session)).toBeDefined()
  })
})

describe('marks', () => {
  const marked = (query: string, text: string, options: QueryOptions = {}): string => {
    const [first] = createMatcher(parseQuery(query, options)).entry(entry(text), session)?.marks() ?? []
    if (first === undefined) return 'no match'
    return first.ranges
      .toReversed()
      .reduce(
        (shown, { start, end }) => `${shown.slice(0, start)}[${shown.slice(start, end)}]${shown.slice(end)}`,
        first.text,
      )
  }
  it.each([
    ['session', 'parseSessionId in session', 'parse[Session]Id in [session]'],
    ['max_tokens', 'max_tokens, maxTokens', '[max_tokens], [maxTokens]'],
    ['"one two" -x', 'one, two', '[one, two]'],
    ['cafe', 'un cafe\u0301!', 'un [cafe\u0301]!'],
    ['修复', '请修复它', '请[修复]它'],
    ['修', '请修复它', '请[修]复它'],
    ['sess*', 'Sessions', '[Sess]ions'],
    ["'NE T'", 'one two', 'o[ne t]wo'],
    ['/o./', 'one two', '[on]e two'],
    ['💻', 'a 👩‍💻 b', 'a 👩‍[💻] b'],
  ])('of %s', (query, text, shown) => {
    expect(marked(query, text)).toBe(shown)
  })
  it('are where capitals are as asked', () => {
    expect(marked('One', 'one One', { caseSensitive: true })).toBe('one [One]')
  })
})

describe('a record', () => {
  it('gives its strings and numbers, in order', () => {
    expect(textsOfJson({ a: 'x', b: [1, null, { c: 'y' }], d: true })).toEqual(['x', '1', 'y'])
  })
})
