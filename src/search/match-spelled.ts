/** Words as they are spelled, for searches in which capitals and accents count. Separators between them still do not. */
import type { Needle } from './query-terms.ts'
import { BREAK } from './words-output.ts'
import { placedTerms, type PlacedTerm } from './words.ts'

/** True when a text has one of the needles in the query's own spelling. */
export function hasSpelled(text: string, any: readonly Needle[]): boolean {
  const { parts, wholes } = placedTerms(text)
  const list = ` ${toList(text, parts)} ${BREAK} ${toList(text, wholes)} `
  return any.some(({ spelled, prefix }) =>
    list.includes(` ${spelled.join(' ').normalize('NFC')}${prefix ? '' : ' '}`),
  )
}

function toList(text: string, terms: readonly PlacedTerm[]): string {
  // One spelling for letters that can be written as one character or as two.
  return terms.map(({ start, end }) => text.slice(start, end).normalize('NFC')).join(' ')
}
