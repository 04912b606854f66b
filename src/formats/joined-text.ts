/** A text put together from any number of pieces: millions of short ones take no more memory than what they say. */

export type JoinedText = {
  /** In characters, so far. */
  readonly length: number
  add(piece: string): void
  text(): string
}

/** Pieces until they become one: joined, they are one text, where added to each other they would all be there still. */
const MOST_PIECES = 4096

export function createJoinedText(first: string): JoinedText {
  const parts: string[] = []
  let pieces = [first]
  let { length } = first
  return {
    get length() {
      return length
    },
    add(piece) {
      pieces.push(piece)
      length += piece.length
      if (pieces.length < MOST_PIECES) return
      parts.push(pieces.join(''))
      pieces = []
    },
    text: () => (parts.length === 0 && pieces.length === 1 ? first : [...parts, ...pieces].join('')),
  }
}
