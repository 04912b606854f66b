/** Where terms stand in a text, noted by the scanner for those who show or compare it. */

/** Where the terms of a text stand, by bytes of its UTF-8. */
export type Marks = {
  readonly starts: number[]
  readonly ends: number[]
  /** For each: a word, two characters that stand together, the last one of such, or the beginning of a long word. */
  readonly kinds: number[]
}
export const WORD = 0
export const PAIR = 1
export const LAST = 2
export const CUT = 3

export type Placed = { readonly parts: Marks; readonly wholes: Marks }

export function mark(marks: Marks | undefined, start: number, end: number, kind: number): void {
  if (marks === undefined) return
  marks.starts.push(start)
  marks.ends.push(end)
  marks.kinds.push(kind)
}

/** Leaves one mark for all parts of a word since `first`. */
export function unmark(marks: Marks, first: number, start: number, end: number): void {
  marks.starts.length = first
  marks.ends.length = first
  marks.kinds.length = first
  mark(marks, start, end, CUT)
}
