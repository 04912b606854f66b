/**
 * Where words that may be meant by a mistyped one stand in a list in order: some hundred short stretches, which an index finds at once,
 * instead of every word with the same first letter. A word that is meant begins as it was typed, or with the second letter in case the
 * two were exchanged or the first is too many; and of its first letters no more than one is wrong.
 */
import { foldOne, kindOf, LOWER, UNSPACED } from './words-fold.ts'

/** Words from one to another, both of them included. */
export type WordRange = readonly [from: string, to: string]

/** After any letter, whatever its script. */
const LAST = '\u{10ffff}'
/** In words up to this many letters one may be wrong, in longer ones two: see `nearestSpelling`. */
const SHORT = 4
/** Of longer ones, the first half and no more than so many are looked up: the rest of a word is among few that begin so. */
const MOST_FIRST = 5
const LATIN = Array.from('abcdefghijklmnopqrstuvwxyz0123456789')
/** Code points that stand together: alphabets lie within so many. */
const ALPHABET = 128

/** In order, none within another: no more than twice an alphabet for each of its first letters, and a few. */
export function rangesNear(word: string): readonly WordRange[] {
  const letters = Array.from(word)
  // Thousands of letters, and words of two: what begins with one of them is little.
  if (letters.some(isOfMany)) return toRanges(letters.slice(0, 2), LAST)
  const alphabet = alphabetOf(letters.slice(0, MOST_FIRST))
  if (letters.length <= SHORT) return toRanges([...withOneWrong(letters, alphabet, letters.length)], '')
  return toRanges([...withOneWrong(letters, alphabet, Math.min(MOST_FIRST, (letters.length >> 1) + 1))], LAST)
}

/** The first `count` letters, with up to one of them wrong: added, left out, changed or exchanged, but not in front of all others. */
function withOneWrong(
  letters: readonly string[],
  alphabet: readonly string[],
  count: number,
): ReadonlySet<string> {
  const first = letters.slice(0, count)
  const found = new Set([first.join('')])
  for (let at = 0; at < count; at += 1) {
    const [before, after] = [first.slice(0, at).join(''), first.slice(at + 1).join('')]
    found.add(before + after)
    const next = letters[at + 1]
    if (next !== undefined) found.add(before + next + first[at] + first.slice(at + 2).join(''))
    if (at === 0) continue
    for (const letter of alphabet) {
      found.add(before + letter + after)
      found.add(before + letter + first[at] + after)
    }
  }
  for (const letter of alphabet) found.add(first.join('') + letter)
  return found
}

/** `end`: what words may go on with after one of these. */
function toRanges(beginnings: readonly string[], end: string): readonly WordRange[] {
  const ranges: WordRange[] = []
  let last: string | undefined
  for (const from of beginnings.filter((one) => one !== '').sort()) {
    if (from === last || (end !== '' && last !== undefined && from.startsWith(last))) continue
    ranges.push([from, from + end])
    last = from
  }
  return ranges
}

function alphabetOf(letters: readonly string[]): readonly string[] {
  const found = new Set<string>()
  const blocks = new Set(letters.map((letter) => Math.floor((letter.codePointAt(0) ?? 0) / ALPHABET)))
  for (const block of blocks) {
    if (block === 0) for (const letter of LATIN) found.add(letter)
    else
      for (let code = block * ALPHABET; code < (block + 1) * ALPHABET; code += 1)
        if (kindOf(code) === LOWER && foldOne(code) === code) found.add(String.fromCodePoint(code))
  }
  return [...found]
}

/** Han, kana, Hangul and their like. */
function isOfMany(letter: string): boolean {
  const code = letter.codePointAt(0) ?? 0
  return code >= ALPHABET && kindOf(code) === UNSPACED
}
