/**
 * The words of many entries and where they stand, held until they are written: every word once, and for every place of it four bytes.
 * FTS5's own table of words looks three times into memory for each, which is nearly half of the time that it takes to index.
 */
import { createFound, cutWords, hashOf, SHORT, SPACE } from './word-heads.ts'
import { inOrder, MOST_WORDS } from './word-order.ts'

export type Postings = {
  /** Words with a space after each, as `TOKENIZER` of word-tables.ts cuts them. Numbers of entries only grow. */
  add(number: number, text: Uint8Array, facets: string): void
  /** Places that are held. */
  readonly places: number
  /** False when what is held is to be written first, or when no room is enough (`fits`). */
  hasRoom(text: Uint8Array, facets: string): boolean
  readonly docs: number
  /** The number of the last entry. */
  readonly last: number
  /** Calls back with each word, in the order of their bytes, and the places of each in order. */
  each(take: TakePlaces): void
  /** Of the places of the entries that there are. */
  readonly bits: number
  /** Of the nth entry. */
  number(nth: number): number
  sizes(nth: number): readonly [text: number, facets: number]
  /** What was added for it, as words with a space after each. */
  words(nth: number): { readonly text: Uint8Array; readonly facets: string }
  clear(): void
}

/**
 * A word is `bytes` from `start` on below `end`. Its places are those of `places` from `from` on below `to`: of each the entry above
 * `bits` bits, and in them where it stands; the highest of them is set for those in facets.
 */
export type TakePlaces = (
  bytes: Uint8Array,
  start: number,
  end: number,
  places: Int32Array,
  from: number,
  to: number,
) => void

/** Bytes of words, each counted once. */
const MOST_BYTES = 1 << 25

/** By byte, as FTS5's tokenizer takes it: in lower case, and a space where it is no part of a word. */
const TAKEN_AS: Uint8Array = new Uint8Array(256).map((_, byte) => {
  if (byte <= SPACE || byte === 0x27 || byte === 0x7f) return SPACE
  return byte >= 0x41 && byte <= 0x5a ? byte + 32 : byte
})

