/**
 * A search as a person types it becomes a tree. Any text is a query: quotes and operators in odd places are taken as they stand,
 * and what cannot be meant (an unknown role, a date that is none) is an error that says what would be right. Nothing else is
 * ever thrown, and time is linear.
 */
import { HansardError } from '../errors.ts'
import { parseField, type FieldOptions, type FieldTest } from './query-fields.ts'
import { createTokens, type Condition, type Tokens } from './query-tokens.ts'
import { termsOf } from './words.ts'

export type Query = {
  /** As it was typed. */
  readonly text: string
  readonly caseSensitive: boolean
  /** What must hold of the entry and its session, whatever it says: the fields that stand for themselves, negated or not. */
  readonly fields: readonly FieldCondition[]
  /** The rest: what the entry must say, and fields within an OR. Absent when only fields were asked for. */
  readonly condition?: Node
}

export type Node = AllNode | AnyNode | NotNode | WordsNode | SubstringNode | RegexNode | FieldNode
export type AllNode = { readonly type: 'all'; readonly nodes: readonly Node[] }
export type AnyNode = { readonly type: 'any'; readonly nodes: readonly Node[] }
export type NotNode = { readonly type: 'not'; readonly node: Node }
/** One or more words that stand together. `prefix`: the last may go on. */
export type WordsNode = { readonly type: 'words'; readonly text: string; readonly prefix: boolean }
export type SubstringNode = { readonly type: 'substring'; readonly text: string }
export type RegexNode = { readonly type: 'regex'; readonly pattern: RegExp }
export type FieldNode = { readonly type: 'field'; readonly test: FieldTest }
export type FieldCondition = FieldNode | { readonly type: 'not'; readonly node: FieldNode }

export type QueryOptions = FieldOptions & {
  /** Words, phrases, substrings and patterns as they are written, capitals and accents included. */
  readonly caseSensitive?: boolean
  /** The whole text is one regular expression. */
  readonly regex?: boolean
}

/** Longer than anything typed, short enough to be looked for in every entry. */
const LONGEST_QUERY = 20_000
const MOST_CONDITIONS = 5000
const DEEPEST = 100

export function parseQuery(text: string, options: QueryOptions = {}): Query {
  const { caseSensitive = false, regex = false } = options
  if (text.length > LONGEST_QUERY) {
    throw new HansardError('invalid-argument', `the query has ${text.length} characters`, {
      hint: `search for at most ${LONGEST_QUERY} characters`,
    })
  }
  if (regex) {
    return { text, caseSensitive, fields: [], condition: toRegex(text, '', caseSensitive) }
  }
  const parser: Parser = { tokens: createTokens(text), options, caseSensitive, conditions: 0, depth: 0 }
  const nodes: Node[] = []
  for (;;) {
    const node = parseAny(parser)
    if (node !== undefined) nodes.push(node)
    // What ended it here is a parenthesis that nothing opened: no more than a character.
    if (parser.tokens.next() === undefined) break
  }
  // Nothing but operators asks for nothing: then they are characters, as anything else that has no word.
  const typed = text.trim()
  if (nodes.length === 0 && typed !== '') nodes.push({ type: 'substring', text: typed })
  return { text, caseSensitive, ...divide(all(nodes)) }
}

type Parser = {
  readonly tokens: Tokens
  readonly options: QueryOptions
  readonly caseSensitive: boolean
  conditions: number
  depth: number
}

function parseAny(parser: Parser): Node | undefined {
  const nodes: Node[] = []
  for (;;) {
    const node = parseAll(parser)
    if (node !== undefined) nodes.push(node)
    if (parser.tokens.peek()?.type !== 'or') break
    parser.tokens.next()
  }
  if (nodes.length < 2) return nodes[0]
  return { type: 'any', nodes: nodes.flatMap((node) => (node.type === 'any' ? node.nodes : [node])) }
}

function parseAll(parser: Parser): Node | undefined {
  const nodes: Node[] = []
  for (;;) {
    const next = parser.tokens.peek()
    if (next === undefined || next.type === 'or' || next.type === 'close') break
    const node = parseOne(parser)
    if (node !== undefined) nodes.push(node)
  }
  return all(nodes)
}

