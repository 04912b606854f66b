/**
 * A text as JSON spells it, in UTF-8, a piece at a time: a long one is three times in memory where it is spelled at once. The pieces
 * together are `JSON.stringify`'s text between its quotes.
 */

/** UTF-16 units of a piece. */
const PIECE = 64 * 1024

export function* spelledPieces(text: string, units = PIECE): Generator<Buffer> {
  for (let from = 0; from < text.length;) {
    let to = Math.min(from + units, text.length)
    // Half of a character by itself would be spelled otherwise.
    if (isHigh(text.charCodeAt(to - 1)) && isLow(text.charCodeAt(to))) to += to - 1 > from ? -1 : 1
    const spelled = Buffer.from(JSON.stringify(text.slice(from, to)))
    yield spelled.subarray(1, -1)
    from = to
  }
}

/** Not of what is behind the end, which is no number. */
const isLow = (unit: number): boolean => (unit & 0xfc00) === 0xdc00
const isHigh = (unit: number): boolean => (unit & 0xfc00) === 0xd800
