/**
 * How text becomes terms, the same for what is indexed and for what is asked. Terms are lower case without accents. An identifier
 * gives its parts in order (`parseSessionId`: parse, session, id) and, after all parts of the document, itself as a whole
 * (`parsesessionid`). Scripts without spaces give each two characters that stand together, and the last one alone. Time is linear.
 */
import type { TextBytes } from './text-bytes.ts'
import type { Marks } from './words-marks.ts'
import { BREAK, createOutput, endText, takeBytes, takeText } from './words-output.ts'
import { scanEncoded, scanText } from './words-scan.ts'

export type TermList = {
  add(text: string): void
  /** All of them, one after the other. */
  addEncoded(texts: TextBytes): void
  /** All terms added since the last time, as ` one two `: a space before and after each. */
  take(): string
  /** The same in UTF-8, without the first space. Good until the next text is added. */
  takeBytes(): Uint8Array
}

/** Terms of a document of any number of texts: parts of each in order, `BREAK` between texts, then the wholes of identifiers. */
export function createTermList(): TermList {
  const parts = createOutput()
  const wholes = createOutput()
  return {
    add(text) {
      if (text === '') return
      endText(parts)
      endText(wholes)
      scanText(text, parts, wholes, undefined)
    },
    addEncoded(texts) {
      for (let nth = 0; nth < texts.starts.length; nth += 1) {
        if (texts.starts[nth] === texts.ends[nth]) continue
        endText(parts)
        endText(wholes)
        scanEncoded(texts, nth, parts, wholes, undefined)
      }
    },
    take() {
      const list = ` ${takeText(parts)}`
      const named = takeText(wholes)
      return named === '' ? list : `${list}${BREAK} ${named}`
    },
    takeBytes: () => takeBytes(parts, wholes),
  }
}

let shared: TermList | undefined

/** The terms of one text: parts in order, then wholes. */
export function termsOf(text: string): string[] {
  shared ??= createTermList()
  shared.add(text)
  return shared
    .take()
    .split(' ')
    .filter((term) => term !== '' && term !== BREAK)
}

/** A term and the part of the text it stands for, by UTF-16 units. */
export type PlacedTerm = {
  readonly term: string
  readonly start: number
  readonly end: number
  /** `WORD`, `PAIR`, `LAST` or `CUT` of words-marks.ts. */
  readonly kind: number
}

/** The terms of one text with their places: parts in order, and the wholes of identifiers. */
export function placedTerms(text: string): {
  readonly parts: readonly PlacedTerm[]
  readonly wholes: readonly PlacedTerm[]
} {
  const parts = createOutput()
  const wholes = createOutput()
  const placed = { parts: createMarks(), wholes: createMarks() }
  scanText(text, parts, wholes, placed)
  return {
    parts: toPlaced(text, takeText(parts), placed.parts),
    wholes: toPlaced(text, takeText(wholes), placed.wholes),
  }
}

function createMarks(): Marks {
  return { starts: [], ends: [], kinds: [] }
}

function toPlaced(text: string, list: string, { starts, ends, kinds }: Marks): PlacedTerm[] {
  if (starts.length === 0) return []
  const unitAt = createUnits(text)
  // The end of a pair lies beyond the start of the next one, so ends are counted apart from starts.
  const endAt = createUnits(text)
  return list
    .trimEnd()
    .split(' ')
    .map((term, at) => ({
      term,
      start: unitAt(starts[at] ?? 0),
      end: endAt(ends[at] ?? 0),
      kind: kinds[at] ?? 0,
    }))
}

/** From bytes of UTF-8 to UTF-16 units, for offsets that only grow: one walk over the text for all of them. */
function createUnits(text: string): (byte: number) => number {
  let bytes = 0
  let units = 0
  return (byte) => {
    while (bytes < byte && units < text.length) {
      const code = text.codePointAt(units) ?? 0
      bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
      units += code > 0xffff ? 2 : 1
    }
    return units
  }
}
