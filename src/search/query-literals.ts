/**
 * What a text must have for a query to match, as texts to look for: of a substring itself, of a pattern its fixed parts, of `file:`
 * the parts between stars. Never more than what must be there, so that looking for it first loses nothing.
 */
import type { FieldTest } from './query-fields.ts'
import { gramTest, type GramTest } from './grams.ts'
import type { Node, Query } from './query.ts'

/** Texts that follow each other, with nothing between them but letters, digits and `_`. Mostly one. */
export type Literal = readonly string[]

/** What is made of a text that must be there, of several that all must, and of several of which one must. */
export type Required<T> = {
  /** Undefined when nothing can be said of it. */
  readonly text: (literal: Literal) => T | undefined
  readonly field?: (test: FieldTest) => T | undefined
  readonly all: (parts: readonly T[]) => T
  readonly one: (parts: readonly T[]) => T
}

/** Undefined when nothing can be said. */
export function toGramTest({ condition }: Query): GramTest | undefined {
  // Files that are asked for by a field of the query are facets.
  return condition && requiredOf(condition, GRAMS)
}

export function requiredOf<T>(node: Node, by: Required<T>): T | undefined {
  switch (node.type) {
    case 'all':
      return every(
        node.nodes.map((one) => requiredOf(one, by)),
        by,
      )
    case 'any':
      return some(
        node.nodes.map((one) => requiredOf(one, by)),
        by,
      )
    case 'substring':
      return by.text([node.text])
    case 'regex':
      return some(
        alternativesOf(node.pattern).map((literals) => every(literals.map(by.text), by)),
        by,
      )
    case 'field':
      return by.field?.(node.test)
    case 'words':
    case 'not':
      return undefined
  }
}

/** Of those of which something can be said. */
export function every<T>(parts: readonly (T | undefined)[], { all }: Required<T>): T | undefined {
  const known = parts.filter((part) => part !== undefined)
  return known.length < 2 ? known[0] : all(known)
}

function some<T>(parts: readonly (T | undefined)[], { one }: Required<T>): T | undefined {
  const known = parts.filter((part) => part !== undefined)
  if (known.length < parts.length) return undefined
  return known.length < 2 ? known[0] : one(known)
}

export function hasInOrder(text: string, parts: readonly string[]): boolean {
  let from = 0
  for (const part of parts) {
    const at = text.indexOf(part, from)
    if (at === -1) return false
    from = at + part.length
  }
  return true
}

const GRAMS: Required<GramTest> = {
  text: (literal) => every(literal.map(gramTest), GRAMS),
  /** A file is a text of its entry, or a part of one. */
  field(test) {
    if (test.field !== 'file') return undefined
    return some(
      test.values.map((value) => every(value.split('*').map(gramTest), GRAMS)),
      GRAMS,
    )
  },
  all: (tests) => (set) => tests.every((test) => test(set)),
  one: (tests) => (set) => tests.some((test) => test(set)),
}

/**
 * Texts that every match of a pattern has in it, for each side of the bars that part all of it. Read conservatively: what stands in
 * groups or before a sign that allows none of it is left out, and so is whatever case could spell otherwise than lower case does.
 */