function parseOne(parser: Parser): Node | undefined {
  const token = parser.tokens.next()
  if (token === undefined) return undefined
  if (token.type === 'not') {
    const next = parser.tokens.peek()
    if (next === undefined || next.type === 'or' || next.type === 'close') return undefined
    const node = enter(parser, () => parseOne(parser))
    if (node === undefined) return undefined
    return node.type === 'not' ? node.node : { type: 'not', node }
  }
  if (token.type === 'open') {
    const node = enter(parser, () => parseAny(parser))
    if (parser.tokens.peek()?.type === 'close') parser.tokens.next()
    return node
  }
  if (token.type === 'or' || token.type === 'and' || token.type === 'close') return undefined
  parser.conditions += 1
  if (parser.conditions > MOST_CONDITIONS) {
    throw new HansardError('invalid-argument', `the query has more than ${MOST_CONDITIONS} conditions`, {
      hint: 'search for a sentence as a phrase, in double quotes',
    })
  }
  return toCondition(token, parser)
}

function enter<T>(parser: Parser, parse: () => T): T {
  parser.depth += 1
  if (parser.depth > DEEPEST) {
    throw new HansardError('invalid-argument', `the query nests more than ${DEEPEST} deep`, {
      hint: 'leave out parentheses that are not needed',
    })
  }
  const parsed = parse()
  parser.depth -= 1
  return parsed
}

function toCondition(token: Condition, parser: Parser): Node {
  switch (token.type) {
    case 'substring':
      return { type: 'substring', text: token.text }
    case 'regex':
      return toRegex(token.source, token.flags, parser.caseSensitive)
    case 'field': {
      const test = parseField(token, parser.options)
      // A name of ours with nothing that could be its value is text, like any other word with a colon in it.
      return test === undefined ? toWords(token.raw, false) : { type: 'field', test }
    }
    case 'words':
      return toWords(token.text, token.prefix)
  }
}

/** Arrows, dots and brackets hold no word: they are looked for as they stand. */
function toWords(text: string, prefix: boolean): Node {
  return termsOf(text).length === 0 ? { type: 'substring', text } : { type: 'words', text, prefix }
}

function toRegex(source: string, flags: string, caseSensitive: boolean): RegexNode {
  const isUnicode = flags.includes('u')
  const others = new Set(`${flags.replace('u', '')}g${caseSensitive ? '' : 'i'}`)
  for (const unicode of ['u', '']) {
    try {
      return { type: 'regex', pattern: new RegExp(source, [...others].join('') + unicode) }
    } catch (error) {
      // Without the flag more is forgiven: a stray brace, an escape that means nothing.
      if (unicode === '' || isUnicode) throw invalidRegex(source, error)
    }
  }
  throw invalidRegex(source, undefined)
}

function invalidRegex(source: string, cause: unknown): HansardError {
  const shown = source.length > 100 ? `${source.slice(0, 100)}…` : source
  return new HansardError('invalid-argument', `/${shown}/ is not a regular expression`, {
    hint: "escape ( ) [ ] { } . * + ? ^ $ | with a backslash, or search for the text in 'single quotes'",
    cause,
  })
}

function all(nodes: readonly Node[]): Node | undefined {
  const flat = nodes.flatMap((node) => (node.type === 'all' ? node.nodes : [node]))
  return flat.length < 2 ? flat[0] : { type: 'all', nodes: flat }
}

function divide(root: Node | undefined): Pick<Query, 'fields' | 'condition'> {
  if (root === undefined) return { fields: [] }
  const nodes = root.type === 'all' ? root.nodes : [root]
  const fields = nodes.filter(isField)
  const condition = all(nodes.filter((node) => !isField(node)))
  return { fields, ...(condition !== undefined && { condition }) }
}

function isField(node: Node): node is FieldCondition {
  return node.type === 'field' || (node.type === 'not' && node.node.type === 'field')
}
