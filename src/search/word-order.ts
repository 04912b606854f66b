/** Words in the order of their bytes. Pure. */

/** Words one behind the other: where each begins in `keys`, and behind those where the last one ends. */
export type Words = { readonly keys: Uint8Array; readonly ends: Int32Array; readonly words: number }

/** A word's own number has so many bits, when words are sorted. */
const WORD_BITS = 20
export const MOST_WORDS = 1 << WORD_BITS

/** Which half of a number of sixty-four bits is which. */
const LOW = new Uint32Array(BigUint64Array.of(1n).buffer)[0] === 1 ? 0 : 1
const HIGH = 1 - LOW

/** Their numbers: first all by the first five and a half bytes, as numbers with the word in it, then those that begin alike. */
export function inOrder({ keys, ends, words }: Words): Uint32Array {
  const heads = new BigUint64Array(words)
  const halves = new Uint32Array(heads.buffer)
  const byteAt = (word: number, nth: number): number => {
    const at = (ends[word] as number) + nth
    return at < (ends[word + 1] as number) ? (keys[at] as number) : 0
  }
  for (let word = 0; word < words; word += 1) {
    halves[word * 2 + HIGH] =
      (byteAt(word, 0) << 24) | (byteAt(word, 1) << 16) | (byteAt(word, 2) << 8) | byteAt(word, 3)
    halves[word * 2 + LOW] = (byteAt(word, 4) << 24) | ((byteAt(word, 5) >> 4) << WORD_BITS) | word
  }
  heads.sort()
  const compare = (a: number, b: number): number => {
    const [fromA, toA] = [ends[a] as number, ends[a + 1] as number]
    const [fromB, toB] = [ends[b] as number, ends[b + 1] as number]
    const shared = Math.min(toA - fromA, toB - fromB)
    for (let nth = 5; nth < shared; nth += 1) {
      const difference = (keys[fromA + nth] as number) - (keys[fromB + nth] as number)
      if (difference !== 0) return difference
    }
    return toA - fromA - (toB - fromB)
  }
  const order = new Uint32Array(words)
  for (let rank = 0; rank < words; rank += 1)
    order[rank] = (halves[rank * 2 + LOW] as number) & (MOST_WORDS - 1)
  const isAlike = (a: number, b: number): boolean =>
    halves[a * 2 + HIGH] === halves[b * 2 + HIGH] &&
    (halves[a * 2 + LOW] as number) >>> WORD_BITS === (halves[b * 2 + LOW] as number) >>> WORD_BITS
  for (let first = 0; first < words;) {
    let end = first + 1
    while (end < words && isAlike(first, end)) end += 1
    if (end - first > 1) order.subarray(first, end).sort(compare)
    first = end
  }
  return order
}