export function alternativesOf({ source, flags }: RegExp): Literal[][] {
  let found: Literal[] = []
  const all = [found]
  let literal: string[] = []
  let run = ''
  const part = (): void => {
    if (run !== '') literal.push(run)
    run = ''
  }
  const end = (): void => {
    part()
    if (literal.length > 0) found.push(literal)
    literal = []
  }
  for (let at = 0; at < source.length;) {
    const sign = source[at] ?? ''
    if (sign === '|') {
      end()
      found = []
      all.push(found)
      at += 1
      continue
    }
    const { next, text, isInWord } = atomAt(source, at, flags)
    const repeat = matchAt(REPEAT, source, next) ?? ''
    const isOptional = /^(?:[?*]|\{0)/u.test(repeat)
    if (text !== undefined && repeat === '') run += text
    else {
      // What comes at least once ends a run, and begins another when it comes no more than that.
      if (text !== undefined && !isOptional) run += text
      if (isInWord) part()
      else end()
    }
    at = next + repeat.length
  }
  end()
  return all
}

const REPEAT = /(?:[?*+]|\{\d+(?:,\d*)?\})\??/uy

function matchAt(sticky: RegExp, source: string, at: number): string | undefined {
  sticky.lastIndex = at
  return sticky.exec(source)?.[0]
}

type Atom = {
  readonly next: number
  readonly text: string | undefined
  /** It stands for a letter or digit of ASCII or a `_`, whichever, and for nothing else. */
  readonly isInWord?: boolean
}

/** One element of a pattern, and the text it stands for when it stands for one. */
function atomAt(source: string, at: number, flags: string): Atom {
  const sign = source[at] ?? ''
  if (sign === '(') return { next: groupEnd(source, at), text: undefined }
  if (sign === '[') {
    const next = classEnd(source, at)
    return { next, text: undefined, isInWord: WORD_CLASS.test(source.slice(at, next)) }
  }
  if (sign === '\\') return escapeAt(source, at, flags)
  if (sign === '^' || sign === '$') return { next: at + 1, text: undefined }
  const whole = String.fromCodePoint(source.codePointAt(at) ?? 0)
  const isPlain = sign !== '.' && !/[*+?{}\])]/u.test(sign)
  const text = isPlain && isSure(whole, flags) ? whole : undefined
  return { next: at + whole.length, text, isInWord: /^\w$/.test(whole) }
}

/** Those of letters, digits and `_`, alone or from one to another of the same kind. */
const WORD_CLASS = /^\[(?:\\[wd]|[a-z]-[a-z]|[A-Z]-[A-Z]|\d-\d|\w(?!-))+\]$/

/** Lower case is all that a search without case does to it. */
function isSure(character: string, flags: string): boolean {
  if (/\p{Cs}/u.test(character)) return false
  if (!flags.includes('i') || /^[\0-\x7f]$/u.test(character)) return true
  return character.toLowerCase() === character && character.toUpperCase() === character
}

function escapeAt(source: string, at: number, flags: string): Atom {
  const sign = source[at + 1] ?? ''
  if (/[\^$\\.*+?()[\]{}|/-]/u.test(sign))
    return { next: at + 2, text: isSure(sign, flags) ? sign : undefined }
  const simple = { n: '\n', t: '\t', r: '\r' }[sign]
  if (simple !== undefined) return { next: at + 2, text: simple }
  if (sign === 'w' || sign === 'd') return { next: at + 2, text: undefined, isInWord: true }
  const long = matchAt(LONG_ESCAPE, source, at) ?? ''
  return { next: at + Math.max(2, long.length), text: undefined }
}

/** Without the flag `u` some are none, and what stands in them is a part of the pattern: no bar or bracket is passed over. */
const LONG_ESCAPE =
  /\\(?:u\{[\da-f]*\}|u[\da-f]{4}|x[\da-f]{2}|c[a-z]|[pP]\{[\w=]*\}|k<[^>|()[\]\\]*>|\d+)/iuy

function groupEnd(source: string, start: number): number {
  let depth = 0
  for (let at = start; at < source.length; at += 1) {
    const sign = source[at]
    if (sign === '\\') at += 1
    else if (sign === '[') at = classEnd(source, at) - 1
    else if (sign === '(') depth += 1
    else if (sign === ')') {
      depth -= 1
      if (depth === 0) return at + 1
    }
  }
  return source.length
}

function classEnd(source: string, start: number): number {
  for (let at = start + 1; at < source.length; at += 1) {
    if (source[at] === '\\') at += 1
    else if (source[at] === ']') return at + 1
  }
  return source.length
}
