/**
 * What a word or phrase of a query looks like in a list of terms (see `words.ts`). A list that has one of its needles has the
 * words, and no other list does: the index and whoever reads the text itself answer alike.
 */
import type { WordsNode } from './query.ts'
import { CUT, LAST, PAIR } from './words-marks.ts'
import { KEPT_OF_LONG } from './words-output.ts'
import { placedTerms, type PlacedTerm } from './words.ts'

export type Needle = {
  /** In the order they stand, one after the other. */
  readonly terms: readonly string[]
  /** The last one may be the beginning of a term. */
  readonly prefix: boolean
  /** How each of them is spelled in the query. */
  readonly spelled: readonly string[]
}

export type Needles = {
  /** Any of them will do. */
  readonly any: readonly Needle[]
  /** Texts that a list of terms knows only the beginning of: what matches must also have them as they are written. */
  readonly long: readonly string[]
}

export function toNeedles({ text, prefix }: WordsNode): Needles {
  const { parts, wholes } = placedTerms(text)
  const spelled = ({ start, end }: PlacedTerm): string => text.slice(start, end)
  const last = parts.at(-1)
  // The last character of several is in a pair already; one that stands alone begins any pair.
  const isDoubled = last?.kind === LAST && parts.at(-2)?.kind === PAIR
  const kept = isDoubled ? parts.slice(0, -1) : parts
  const isOpen = kept.at(-1)?.kind === LAST || (prefix && !isDoubled)
  const any: Needle[] = [{ terms: kept.map(({ term }) => term), prefix: isOpen, spelled: kept.map(spelled) }]
  const [whole] = wholes
  // An identifier by itself is also found as a whole, however its parts are spelled.
  if (whole !== undefined && wholes.length === 1 && isAll(whole, parts)) {
    any.push({ terms: [whole.term], prefix, spelled: [spelled(whole)] })
  }
  const long = parts.filter(({ kind }) => kind === CUT).map(spelled)
  if (!prefix) return { any, long }
  const cut = any.map(cutLast)
  const isCut = cut.some((needle, at) => needle !== any[at])
  return { any: cut, long: isCut && long.length === 0 ? [text.trim()] : long }
}

function isAll(whole: PlacedTerm, parts: readonly PlacedTerm[]): boolean {
  return whole.start === parts[0]?.start && whole.end === parts.at(-1)?.end
}

/** Of `parseSess*` no more is asked for than the index keeps of a long word. */
function cutLast(needle: Needle): Needle {
  const last = needle.terms.at(-1) ?? ''
  const kept = keptOf(last)
  return kept === last ? needle : { ...needle, terms: [...needle.terms.slice(0, -1), kept], prefix: true }
}

/** As much of a term as the index has of any word that begins with it. */
export function keptOf(term: string): string {
  const bytes = Buffer.from(term)
  if (bytes.length <= KEPT_OF_LONG) return term
  return bytes.toString('utf8', 0, KEPT_OF_LONG).replace(/\uFFFD+$/u, '')
}

/** The needle as it stands in ` one two three `. */
export function toListed({ terms, prefix }: Needle): string {
  return ` ${terms.join(' ')}${prefix ? '' : ' '}`
}
