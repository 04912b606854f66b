/**
 * A query as the index can answer it: what to look up, what is known without reading an entry, and what is left to test. All that
 * matches is found by it; what does not is told apart by the matcher, unless the lookup is exact.
 */
import type { Entry } from '../transcript/entry.ts'
import { toMillis } from '../transcript/instant.ts'
import type { Session } from '../transcript/session.ts'
import {
  EVERY,
  facet,
  FACETS,
  FILE,
  FILES_UNTOLD,
  inFacet,
  LARGE_UNTOLD,
  LARGE_WORDS,
  MODEL_OF_SESSION,
  valueOfFacet,
  type FacetField,
} from './doc-facts.ts'
import type { Doc } from './doc-pages.ts'
import { createMatcher, type AskedEntry, type MatchOptions } from './match.ts'
import type { GramTest } from './grams.ts'
import { matchesField, matchesName } from './match-fields.ts'
import { textsOf } from './match-texts.ts'
import type { FieldTest, NameTest, TimeTest } from './query-fields.ts'
import { toFts, type FtsQuery } from './query-fts.ts'
import { toGramTest } from './query-literals.ts'
import { toWithin, type Within } from './query-within.ts'
import { toListed, toNeedles } from './query-terms.ts'
import type { Node, Query } from './query.ts'
import { HALF } from './words-fold.ts'
import { createTermList } from './words.ts'

export type Plan = {
  /** False when the index has nothing to look it up by: all has to be read. */
  readonly canLookUp: boolean
  /** Whether one entry may match better than another. */
  readonly canRank: boolean
  /** The score of an entry that says nothing but what is asked for; undefined where not every word has to be there. */
  readonly ideal: number | undefined
  /** What the bytes of an entry's texts must be, where that can be said. */
  readonly grams: GramTest | undefined
  /** What must stand within its words, where that can be said. */
  readonly within: Within | undefined
  /** For a shard with these facets; undefined when it can have no match. */
  lookup(facets: Facets): FtsQuery | undefined
  /** Milliseconds since 1970: nothing older, nothing newer. */
  readonly since: number
  readonly until: number
  /** What is asked of a session alone. */
  session(session: Session): boolean
  /** What is asked of the time; undefined when only the entry itself can tell. */
  time(doc: Pick<Doc, 'at' | 'hasAt'>, session: Session): boolean | undefined
  /** The truth: what the index must equal. */
  entry(entry: Entry, session: Session): boolean
  entries(asked: readonly AskedEntry[], isLate: () => boolean): readonly boolean[]
  /** How well an entry matches that was read: lower is better, near what FTS5 would say. */
  score(entry: Entry, session: Session): number
}

/** Those that there are of a field. `size`: what is said of large entries. `having`: only names that have all of these within. */
export type Facets = (
  field: FacetField | 'size' | typeof FILE | typeof FILES_UNTOLD,
  only?: { readonly having: readonly string[]; readonly most: number },
) => readonly string[]

export function createPlan(query: Query, options: MatchOptions = {}): Plan {
  const tests = query.fields.map((node): Asked =>
    node.type === 'not' ? { test: node.node.test, isNot: true } : { test: node.test, isNot: false },
  )
  const times = tests.filter((one): one is Asked<TimeTest> => isTime(one.test))
  const ofSession = tests.filter(({ test }) => !isTime(test) && !isOfEntry(test))
  const ofEntry = tests.filter((one): one is Asked<NameTest> => isOfEntry(one.test))
  const words = toFts(query)
  const anywhere = toFts(query, 'anywhere')
  const matcher = createMatcher(query, options)
  const bound = (field: TimeTest['field'], none: number): number => {
    const asked = times.filter(({ test, isNot }) => test.field === field && !isNot)
    return asked.reduce((nearest, { test }) => {
      const at = toMillis(test.instant)
      return field === 'since' ? Math.max(nearest, at) : Math.min(nearest, at)
    }, none)
  }
  const grams = toGramTest(query)
  return {
    grams,
    within: toWithin(query),
    canLookUp:
      words !== undefined ||
      grams !== undefined ||
      query.condition === undefined ||
      ofEntry.some(({ test, isNot }) => test.field === 'file' && !isNot),
    canRank: wordsOf(query.condition).length > 0,
    ideal: idealOf(query.condition),
    since: bound('since', Number.NEGATIVE_INFINITY),
    until: bound('until', Number.POSITIVE_INFINITY),
    lookup: (facets) => toLookup(query, withLarge(words, anywhere, facets), ofEntry, facets),
    session: (session) =>
      ofSession.every(({ test, isNot }) => matchesField(test, NO_ENTRY, session) !== isNot),
    time: (doc, session) => timeOf(times, doc, session),
    entry: (entry, session) => matcher.entry(entry, session) !== undefined,
    entries: matcher.several,
    score: createScore(query.condition),
  }
}

