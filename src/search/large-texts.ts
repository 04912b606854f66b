/**
 * Entries of many MB, gone over in pieces, so that no more than some hundred KB of them is held besides the text itself. Of such an
 * entry the index has each word once, without the places: it says where words may be, and the entry is read. One with more
 * different words than that is read whenever words are asked for. Pure; time is linear.
 */
import type { GramSet } from './grams.ts'
import { createTermSet } from './term-set.ts'
import { encodeTexts, hashTexts } from './text-bytes.ts'
import { BYTE_KIND, DIGIT, kindOf, LOWER, SEPARATOR, UNSPACED } from './words-fold.ts'
import { createTermList } from './words.ts'

/** UTF-16 units of all texts of an entry together. */
const LARGE = 1 << 20
/** UTF-16 units that are gone over at a time. */
const PIECE = 1 << 16

export function areLarge(texts: readonly string[]): boolean {
  let units = 0
  for (const text of texts) units += text.length + 1
  return units > LARGE
}

/** As `hashTexts`, another number for the same texts. */
export function hashLarge(texts: readonly string[], seed: number): number {
  let hash = seed
  for (const batch of inBatches(texts, anywhere)) hash = hashTexts(encodeTexts(batch), hash)
  return hash
}

export function addLargeGrams(grams: Pick<GramSet, 'add'>, texts: readonly string[]): void {
  for (const batch of inBatches(texts, anywhere)) grams.add(encodeTexts(batch))
}

/** Every term of the texts once, in UTF-8 with a space after each; undefined when they are too many. Good until it is asked again. */
export function largeTerms(texts: readonly string[]): Uint8Array | undefined {
  const terms = createTermSet()
  const list = createTermList()
  for (const batch of inBatches(texts, betweenWords)) {
    list.addEncoded(encodeTexts(batch))
    if (!terms.add(list.takeBytes())) return undefined
  }
  return terms.bytes()
}

/** Where a piece that begins somewhere ends, and where the next one begins. */
type Cut = (text: string, from: number) => { readonly end: number; readonly next: number }

function* inBatches(texts: readonly string[], cut: Cut): Generator<readonly string[]> {
  let batch: string[] = []
  let units = 0
  for (const text of texts) {
    for (let from = 0; from < text.length;) {
      const { end, next } =
        text.length - from <= PIECE ? { end: text.length, next: text.length } : cut(text, from)
      batch.push(text.slice(from, end))
      units += end - from + 1
      from = next
      if (units < PIECE) continue
      yield batch
      batch = []
      units = 0
    }
  }
  if (batch.length > 0) yield batch
}

/** More than three bytes that stand together, and than a character. */
const OVERLAP = 8

const anywhere: Cut = (_, from) => ({ end: from + PIECE, next: from + PIECE - OVERLAP })

/** Where nothing tells words apart for so long: both pieces have all pairs of characters, and the second begins with half a word. */
const BLIND_OVERLAP = 1024

/** So that the pieces have the terms that the whole has, and no others. */
const betweenWords: Cut = (text, from) => {
  const end = from + PIECE
  for (let at = end; at > from + PIECE / 2; at -= 1) if (isBetween(text, at)) return { end: at, next: at }
  return { end, next: end - BLIND_OVERLAP }
}

function isBetween(text: string, at: number): boolean {
  const before = kindAt(text, at - 1)
  const after = kindAt(text, at)
  if (before === SEPARATOR || after === SEPARATOR) return true
  return (isOfWord(before) && after === UNSPACED) || (before === UNSPACED && isOfWord(after))
}

const isOfWord = (kind: number): boolean => kind >= LOWER && kind <= DIGIT

/** Half of a character tells nothing. */
const HALF = -1

function kindAt(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  if (unit < 0x80) return BYTE_KIND[unit] as number
  return unit >= 0xd800 && unit <= 0xdfff ? HALF : kindOf(unit)
}
