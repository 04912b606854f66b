/**
 * One list of words with their places as FTS5 keeps it: leaves of some 4 KB, the first word of each, and for words with many entries
 * which leaf has which. FTS5 reads it, puts it together with others and removes from it as if it had written it.
 */
import { KIND, LIST } from './word-layout.ts'
import { putVarint, sizeOfVarint } from './word-varints.ts'

export type SegmentWriter = {
  /** A word, larger than the one before by its bytes: those from `start` on below `end`, which stay as they are until the next. */
  word(bytes: Uint8Array, start: number, end: number): void
  /** Its entries: numbers, each less the one before, and places. All that was put at once, of whatever number. */
  entries(list: Entries): void
  /** Says how many leaves there are. */
  end(): number
}

/** Good until the next word's. What FTS5 calls a doclist: `bytes` up to `end`, each entry with its number, how many bytes its places have twice over, and them. */
export type Entries = {
  readonly bytes: Uint8Array
  readonly end: number
  /** Writes the number of the nth entry by itself. Says where it ends. */
  readonly putNumber: (nth: number, bytes: Uint8Array, at: number) => number
  /** The same as a number. */
  readonly number: (nth: number) => number
}

export type Rows = {
  leaf(id: number, block: Uint8Array): void
  /** The first leaf in which words are from `term` on. */
  leafOf(term: Uint8Array, leaf: number): void
}

/** Bytes of a leaf. As FTS5 has it: one page of the database. */
const LEAF_BYTES = 4050
/** Leaves without a word, from which on there is a list of which has which. */
const LEAVES_LISTED = 4

/** From here on in a list: which leaf of a word has which entries. */
const LISTED = 2 ** 36

export function createSegmentWriter(segment: number, rows: Rows): SegmentWriter {
  const page = Buffer.alloc(LEAF_BYTES * 2 + 40_000)
  const index = Buffer.alloc(LEAF_BYTES * 2)
  let at = 4
  let indexed = 0
  let lastIndexed = 0
  let leaf = 1
  let hasWord = false
  let hasNumber = false
  let last: Uint8Array = new Uint8Array()
  let lastStart = 0
  let lastEnd = 0
  /** What is told of the leaf whose first word this is, once it is known whether there is a list. */
  let begins: { term: Uint8Array; leaf: number } | undefined = { term: new Uint8Array(), leaf: 1 }
  let empty = 0
  const listed = Buffer.alloc(LEAF_BYTES + 32)
  let list = 0
  let listOf = 1
  let listLast = 0
  let isListed = true

  const flushLeaf = (): void => {
    page.writeUInt16BE(at, 2)
    if (hasWord) {
      index.copy(page, at, 0, indexed)
      at += indexed
    } else {
      if (!hasNumber && list > 0 && list < LEAF_BYTES) list = putVarint(listed, list, 0)
      else if (list >= LEAF_BYTES) isListed = false
      empty += 1
    }
    rows.leaf(segment * LIST + leaf, page.subarray(0, at))
    page.fill(0, 0, 4)
    at = 4
    indexed = 0
    lastIndexed = 0
    leaf += 1
    hasWord = false
    hasNumber = false
  }
  const flushBegins = (): void => {
    if (begins === undefined) return
    const hasList = list > 0 && isListed && empty >= LEAVES_LISTED
    if (hasList) rows.leaf(segment * LIST + LISTED + listOf, listed.subarray(0, list))
    list = 0
    isListed = true
    empty = 0
    rows.leafOf(begins.term, begins.leaf * 2 + (hasList ? 1 : 0))
    begins = undefined
  }
  /** The first number on this leaf, for who looks for one. */
  const note = (nth: number, { number, putNumber }: Entries): void => {
    if (!isListed) return
    // So many leaves of one word that their list needs leaves itself: it is gone over without one.
    if (list >= LEAF_BYTES) {
      isListed = false
      return
    }
    if (list === 0) {
      listed[0] = 0
      list = putNumber(nth, listed, putVarint(listed, 1, leaf))
    } else list = putVarint(listed, list, number(nth) - listLast)
    listLast = number(nth)
  }

  return {
    word(bytes, start, end) {
      const length = end - start
      if (at + indexed + length + 3 >= LEAF_BYTES && at > 4) flushLeaf()
      indexed = putVarint(index, indexed, at - lastIndexed)
      lastIndexed = at
      let shared = 0
      const most = Math.min(length, lastEnd - lastStart)
      while (shared < most && bytes[start + shared] === last[lastStart + shared]) shared += 1
      if (hasWord) {
        at = putVarint(page, at, shared + 1)
        at = putVarint(page, at, length - shared)
      } else {
        if (leaf > 1) {
          flushBegins()
          begins = { term: termOf(bytes.subarray(start, start + shared + 1)), leaf }
        }
        at = putVarint(page, at, length + 1)
        page[at++] = KIND
        shared = 0
      }
      for (let from = start + shared; from < end; from += 1) page[at++] = bytes[from] as number
      last = bytes
      lastStart = start
      lastEnd = end
      hasWord = true
      hasNumber = true
      listOf = leaf
    },
    entries(entries) {
      const { bytes, end, putNumber } = entries
      if (LEAF_BYTES >= at + indexed + end + 1) {
        for (let from = 0; from < end; from += 1) page[at++] = bytes[from] as number
        return
      }
      for (let from = 0, nth = 0; from < end; nth += 1) {
        const size = sizeOfVarint(bytes, from)
        if (hasNumber) for (let to = from + size; from < to; from += 1) page[at++] = bytes[from] as number
        else {
          page.writeUInt16BE(at, 0)
          note(nth, entries)
          at = putNumber(nth, page, at)
          hasNumber = true
          from += size
        }
        const places = lengthOf(bytes, from)
        const stop = from + sizeOfVarint(bytes, from) + places
        while (from < stop) {
          const room = LEAF_BYTES - at - indexed
          // Numbers are not cut in two; at least one fits.
          let to = stop
          if (stop - from > room) {
            to = from + sizeOfVarint(bytes, from)
            while (to < stop) {
              const more = sizeOfVarint(bytes, to)
              if (to - from + more > room) break
              to += more
            }
          }
          for (; from < to; from += 1) page[at++] = bytes[from] as number
          if (at + indexed >= LEAF_BYTES) flushLeaf()
        }
      }
    },
    end() {
      if (at > 4) flushLeaf()
      if (leaf > 1) flushBegins()
      return leaf - 1
    },
  }
}

function termOf(word: Uint8Array): Uint8Array {
  const term = new Uint8Array(word.length + 1)
  term[0] = KIND
  term.set(word, 1)
  return term
}

/** How many bytes the places have, said twice over. */
function lengthOf(bytes: Uint8Array, at: number): number {
  let value = 0
  const end = at + sizeOfVarint(bytes, at)
  for (let nth = at; nth < end; nth += 1) value = value * 0x80 + ((bytes[nth] as number) & 0x7f)
  return Math.floor(value / 2)
}