type Asked<T extends FieldTest = FieldTest> = { readonly test: T; readonly isNot: boolean }

/** What is asked of a session asks nothing of this. */
const NO_ENTRY: Entry = { id: '', source: '', sequence: 0, kind: 'event', blocks: [] }

function isTime(test: FieldTest): test is TimeTest {
  return test.field === 'since' || test.field === 'until'
}

function isOfEntry(test: FieldTest): test is NameTest {
  return test.field === 'file' || isFacet(test)
}

function isFacet(test: FieldTest): test is NameTest & { readonly field: FacetField } {
  return FACETS.some((field) => field === test.field)
}

/** What is looked up where nothing else can be. */
export const ALL = `"${EVERY}"`

/** Of large entries the index knows less: they are found by it, and read. */
function withLarge(
  words: FtsQuery | undefined,
  anywhere: FtsQuery | undefined,
  facets: Facets,
): FtsQuery | undefined {
  if (words === undefined || anywhere === undefined) return undefined
  const there = facets('size')
  if (there.length === 0) return words
  const found = [words.expression]
  if (there.includes(LARGE_WORDS)) found.push(`(${quoted(LARGE_WORDS)} AND ${anywhere.expression})`)
  if (there.includes(LARGE_UNTOLD)) found.push(quoted(LARGE_UNTOLD))
  return { expression: found.join(' OR '), exact: words.exact }
}

function toLookup(
  query: Query,
  words: FtsQuery | undefined,
  asked: readonly Asked<NameTest>[],
  facets: Facets,
): FtsQuery | undefined {
  const wanted: string[] = []
  const barred: string[] = []
  let exact = true
  if (words !== undefined) {
    wanted.push(`(${words.expression})`)
    exact &&= words.exact
  } else if (query.condition !== undefined) exact = false
  for (const { test, isNot } of asked) {
    const found = isFacet(test) ? facetLookup(test, facets) : fileLookup(test, facets)
    exact &&= found !== undefined && found.exact
    if (found === undefined) continue
    if (!isNot && found.expression === '') return undefined
    if (found.expression === '' || (isNot && !found.exact)) continue
    ;(isNot ? barred : wanted).push(found.expression)
  }
  const all = wanted.length === 0 ? ALL : wanted.join(' AND ')
  return { expression: barred.length === 0 ? all : `(${all}) NOT (${barred.join(' OR ')})`, exact }
}

/** Many names would make a long expression: from here on each entry is asked. */
const MOST_FACETS = 200

/** Those of the names that there are which are asked for. */
function facetLookup(test: NameTest & { readonly field: FacetField }, facets: Facets): FtsQuery | undefined {
  const isPlain =
    test.field !== 'model' && test.field !== 'source' && !test.values.some((value) => value.includes('*'))
  const there = facets(test.field)
  const names = isPlain
    ? test.values.map((value) => facet(test.field, value))
    : there.filter((name) => matchesName(test, [valueOfFacet(name)]))
  const ofSession = test.field === 'model' && there.includes(MODEL_OF_SESSION)
  const all = ofSession ? [...names, MODEL_OF_SESSION] : names
  if (all.length > MOST_FACETS) return undefined
  if (all.length === 0) return { expression: '', exact: true }
  return { expression: `(${all.map(quoted).join(' OR ')})`, exact: !ofSession }
}

