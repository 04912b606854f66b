/**
 * The parts of a text in which a plain word can stand, from space to space: cutting all of a text into words to mark one of them takes
 * ten times as long as finding the letters. Pure; never leaves out a part that has the word.
 */
import { placedTerms, type PlacedTerm } from './words.ts'

/** Letters and digits of which no other character becomes one, and which only `_` may part. */
const PLAIN = /^[a-z0-9]+$/

/** Beyond ASCII: characters that never become a letter or digit of it, and are as long in lower case. */
const ODD =
  /[^\0-\x7f\u2010-\u2027\u2190-\u21ff\u2500-\u259f\u3001-\u3029\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff]/

/** A word that is longer is cut into terms in a way of its own. */
const LONG = 60

export type Stretch = { readonly start: number; readonly end: number }

/** Undefined when any part may have one of the terms. */
export function stretchesWith(text: string, terms: readonly string[]): readonly Stretch[] | undefined {
  if (!terms.every((term) => PLAIN.test(term)) || ODD.test(text)) return undefined
  const lower = text.toLowerCase()
  const found: Stretch[] = []
  const take = (at: number): number => {
    const stretch = stretchAt(text, at)
    found.push(stretch)
    return stretch.end
  }
  for (const term of terms) for (let at = lower.indexOf(term); at !== -1; at = lower.indexOf(term, take(at)));
  // `max_tokens` has the term `maxtokens`, too.
  for (let at = lower.indexOf('_'); at !== -1; at = lower.indexOf('_', take(at)));
  for (let at = 0; at + LONG < text.length;) {
    const { start, end } = stretchAt(text, at + LONG)
    if (end - start > LONG) found.push({ start, end })
    at = Math.max(end, at + LONG)
  }
  return disjoint(found)
}

/** The terms of these parts of a text, each where it stands in the text. */
export function placedWithin(text: string, stretches: readonly Stretch[]): PlacedTerm[] {
  return stretches.flatMap(({ start: from, end: to }) => {
    const { parts, wholes } = placedTerms(text.slice(from, to))
    return [...parts, ...wholes].map(({ term, start, end, kind }) => ({
      term,
      start: start + from,
      end: end + from,
      kind,
    }))
  })
}

/** From one space to the next. */
function stretchAt(text: string, at: number): Stretch {
  let start = at
  let end = at
  while (start > 0 && !isSpace(text.charCodeAt(start - 1))) start -= 1
  while (end < text.length && !isSpace(text.charCodeAt(end))) end += 1
  return { start, end: Math.max(end, at + 1) }
}

const isSpace = (unit: number): boolean => unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09

function disjoint(stretches: readonly Stretch[]): readonly Stretch[] {
  const sorted = stretches.toSorted((a, b) => a.start - b.start || b.end - a.end)
  return sorted.filter((one, at) => at === 0 || one.start >= (sorted[at - 1] as Stretch).end)
}
