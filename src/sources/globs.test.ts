import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stopwatch } from '../../test/stopwatch.ts'
import { isHansardError } from '../errors.ts'
import { parseExclude } from './exclude.ts'
import { escapeGlob, parseGlobs } from './globs.ts'

const linux = { platform: 'linux' } as const
const matches = (glob: string, path: string): boolean => parseGlobs([glob], linux).matches(path)

describe('a pattern', () => {
  it.each([
    ['**/*.jsonl', 'a.jsonl', true],
    ['**/*.jsonl', 'a/b/c.jsonl', true],
    ['**/*.jsonl', 'a/b/c.json', false],
    ['*.jsonl', 'a/b.jsonl', false],
    ['*/chats/**/*.json', 'x/chats/s.json', true],
    ['*/chats/**/*.json', 'x/chats/p/s.json', true],
    ['*/chats/**/*.json', 'chats/s.json', false],
    ['a/**', 'a', false],
    ['a/**', 'a/b/c', true],
    ['**', '.hidden/.file', true],
    ['a**b', 'axxb', true],
    ['a**b', 'a/b', false],
    ['{a,b/c}/x', 'b/c/x', true],
    ['{a,b/c}/x', 'c/x', false],
    ['x.{json{,l},md}', 'x.jsonl', true],
    ['x.{json{,l},md}', 'x.json', true],
    ['x.{json{,l},md}', 'x.jso', false],
    ['?', '😀', true],
    ['[!a-c]x', 'dx', true],
    ['[!a-c]x', 'bx', false],
    ['[]a]', ']', true],
    ['[\\]]', ']', true],
    ['\\*', '*', true],
    ['\\*', 'a', false],
    ['./a//b/', 'a/b', true],
  ])('%s and the path %s: %s', (glob, path, expected) => {
    expect(matches(glob, path)).toBe(expected)
  })

  it('knows where nothing can match', () => {
    const globs = parseGlobs(['a/*/x', '**/deep/y'], linux)
    const state = globs.step(globs.step(globs.start, 'a'), 'b')
    expect(globs.isWhole(globs.step(state, 'x'))).toBe(true)
    const only = parseGlobs(['a/*/x'], linux)
    expect(only.step(only.start, 'b')).toEqual([])
    expect(only.step(only.step(only.step(only.start, 'a'), 'b'), 'c')).toEqual([])
  })

  it('ends with a name exactly where a step leads to its end', () => {
    const pattern = fc.stringMatching(/^(\*\*|[ab*]{1,2})(\/(\*\*|[ab*]{1,2})){0,3}$/)
    fc.assert(
      fc.property(
        fc.array(pattern, { minLength: 1, maxLength: 3 }),
        fc.array(fc.constantFrom('a', 'b', 'ab')),
        (texts, names) => {
          const globs = parseGlobs(texts, linux)
          let state = globs.start
          for (const name of names) {
            expect(globs.ends(state, name)).toBe(globs.isWhole(globs.step(state, name)))
            state = globs.step(state, name)
          }
        },
      ),
    )
  })

  it('parts names at both slashes on Windows, and is of no case there', () => {
    const globs = parseGlobs(['Chats\\**\\*.JSON'], { platform: 'win32' })
    expect(globs.matches('chats/a/b.json')).toBe(true)
    expect(parseGlobs(['Chats/x'], linux).matches('chats/x')).toBe(false)
  })

  it.each([['{a'], ['[a'], [''], ['a\0b'], ['[a/b]'], ['{a,b}'.repeat(20)], ['a/'.repeat(20_000)]])(
    'that cannot be meant is refused: %s',
    (glob) => {
      const error = (() => {
        try {
          return parseGlobs([glob], linux)
        } catch (error) {
          return error
        }
      })()
      expect(isHansardError(error) && error.code).toBe('invalid-argument')
    },
  )

  it('takes no longer when it is made to', () => {
    const spent = stopwatch()
    expect(matches(`${'*a'.repeat(100)}b`, 'a'.repeat(255))).toBe(false)
    expect(matches(`${'**/'.repeat(100)}b`, Array.from({ length: 500 }, () => 'a').join('/'))).toBe(false)
    expect(matches(`${'**/*a/'.repeat(60)}b`, Array.from({ length: 300 }, () => 'aaaa').join('/'))).toBe(
      false,
    )
    expect(spent()).toBeLessThan(5000)
  })

  it('matches what a naive reading of it matches', () => {
    const character = fc.constantFrom('a', 'b', '.')
    const part = fc.oneof(
      character,
      fc.constantFrom('*', '?', '[ab]', '[!a]', '[a-b]', '{a,b*}', '{a,{b,.}}', '{a/b,a}', '\\*'),
    )
    const segment = fc.oneof(
      { weight: 1, arbitrary: fc.constant('**') },
      { weight: 3, arbitrary: fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('')) },
    )
    const glob = fc
      .array(segment, { minLength: 1, maxLength: 4 })
      .map((segments) => segments.join('/'))
      // Each brace doubles what it stands for: more are refused.
      .filter((glob) => glob.split('{').length <= 7)
    const name = fc
      .array(fc.constantFrom('a', 'b', '.', '*'), { minLength: 1, maxLength: 4 })
      .map((characters) => characters.join(''))
      .filter((name) => name !== '.' && name !== '..')
    const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'))
    let hits = 0
    fc.assert(
      fc.property(glob, path, (glob, path) => {
        const expected = naive(glob, path)
        if (expected) hits += 1
        expect(matches(glob, path)).toBe(expected)
        const globs = parseGlobs([glob], linux)
        const folder = path.split('/').slice(0, -1).join('/')
        const narrowed = globs.narrow(folder)
        if (folder !== '') {
          expect(narrowed.length > 0 && parseGlobs(narrowed, linux).matches(path)).toBe(expected)
        }
      }),
      { numRuns: 5000 },
    )
    expect(hits).toBeGreaterThan(200)
  })

  it('made of a path matches that path alone', () => {
    const name = fc.string({
      minLength: 1,
      maxLength: 6,
      unit: fc.constantFrom('*', '?', '[', ']', '{', '}', '\\', ',', 'a', '!'),
    })
    fc.assert(
      fc.property(name, name, (one, other) => {
        expect(matches(escapeGlob(`x/${one}`), `x/${one}`)).toBe(true)
        expect(matches(escapeGlob(`x/${one}`), `x/${other}`)).toBe(one === other)
      }),
    )
  })
})

