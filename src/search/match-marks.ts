/**
 * Where a text has what a query asks for, to be shown. What must not be there is not looked for. Bounded: of a text with more
 * places than anyone looks at, the first ones.
 */
import { placedWithin, stretchesWith } from './match-stretches.ts'
import { toNeedles, type Needle } from './query-terms.ts'
import type { Node, Query } from './query.ts'
import { toLower } from './words-fold.ts'
import { placedTerms, type PlacedTerm } from './words.ts'

/** By UTF-16 units. `condition` tells apart what was asked for, from 0. */
export type Range = { readonly start: number; readonly end: number; readonly condition: number }

const MOST_RANGES = 1000
const MOST_CONDITIONS = 200
/** Comparisons of terms: a phrase of one word a thousand times over, in a text of the same, ends here. */
const MOST_STEPS = 2_000_000

type Finder = (text: string, terms: () => Terms, found: (start: number, end: number) => boolean) => void
type Terms = { readonly list: readonly PlacedTerm[]; readonly byTerm: ReadonlyMap<string, readonly number[]> }

/** Sorted, not overlapping. */
export function createMarker(query: Query): (text: string) => readonly Range[] {
  const finders = query.condition
    ? positive(query.condition)
        .slice(0, MOST_CONDITIONS)
        .flatMap((node) => toFinder(node, query))
    : []
  const single = query.condition ? singleTerms(query.condition) : undefined
  const termsOf = (text: string): Terms => {
    const stretches = single && stretchesWith(text, single)
    return stretches ? byTerm(placedWithin(text, stretches)) : toTerms(text)
  }
  return (text) => {
    const ranges: Range[] = []
    let terms: Terms | undefined
    for (const [condition, find] of finders.entries()) {
      let count = 0
      find(
        text,
        () => (terms ??= termsOf(text)),
        (start, end) => {
          if (end > start) ranges.push({ start, end, condition })
          count += 1
          return count < MOST_RANGES
        },
      )
    }
    return disjoint(ranges)
  }
}

function positive(node: Node): Node[] {
  if (node.type === 'all' || node.type === 'any') return node.nodes.flatMap(positive)
  return node.type === 'not' || node.type === 'field' ? [] : [node]
}

function toFinder(node: Node, { caseSensitive }: Query): Finder[] {
  switch (node.type) {
    case 'words': {
      const { any } = toNeedles(node)
      return [
        (text, terms, found) =>
          any.forEach((needle) => findNeedle(text, terms(), needle, caseSensitive, found)),
      ]
    }
    case 'substring':
      return [(text, _, found) => findSubstring(text, node.text, caseSensitive, found)]
    case 'regex':
      return [
        (text, _, found) => {
          node.pattern.lastIndex = 0
          for (const match of text.matchAll(node.pattern)) {
            if (!found(match.index, match.index + match[0].length)) break
          }
        },
      ]
    case 'all':
    case 'any':
    case 'not':
    case 'field':
      return []
  }
}

/** What is asked for, where all of it is words by themselves; undefined where words stand in a row. */
function singleTerms(condition: Node): readonly string[] | undefined {
  const needles = positive(condition).flatMap((node) => (node.type === 'words' ? toNeedles(node).any : []))
  const terms = needles.flatMap(({ terms }) => terms)
  return needles.every(({ terms }) => terms.length === 1) ? [...new Set(terms)] : undefined
}

function toTerms(text: string): Terms {
  const { parts, wholes } = placedTerms(text)
  return byTerm([...parts, { term: '', start: 0, end: 0, kind: 0 }, ...wholes])
}

function byTerm(list: readonly PlacedTerm[]): Terms {
  const byTerm = new Map<string, number[]>()
  for (const [at, { term }] of list.entries()) {
    const known = byTerm.get(term)
    if (known === undefined) byTerm.set(term, [at])
    else known.push(at)
  }
  return { list, byTerm }
}

function findNeedle(
  text: string,
  { list, byTerm }: Terms,
  { terms, prefix, spelled }: Needle,
  caseSensitive: boolean,
  found: (start: number, end: number) => boolean,
): void {
  const [first = ''] = terms
  const isOne = terms.length === 1
  const starts = isOne && prefix ? list.keys() : (byTerm.get(first) ?? [])
  let steps = 0
  for (const start of starts) {
    let length = 0
    for (; length < terms.length; length += 1) {
      steps += 1
      const term = list[start + length]
      if (term === undefined || !isSame(text, term, length)) break
    }
    const from = list[start]
    const to = list[start + length - 1]
    if (length === terms.length && from && to && !found(from.start, endOf(to))) return
    if (steps > MOST_STEPS) return
  }

  function isSame(text: string, { term, start, end }: PlacedTerm, nth: number): boolean {
    const isOpen = prefix && nth === terms.length - 1
    const asked = terms[nth] ?? ''
    if (isOpen ? !term.startsWith(asked) : term !== asked) return false
    if (!caseSensitive) return true
    const written = text.slice(start, end).normalize('NFC')
    const wanted = (spelled[nth] ?? '').normalize('NFC')
    return isOpen ? written.startsWith(wanted) : written === wanted
  }

  /** One character was asked for, and found as the first of two: it alone is shown. */
  function endOf({ term, start, end }: PlacedTerm): number {
    const asked = terms.at(-1) ?? ''
    return prefix && isOne && term.length > asked.length && end - start === term.length
      ? start + asked.length
      : end
  }
}

function findSubstring(
  text: string,
  asked: string,
  caseSensitive: boolean,
  found: (start: number, end: number) => boolean,
): void {
  const lower = toLower(text)
  // Where lower case is longer, places in it are none in the text: those spelled alike are shown.
  const isFolded = !caseSensitive && lower.length === text.length
  const within = isFolded ? lower : text
  const wanted = isFolded ? toLower(asked) : asked
  if (wanted === '') return
  for (let at = within.indexOf(wanted); at !== -1; at = within.indexOf(wanted, at + wanted.length)) {
    if (!found(at, at + wanted.length)) return
  }
}

function disjoint(ranges: readonly Range[]): Range[] {
  const sorted = ranges.toSorted((a, b) => a.start - b.start || b.end - a.end)
  const kept: Range[] = []
  for (const range of sorted) {
    const last = kept.at(-1)
    if (last === undefined || range.start >= last.end) kept.push(range)
    else if (range.end > last.end) kept[kept.length - 1] = { ...last, end: range.end }
    if (kept.length >= MOST_RANGES) break
  }
  return kept
}
