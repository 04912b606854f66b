/**
 * What must stand within one word for a query to match: of substrings and patterns the letters and digits that follow each other. A
 * word of the index that has them is looked for among all words; an entry without such a word does not match. Pure.
 */
import type { FtsQuery } from './query-fts.ts'
import { every, hasInOrder, requiredOf, type Literal, type Required } from './query-literals.ts'
import type { Query } from './query.ts'
import { toLower } from './words-fold.ts'
import { KEPT_OF_LONG } from './words-output.ts'

/** Letters and digits in lower case that follow each other in one word, with others between them, or several such. */
export type Within =
  | { readonly type: 'word'; readonly texts: readonly string[] }
  | { readonly type: 'all' | 'any'; readonly parts: readonly Within[] }

/** Fewer than what SQLite takes in one question, and no deeper. */
const MOST_ASKED = 100
const DEEPEST = 16

/** Undefined when nothing can be said, or too much. */
export function toWithin({ condition }: Query): Within | undefined {
  const within = condition && requiredOf(condition, WITHIN)
  if (within === undefined || depthOf(within) > DEEPEST) return undefined
  return textsWithin(within).length > MOST_ASKED ? undefined : within
}

function depthOf(within: Within): number {
  return within.type === 'word' ? 0 : 1 + Math.max(...within.parts.map(depthOf))
}

/** Of each word the longest text, each once. */
export function textsWithin(within: Within): readonly string[] {
  if (within.type === 'word') return [within.texts.reduce((a, b) => (b.length > a.length ? b : a))]
  return [...new Set(within.parts.flatMap(textsWithin))]
}

/** Whether a word may help an entry to match. */
export function isAsked(within: Within, word: string): boolean {
  if (within.type === 'word') return hasInOrder(word, within.texts)
  return within.parts.some((part) => isAsked(part, word))
}

/** True for words of which the index may have the beginning only, so that anything may stand in them. */
export function mayBeCut(term: string): boolean {
  const bytes = Buffer.byteLength(term)
  return bytes > KEPT_OF_LONG - LONGEST_CHARACTER && bytes <= KEPT_OF_LONG
}

/** In bytes: no more is missing where the last character would have been cut in two. */
const LONGEST_CHARACTER = 4

/** For entries that have the words that it takes, of those that there are; undefined when there are none. */
export function withinLookup(within: Within, terms: readonly string[]): FtsQuery | undefined {
  const expression = toExpression(within, terms)
  const cut = terms.filter(mayBeCut)
  const all = [...(expression === undefined ? [] : [expression]), ...cut.map(quoted)]
  return all.length === 0 ? undefined : { expression: `(${all.join(' OR ')})`, exact: false }
}

function toExpression(within: Within, terms: readonly string[]): string | undefined {
  if (within.type === 'word') {
    const found = terms.filter((term) => hasInOrder(term, within.texts))
    return found.length === 0 ? undefined : `(${found.map(quoted).join(' OR ')})`
  }
  const parts = within.parts.map((part) => toExpression(part, terms))
  const known = parts.filter((part) => part !== undefined)
  if (known.length === 0 || (within.type === 'all' && known.length < parts.length)) return undefined
  return known.length === 1 ? known[0] : `(${known.join(within.type === 'all' ? ' AND ' : ' OR ')})`
}

function quoted(term: string): string {
  return `"${term.replaceAll('"', '""')}"`
}

/** Shorter ones are in too many words to tell anything. */
const SHORTEST = 3
/** The longest of them tell enough. */
const MOST_TEXTS = 4

const WITHIN: Required<Within> = {
  text(literal) {
    const words = wordsOf(literal).filter((texts) => texts.some(({ length }) => length >= SHORTEST))
    const told = words.sort((a, b) => sizeOf(b) - sizeOf(a)).slice(0, MOST_TEXTS)
    return every(
      told.map((texts): Within => ({ type: 'word', texts })),
      WITHIN,
    )
  },
  all: (parts) => ({ type: 'all', parts }),
  one: (parts) => ({ type: 'any', parts }),
}

/** What stands in one word each, whatever else does: a `_` parts no word, and is not in it. */
function wordsOf(literal: Literal): string[][] {
  const words: string[][] = [[]]
  for (const text of literal) {
    const [first = '', ...others] = toLower(text).split(/[^a-z0-9_]+/)
    words.at(-1)?.push(first)
    for (const other of others) words.push([other])
  }
  // Of a longer one the index may have the beginning.
  const toTexts = (texts: readonly string[]): string[] =>
    texts.map((text) => text.replaceAll('_', '').slice(0, KEPT_OF_LONG)).filter((text) => text !== '')
  return words.map(toTexts)
}

function sizeOf(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + length, 0)
}