describe('what is excluded', () => {
  it.each(['[a', '~/x/{a', '/srv/[a', ''])(
    'says what is wrong with %j in the words of whoever wrote it',
    (pattern) => {
      const parse = (): unknown => parseExclude(['*.ok', pattern], { home: '/home/u', ...linux })
      expect(parse).toThrow(expect.objectContaining({ code: 'invalid-argument' }))
      expect(parse).not.toThrow('**/')
      expect(parse).not.toThrow('/home/u')
    },
  )

  const excluded = (pattern: string, path: string, root = '/home/u/logs'): boolean =>
    parseExclude([pattern], { home: '/home/u', ...linux }).isExcluded(root, path)

  it.each([
    ['secret', 'a/secret/b.jsonl', true],
    ['secret', 'a/b.jsonl', false],
    ['*.tmp', 'a/x.tmp', true],
    ['a/b', 'a/b/c/d', true],
    ['a/b', 'x/a/b', false],
    ['/home/u/logs/a', 'a/x', true],
    ['/home/u/logs/a', 'b/x', false],
    ['~/logs', 'b/x', true],
    ['~/logs/b/**', 'b/x', true],
    ['~/other', 'b/x', false],
    ['**/u/**', 'b/x', true],
    ['**/b', 'b/x', true],
    ['u', 'b/x', false],
  ])('by %s: %s is %s', (pattern, path, expected) => {
    expect(excluded(pattern, path)).toBe(expected)
  })

  it('takes a home with a pattern’s characters as it is', () => {
    const exclusion = parseExclude(['~/x'], { home: '/home/[u]*', ...linux })
    expect(exclusion.isExcluded('/home/[u]*', 'x/y')).toBe(true)
    expect(exclusion.isExcluded('/home/u1', 'x/y')).toBe(false)
  })
})

/** Braces written out, then a regular expression for each name, and every way that folders can be shared out. */
function naive(glob: string, path: string): boolean {
  return written(glob).some((plain) => {
    const names = plain.split('/').filter((name) => name !== '' && name !== '.')
    return fits(names.at(-1) === '**' ? [...names, '*'] : names, path.split('/'))
  })
}

function fits([first, ...rest]: readonly string[], names: readonly string[]): boolean {
  if (first === undefined) return names.length === 0
  if (first === '**') return names.some((_, at) => fits(rest, names.slice(at))) || fits(rest, [])
  const [name, ...others] = names
  return name !== undefined && toExpression(first).test(name) && fits(rest, others)
}

function toExpression(name: string): RegExp {
  const source = name.replace(/\\(.)|\[!(.*?)\]|\[(.*?)\]|\*+|\?|[.]/g, (token, escaped, not, one) => {
    if (escaped !== undefined) return `\\${escaped}`
    if (not !== undefined) return `[^${not}]`
    if (one !== undefined) return `[${one}]`
    return token === '?' ? '.' : token === '.' ? '\\.' : '.*'
  })
  return new RegExp(`^${source}$`, 's')
}

function written(glob: string): readonly string[] {
  const innermost = /\{([^{}]*)\}/.exec(glob)
  if (innermost === null) return [glob]
  const [whole, choices = ''] = innermost
  return choices
    .split(',')
    .flatMap((choice) =>
      written(glob.slice(0, innermost.index) + choice + glob.slice(innermost.index + whole.length)),
    )
}