/** So many names are looked up; of more, any entry that names a file. */
const MOST_FILES = 1000
/** Each that is asked for is looked for among all names there are. */
const MOST_ASKED = 100
/** What stands between stars: so much of it tells names apart before they are compared, and SQLite takes no more than a thousand. */
const MOST_PIECES = 20
const ANY_FILE: FtsQuery = { expression: `("${FILE}" * OR "${FILES_UNTOLD}")`, exact: false }

function fileLookup(test: NameTest, facets: Facets): FtsQuery {
  const names = new Set<string>()
  if (test.values.length > MOST_ASKED) return ANY_FILE
  for (const value of test.values) {
    if (HALF.test(value)) return ANY_FILE
    const pieces = value.split('*').filter((piece) => piece !== '')
    const having = pieces.slice(0, MOST_PIECES).map(inFacet)
    const there = facets(FILE, { having, most: MOST_FILES + 1 })
    if (there.length > MOST_FILES) return ANY_FILE
    for (const name of there)
      if (matchesName({ field: 'file', values: [value] }, [valueOfFacet(name)])) names.add(name)
  }
  if (names.size > MOST_FILES) return ANY_FILE
  const untold = facets(FILES_UNTOLD)
  const all = [...names, ...untold]
  if (all.length === 0) return { expression: '', exact: true }
  return { expression: `(${all.map(quoted).join(' OR ')})`, exact: untold.length === 0 }
}

function quoted(term: string): string {
  return `"${term.replaceAll('"', '""')}"`
}

function timeOf(
  times: readonly Asked<TimeTest>[],
  { at, hasAt }: Pick<Doc, 'at' | 'hasAt'>,
  session: Session,
): boolean | undefined {
  let isSure = true
  for (const { test, isNot } of times) {
    if (!hasAt) {
      if (matchesField(test, NO_ENTRY, session) === isNot) return false
    } else if (at === toMillis(test.instant)) isSure = false
    else if ((at < toMillis(test.instant) === (test.field === 'until')) === isNot) return false
  }
  return isSure ? true : undefined
}

/** What FTS5 takes for a word that is neither rare nor common, and for the length of a usual entry. */
const WEIGHT = 4
const USUAL_LENGTH = 2000

/** What a word that stands there without end adds to the score, for its weight. */
const MOST_A_WORD = 2.2

function idealOf(condition: Node | undefined): number | undefined {
  const words = wordsOf(condition)
  if (condition === undefined || hasChoice(condition)) return undefined
  return words.some((node) => toNeedles(node).any.length > 1)
    ? undefined
    : -WEIGHT * MOST_A_WORD * words.length
}

function hasChoice(node: Node): boolean {
  return node.type === 'any' || (node.type === 'all' && node.nodes.some(hasChoice))
}

function createScore(condition: Node | undefined): Plan['score'] {
  const needles = wordsOf(condition).map((node) => toNeedles(node).any.map(toListed))
  const list = createTermList()
  return (entry, session) => {
    for (const text of textsOf(entry, session)) list.add(text)
    const terms = list.take()
    const length = 0.25 + (0.75 * terms.length) / USUAL_LENGTH
    let score = 0
    for (const any of needles) {
      const times = Math.max(...any.map((needle) => count(terms, needle)))
      score -= (WEIGHT * times * MOST_A_WORD) / (times + 1.2 * length)
    }
    return score
  }
}

function wordsOf(node: Node | undefined): Extract<Node, { type: 'words' }>[] {
  if (node === undefined) return []
  if (node.type === 'words') return [node]
  return node.type === 'all' || node.type === 'any' ? node.nodes.flatMap(wordsOf) : []
}

function count(terms: string, needle: string): number {
  let times = 0
  for (let at = terms.indexOf(needle); at !== -1; at = terms.indexOf(needle, at + 1)) times += 1
  return times
}