export function createPostings(): Postings {
  let log = new Int32Array(1 << 16)
  let count = 0
  let docs = 0
  let numbers = new Float64Array(1 << 10)
  /** By words, while they are written. */
  let places = new Int32Array(0)
  /** The most places that an entry has in its text or in its facets. */
  let widest = 0
  /** Where each entry begins in the log and the last one ends, and where its facets begin. */
  let starts = new Int32Array(1 << 10)
  let splits = new Int32Array(1 << 10)
  /** By hash, four for each: the first eight bytes, one past the word's own number or 0 for none, and of longer words the hash. */
  let slots = new Int32Array(1 << 14)
  let found = createFound(1 << 10)
  let words = 0
  let keys = new Uint8Array(1 << 16)
  /** Where each word begins in `keys`, and the last one ends. */
  let ends = new Int32Array(1 << 12)

  const grow = (): void => {
    const larger = new Int32Array(slots.length * 2)
    const mask = larger.length - SLOT
    for (let at = 0; at < slots.length; at += SLOT) {
      if (slots[at + WORD] === 0) continue
      const [head, more, own] = [slots[at] as number, slots[at + 1] as number, slots[at + LONG] as number]
      let slot = ((own === 0 ? hashOf(head, more) : own) << 2) & mask
      while (larger[slot + WORD] !== 0) slot = (slot + SLOT) & mask
      larger.set(slots.subarray(at, at + SLOT), slot)
    }
    slots = larger
  }

  const newWord = (bytes: Uint8Array, from: number, to: number): number => {
    const start = ends[words] as number
    const end = start + to - from
    if (end > keys.length) keys = enlarged(keys, new Uint8Array(Math.max(end, keys.length * 2)))
    if (words + 2 > ends.length) ends = enlarged(ends, new Int32Array(ends.length * 2))
    for (let at = from, into = start; at < to; at += 1, into += 1) keys[into] = bytes[at] as number
    words += 1
    ends[words] = end
    return words
  }

  /** The same bytes from the ninth on. */
  const isRest = (word: number, bytes: Uint8Array, start: number, end: number): boolean => {
    let from = (ends[word - 1] as number) + SHORT
    if ((ends[word] as number) - from !== end - start - SHORT) return false
    for (let at = start + SHORT; at < end; at += 1, from += 1) if (keys[from] !== bytes[at]) return false
    return true
  }

  const addWords = (bytes: Uint8Array, length: number): void => {
    // No word has less than a byte and a space.
    const most = count + (length >> 1) + 1
    if (most > log.length) log = enlarged(log, new Int32Array(Math.max(most, log.length * 2)))
    if (most - count > found.heads.length) found = createFound(most - count)
    const total = cutWords(bytes, length, found)
    const { heads, mores, hashes, starts: begins, ends: stops } = found
    const own = log
    let table = slots
    let mask = table.length - SLOT
    // All slots once, with nothing in between that depends on them: memory is asked for many of them at a time.
    let touched = 0
    for (let nth = 0; nth < total; nth += 1) touched |= table[((hashes[nth] as number) << 2) & mask] as number
    TOUCHED[0] = touched
    for (let nth = 0; nth < total; nth += 1) {
      const head = heads[nth] as number
      const more = mores[nth] as number
      const hash = hashes[nth] as number
      const long = (stops[nth] as number) - (begins[nth] as number) > SHORT ? hash : 0
      let slot = (hash << 2) & mask
      let word: number
      for (;;) {
        word = table[slot + WORD] as number
        if (word === 0) break
        const isSame = table[slot] === head && table[slot + 1] === more && table[slot + LONG] === long
        if (isSame && (long === 0 || isRest(word, bytes, begins[nth] as number, stops[nth] as number))) break
        slot = (slot + SLOT) & mask
      }
      if (word === 0) {
        word = newWord(bytes, begins[nth] as number, stops[nth] as number)
        table[slot] = head
        table[slot + 1] = more
        table[slot + WORD] = word
        table[slot + LONG] = long
        if (words * 6 > table.length) grow()
        table = slots
        mask = table.length - SLOT
      }
      own[count++] = word - 1
    }
  }

  return {
    get places() {
      return count
    },
    hasRoom(text, facets) {
      if ((ends[words] as number) >= MOST_BYTES || !fits(words, text, facets)) return false
      // No word has less than a byte and a space.
      return docs < mostDocs(bitsOf(Math.max(widest, (text.length >> 1) + 1, (facets.length >> 1) + 1)))
    },
    get docs() {
      return docs
    },
    get last() {
      return docs === 0 ? Number.NEGATIVE_INFINITY : (numbers[docs - 1] as number)
    },
    number: (nth) => numbers[nth] as number,
    words(nth) {
      const listOf = (from: number, to: number): Buffer => {
        const parts: Uint8Array[] = []
        for (let at = from; at < to; at += 1) {
          const word = log[at] as number
          parts.push(keys.subarray(ends[word], ends[word + 1]), BLANK)
        }
        return Buffer.concat(parts)
      }
      const split = splits[nth] as number
      const end = starts[nth + 1] as number
      return { text: listOf(starts[nth] as number, split), facets: listOf(split, end).toString() }
    },
    sizes: (nth) => {
      const split = splits[nth] as number
      return [split - (starts[nth] as number), (starts[nth + 1] as number) - split]
    },
    add(number, text, facets) {
      if (docs + 2 > numbers.length) {
        numbers = enlarged(numbers, new Float64Array(numbers.length * 2))
        starts = enlarged(starts, new Int32Array(starts.length * 2))
        splits = enlarged(splits, new Int32Array(splits.length * 2))
      }
      numbers[docs] = number
      starts[docs] = count
      addWords(text, text.length)
      splits[docs] = count
      docs += 1
      const bytes = Buffer.from(facets)
      for (let at = 0; at < bytes.length; at += 1) bytes[at] = TAKEN_AS[bytes[at] as number] as number
      addWords(bytes, bytes.length)
      starts[docs] = count
      const split = splits[docs - 1] as number
      widest = Math.max(widest, split - (starts[docs - 1] as number), count - split)
    },
    get bits() {
      return bitsOf(widest)
    },
    each(take) {
      const order = inOrder({ keys, ends, words })
      /** How many places a word has, then where the next one goes, and in the end where the last one went. */
      const next = new Int32Array(words)
      for (let at = 0; at < count; at += 1) next[log[at] as number] = (next[log[at] as number] as number) + 1
      let sum = 0
      for (let rank = 0; rank < words; rank += 1) {
        const word = order[rank] as number
        const own = next[word] as number
        next[word] = sum
        sum += own
      }
      const bits = bitsOf(widest)
      if (docs > mostDocs(bits)) throw new Error('more entries than their places leave room for')
      if (places.length < count) places = new Int32Array(count)
      const into = places
      for (let doc = 0; doc < docs; doc += 1) {
        const own = doc << bits
        const split = splits[doc] as number
        const stop = starts[doc + 1] as number
        const start = starts[doc] as number
        for (let at = start; at < stop; at += 1) {
          const word = log[at] as number
          const to = next[word] as number
          next[word] = to + 1
          into[to] = at < split ? own | (at - start) : own | (1 << (bits - 1)) | (at - split)
        }
      }
      for (let rank = 0, from = 0; rank < words; rank += 1) {
        const word = order[rank] as number
        const to = next[word] as number
        take(keys, ends[word] as number, ends[word + 1] as number, into, from, to)
        from = to
      }
    },
    clear() {
      count = 0
      docs = 0
      words = 0
      widest = 0
      slots.fill(0)
    },
  }
}

/** That a place in an entry takes, where none has more than so many in its text or its facets. */
function bitsOf(widest: number): number {
  return 33 - Math.clz32(widest)
}

/** Entries that may be told in what is left of a number. */
function mostDocs(bits: number): number {
  return 2 ** (32 - bits)
}

/** False when an entry may have more words than can be told apart beside so many others. */
export function fits(others: number, text: Uint8Array, facets: string): boolean {
  const left = MOST_WORDS - others - facets.length - 2
  // No word has less than a byte and a space, and most have more.
  if (text.length >> 1 < left) return true
  let spaces = 0
  for (let at = text.indexOf(SPACE); at !== -1; at = text.indexOf(SPACE, at + 1)) spaces += 1
  return spaces < left
}

/** Where it goes that slots were looked at, so that they are. */
const TOUCHED = new Int32Array(1)

const BLANK = Uint8Array.of(SPACE)

const SLOT = 4
const WORD = 2
const LONG = 3

function enlarged<T extends Int32Array | Float64Array | Uint8Array>(from: T, to: T): T {
  to.set(from)
  return to
}
