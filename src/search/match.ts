/**
 * Whether an entry matches a query: the truth that the index must equal. It reads the texts themselves, so it also answers for
 * what is not indexed yet, and tells the index's candidates apart where the index alone cannot.
 */
import type { Entry } from '../transcript/entry.ts'
import type { Session } from '../transcript/session.ts'
import { matchesField } from './match-fields.ts'
import { createMarker, type Range } from './match-marks.ts'
import { isTooSlow, withinTime } from './match-regex.ts'
import { textsOf } from './match-texts.ts'
import { toSame } from './grams.ts'
import { areLarge } from './large-texts.ts'
import { hasInOrder, requiredOf, type Required } from './query-literals.ts'
import { toListed, toNeedles } from './query-terms.ts'
import type { FieldCondition, Node, Query, WordsNode } from './query.ts'
import { hasSpelled } from './match-spelled.ts'
import { toFolded, toLower } from './words-fold.ts'
import { createTermList } from './words.ts'

export type Matcher = {
  /** Throws an error of ours when the query has a pattern that takes too long. */
  entry(entry: Entry, session: Session): Match | undefined
  /** Whether each of several does: patterns are watched once for all of them, unless that takes long. Late, those that are left do not. */
  readonly several: (asked: readonly AskedEntry[], isLate?: () => boolean) => readonly boolean[]
}

export type AskedEntry = { readonly entry: Entry; readonly session: Session }

export type Match = {
  /** The texts that were searched, with where each matches; most have none. Found when asked for. */
  marks(): readonly MarkedText[]
}
export type MarkedText = { readonly text: string; readonly ranges: readonly Range[] }

export type MatchOptions = {
  /** How long the patterns of a query may take over one entry. Many entries within one `withinTime` share its limit. */
  readonly patternMs?: number
}

export const PATTERN_MS = 2000
/** What takes longer together is matched one by one. */
const TOGETHER_MS = 250

export function createMatcher(query: Query, { patternMs = PATTERN_MS }: MatchOptions = {}): Matcher {
  const { fields, condition } = query
  const test = condition && compile(condition, query.caseSensitive)
  const isSlow = condition !== undefined && hasPattern(condition)
  const guarded = <T>(work: () => T): T => (isSlow ? withinTime(patternMs, work) : work())
  // Few entries have the texts that a pattern begins or ends with, and to look for those needs no watch.
  const mayMatch = isSlow ? requiredOf(condition, LITERALS) : undefined
  const asSubject = ({ entry, session }: AskedEntry): Subject | undefined => {
    if (!fields.every((field) => holds(field, entry, session))) return undefined
    const subject = createSubject(entry, session)
    // Of what is large, a copy costs more than a watch.
    if (mayMatch === undefined || areLarge(subject.texts())) return subject
    return mayMatch(subject.texts().map(toSame)) ? subject : undefined
  }
  let marker: ((text: string) => readonly Range[]) | undefined
  return {
    several(asked, isLate = () => false) {
      // What is found out about one is let go with it: of all of them together it may be several times their size.
      const may = asked.map((one) => asSubject(one) !== undefined)
      const isMatch = ({ entry, session }: AskedEntry): boolean =>
        test?.(createSubject(entry, session)) ?? true
      const all = (): boolean[] => asked.map((one, nth) => may[nth] === true && isMatch(one))
      if (!isSlow || !may.includes(true)) return all()
      try {
        return withinTime(Math.min(TOGETHER_MS, patternMs), all)
      } catch (error) {
        if (!isTooSlow(error)) throw error
      }
      return asked.map((one, nth) => may[nth] === true && !isLate() && guarded(() => isMatch(one)))
    },
    entry(entry, session) {
      const subject = asSubject({ entry, session })
      if (subject === undefined) return undefined
      if (test !== undefined && !guarded(() => test(subject))) return undefined
      return {
        marks() {
          const find = (marker ??= createMarker(query))
          return guarded(() => subject.texts().map((text) => ({ text, ranges: find(text) })))
        },
      }
    },
  }
}

function holds(condition: FieldCondition, entry: Entry, session: Session): boolean {
  const isNot = condition.type === 'not'
  return matchesField(isNot ? condition.node.test : condition.test, entry, session) !== isNot
}

/** What is asked, found once: the texts, their terms, and the texts in lower case. */
type Subject = {
  readonly entry: Entry
  readonly session: Session
  texts(): readonly string[]
  terms(): string
  lower(): readonly string[]
}

function createSubject(entry: Entry, session: Session): Subject {
  let texts: readonly string[] | undefined
  let terms: string | undefined
  let lower: readonly string[] | undefined
  return {
    entry,
    session,
    texts: () => (texts ??= textsOf(entry, session)),
    lower() {
      return (lower ??= this.texts().map((text) => toLower(text)))
    },
    terms() {
      if (terms === undefined) {
        // A list of its own: work that was stopped half way leaves nothing in it for the next.
        const list = createTermList()
        for (const text of this.texts()) list.add(text)
        terms = list.take()
      }
      return terms
    },
  }
}

type Test = (subject: Subject) => boolean

/** What must be there for a query to match, in texts as patterns without case see them. */
const LITERALS: Required<(same: readonly string[]) => boolean> = {
  text(literal) {
    const asked = literal.map(toSame)
    return (same) => same.some((one) => hasInOrder(one, asked))
  },
  all: (tests) => (same) => tests.every((test) => test(same)),
  one: (tests) => (same) => tests.some((test) => test(same)),
}

function compile(node: Node, caseSensitive: boolean): Test {
  switch (node.type) {
    case 'all': {
      const tests = node.nodes.map((one) => compile(one, caseSensitive))
      return (subject) => tests.every((test) => test(subject))
    }
    case 'any': {
      const tests = node.nodes.map((one) => compile(one, caseSensitive))
      return (subject) => tests.some((test) => test(subject))
    }
    case 'not': {
      const test = compile(node.node, caseSensitive)
      return (subject) => !test(subject)
    }
    case 'field':
      return ({ entry, session }) => matchesField(node.test, entry, session)
    case 'words':
      return toWordsTest(node, caseSensitive)
    case 'substring': {
      const asked = caseSensitive ? node.text : toLower(node.text)
      return (subject) =>
        (caseSensitive ? subject.texts() : subject.lower()).some((text) => text.includes(asked))
    }
    case 'regex':
      return (subject) =>
        subject.texts().some((text) => {
          node.pattern.lastIndex = 0
          return node.pattern.test(text)
        })
  }
}

function toWordsTest(node: WordsNode, caseSensitive: boolean): Test {
  const { any, long } = toNeedles(node)
  const listed = any.map(toListed)
  const written = long.map(toFolded)
  return (subject) => {
    const terms = subject.terms()
    if (!listed.some((one) => terms.includes(one))) return false
    if (!written.every((one) => subject.texts().some((text) => toFolded(text).includes(one)))) return false
    return !caseSensitive || subject.texts().some((text) => hasSpelled(text, any))
  }
}

function hasPattern(node: Node): boolean {
  if (node.type === 'all' || node.type === 'any') return node.nodes.some(hasPattern)
  return node.type === 'not' ? hasPattern(node.node) : node.type === 'regex'
}
