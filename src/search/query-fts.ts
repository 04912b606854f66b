/**
 * A query as SQLite's FTS5 takes it, for the words that the index holds. What it finds is every entry that may match: all that
 * do, and, unless the answer is exact, some that do not, which the matcher tells apart.
 */
import { beginsFacet } from './doc-facts.ts'
import type { Node, Query } from './query.ts'
import { keptOf, toNeedles, type Needle } from './query-terms.ts'
import { IGNORED, isComposing, kindOf, mayCompose } from './words-fold.ts'
import { CUT, LAST, PAIR, WORD } from './words-marks.ts'
import { placedTerms, type PlacedTerm } from './words.ts'

export type FtsQuery = {
  /** For `MATCH`. Terms are quoted, and hold neither quotes nor operators. */
  readonly expression: string
  /** True when it finds exactly what the query's condition means. */
  readonly exact: boolean
}

/** Fewer than what SQLite takes; a longer query is found by these, then checked. */
const MOST_TERMS = 200
/** SQLite's parser has a stack of a hundred. */
const DEEPEST = 20

/** `anywhere`: for entries of which only the words are known, and not where they stand. */
export type Places = 'in order' | 'anywhere'

/** Undefined when the index cannot help: every entry has to be read. */
export function toFts(query: Query, places: Places = 'in order'): FtsQuery | undefined {
  const { condition, caseSensitive } = query
  if (condition === undefined) return undefined
  const found = convert(condition, { left: MOST_TERMS, places }, 0)
  return found && { expression: found.expression, exact: found.exact && !caseSensitive }
}

type Budget = { left: number; readonly places: Places }

function convert(node: Node, budget: Budget, depth: number): FtsQuery | undefined {
  if (depth > DEEPEST || budget.left <= 0) return undefined
  switch (node.type) {
    case 'words': {
      const { any, long } = toNeedles(node)
      const needles = any.map((needle) => toExpression(needle, budget))
      const isWhole = needles.every(({ exact }) => exact) && long.length === 0
      return {
        expression: join(
          needles.map(({ expression }) => expression),
          ' OR ',
        ),
        exact: isWhole,
      }
    }
    case 'substring':
      return toInner(node.text, budget)
    case 'all':
      return toAll(node.nodes, budget, depth)
    case 'any': {
      const parts = node.nodes.map((one) => convert(one, budget, depth + 1))
      const known = parts.filter((part) => part !== undefined)
      if (known.length < parts.length) return undefined
      return {
        expression: join(
          known.map(({ expression }) => expression),
          ' OR ',
        ),
        exact: known.every(({ exact }) => exact),
      }
    }
    case 'not':
    case 'field':
    case 'regex':
      return undefined
  }
}

function toAll(nodes: readonly Node[], budget: Budget, depth: number): FtsQuery | undefined {
  const asked: FtsQuery[] = []
  const barred: FtsQuery[] = []
  let exact = true
  for (const node of nodes) {
    const isNot = node.type === 'not'
    const part = convert(isNot ? node.node : node, budget, depth + 1)
    // What must not be there can only be left out when it is known to be exactly that.
    if (part !== undefined && (!isNot || (part.exact && budget.places === 'in order')))
      (isNot ? barred : asked).push(part)
    exact &&= part?.exact === true
  }
  if (asked.length === 0) return undefined
  const wanted = join(
    asked.map(({ expression }) => expression),
    ' AND ',
  )
  if (barred.length === 0) return { expression: wanted, exact }
  return {
    expression: `(${wanted} NOT ${join(
      barred.map(({ expression }) => expression),
      ' OR ',
    )})`,
    exact,
  }
}

function toExpression({ terms, prefix }: Needle, budget: Budget): FtsQuery {
  const kept = terms.slice(0, Math.max(1, budget.left))
  budget.left -= kept.length
  const exact = kept.length === terms.length
  if (budget.places === 'anywhere') {
    const each = kept.map((term, nth) =>
      prefix && exact && nth === kept.length - 1 ? begun(term) : `"${term}"`,
    )
    return { expression: join(each, ' AND '), exact: false }
  }
  const words = kept.join(' ')
  return { expression: prefix && exact ? begun(words) : `"${words}"`, exact }
}

/** Facets are words of the same table, in a column of their own. */
function begun(words: string): string {
  return beginsFacet(words) ? `(text : "${words}" *)` : `"${words}" *`
}

/**
 * Of a text that may begin and end within words, what stands between: whole words, and the beginning of the last one. Pairs of
 * characters stand wherever the two do.
 */
function toInner(text: string, budget: Budget): FtsQuery | undefined {
  const { parts, wholes } = placedTerms(text)
  const found: string[] = []
  const isWithin = ({ start, end }: PlacedTerm): boolean =>
    wholes.some((whole) => start >= whole.start && end <= whole.end)
  for (const [at, part] of parts.entries()) {
    if (at > MOST_TERMS * 5) break
    const isLast = at === parts.length - 1 || (at === parts.length - 2 && parts.at(-1)?.kind === LAST)
    const expression =
      part.kind === PAIR || part.kind === LAST ? toPair(part, isLast, parts[at - 1]) : undefined
    if (expression !== undefined) found.push(expression)
    else if ((part.kind === WORD || part.kind === CUT) && !isWithin(part)) found.push(...toWord(text, part))
    if (found.length >= budget.left) break
  }
  for (const whole of wholes) if (found.length < budget.left) found.push(...toWord(text, whole))
  budget.left -= found.length
  return found.length === 0 ? undefined : { expression: join(found, ' AND '), exact: false }
}

/** Nothing of a word that may have begun before the text did. */
function toWord(text: string, { term, start, end }: PlacedTerm): string[] {
  if (!endsWord(text.slice(0, start))) return []
  return [endsWord(text.slice(end)) ? `"${term}"` : begun(keptOf(term))]
}

/** True where anything is in it but what may stand within a word without being seen in its term. */
function endsWord(text: string): boolean {
  for (const [character] of text.matchAll(/[^_\p{M}\p{Cf}\p{Lm}\p{Sk}]/gu)) {
    const code = character.codePointAt(0) ?? 0
    // Some letters are taken as nothing: an accent by itself.
    if (code < 0x80 || kindOf(code) !== IGNORED) return true
  }
  return false
}

function toPair(
  { term, kind }: PlacedTerm,
  isLast: boolean,
  before: PlacedTerm | undefined,
): string | undefined {
  const codes = Array.from(term).map((one) => one.codePointAt(0) ?? 0)
  // A mark that makes another letter of the last one may follow where the text was cut, and one may begin the text.
  if (codes.some(isComposing) || (isLast && mayCompose(codes.at(-1) ?? 0))) return undefined
  if (kind === PAIR) return `"${term}"`
  return before?.kind === PAIR ? undefined : `"${term}" *`
}

function join(expressions: readonly string[], operator: string): string {
  return expressions.length === 1 ? (expressions[0] ?? '') : `(${expressions.join(operator)})`
}
