/** The scanner of `words.ts`: one pass over a text's bytes, which writes its terms and notes, when asked to, where they stand. */
import {
  BYTE_KIND,
  BYTE_LOWER,
  composed,
  DIGIT,
  EMOJI,
  foldOf,
  foldOne,
  HIGH,
  IGNORED,
  JOINER,
  kindOf,
  LOWER,
  SEPARATOR,
  UNSPACED,
  UPPER,
} from './words-fold.ts'
import { encodeTexts, type TextBytes } from './text-bytes.ts'
import { mark, PAIR, LAST, unmark, WORD, type Marks, type Placed } from './words-marks.ts'
import {
  cutLong,
  endTerm,
  LONGEST_WORD,
  reserve,
  sizeOf,
  writeCharacter,
  writeWhole,
  type Output,
} from './words-output.ts'

/** What is scanned now. */
let input: Uint8Array = new Uint8Array(2)

/** Writes a text's terms, each followed by a space, and notes where they stand when asked to. */
export function scanText(text: string, parts: Output, wholes: Output, placed: Placed | undefined): void {
  scanEncoded(encodeTexts([text]), 0, parts, wholes, placed)
}

/** The same for one of several texts. Places are those of the bytes. */
export function scanEncoded(
  { bytes, starts, ends, isAscii }: TextBytes,
  nth: number,
  parts: Output,
  wholes: Output,
  placed: Placed | undefined,
): void {
  const start = starts[nth] as number
  const end = ends[nth] as number
  // ASCII at most doubles. Else a character of 3 bytes may become two, which stand in two pairs of 7 bytes.
  const most = (end - start) * (isAscii[nth] === true ? 2 : 5) + 64
  reserve(parts, most)
  reserve(wholes, most)
  input = bytes
  let at = start
  while (at < end) {
    const kind = BYTE_KIND[bytes[at] as number]
    if (kind === SEPARATOR || kind === JOINER) at += 1
    else if (kind === HIGH) at = scanHigh(at, parts, wholes, placed)
    else at = scanWord(at, parts, wholes, placed)
  }
}

function scanHigh(at: number, parts: Output, wholes: Output, placed: Placed | undefined): number {
  const codePoint = codePointAt(at)
  const next = at + sizeAt(at)
  switch (kindOf(codePoint)) {
    case LOWER:
    case UPPER:
    case DIGIT:
      return scanWord(at, parts, wholes, placed)
    case UNSPACED:
      return scanUnspaced(at, parts, placed?.parts)
    case EMOJI:
      writeCharacter(parts, codePoint)
      endTerm(parts)
      mark(placed?.parts, at, next, WORD)
      return next
    default:
      return next
  }
}

/** One run of letters, digits and `_`, of scripts that put spaces between words. */
function scanWord(start: number, parts: Output, wholes: Output, placed: Placed | undefined): number {
  const first = parts.end
  const firstMark = placed?.parts.starts.length ?? 0
  const from = input
  const out = parts.bytes
  let to = parts.end
  let at = start
  let end = start
  let partStart = start
  let count = 1
  let joined = false
  let before = 0
  let last = 0
  let lastAt = start
  let lastTo = to
  for (;;) {
    const byte = from[at] as number
    let kind = BYTE_KIND[byte] as number
    if (kind === SEPARATOR) break
    if (kind === JOINER) {
      joined = true
      at += 1
      continue
    }
    let size = 1
    let codePoint = 0
    if (kind === HIGH) {
      size = sizeAt(at)
      codePoint = codePointAt(at)
      kind = kindOf(codePoint)
      if (kind === IGNORED) {
        at += size
        if (!joined) end = at
        continue
      }
      if (kind === SEPARATOR || kind > DIGIT) break
    }
    if (joined || (kind === UPPER && last === LOWER)) {
      out[to++] = 0x20
      mark(placed?.parts, partStart, end, WORD)
      partStart = at
      count += 1
      last = 0
      joined = false
    } else if (kind === LOWER && last === UPPER && (before === UPPER || before === DIGIT) && !isPlural(at)) {
      // HTTPServer, utf8Decode: the last capital belongs to what follows.
      out.copyWithin(lastTo + 1, lastTo, to)
      out[lastTo] = 0x20
      to += 1
      mark(placed?.parts, partStart, lastAt, WORD)
      partStart = lastAt
      count += 1
    }
    before = last
    last = kind
    lastAt = at
    lastTo = to
    if (size === 1) {
      out[to++] = BYTE_LOWER[byte] as number
      // Most text is small letters after small letters, where nothing can end but the run.
      if (kind === LOWER) {
        for (let next = from[at + 1] as number; next >= 0x61 && next <= 0x7a; next = from[at + 1] as number) {
          out[to++] = next
          at += 1
        }
      }
    } else {
      parts.end = to
      const one = foldOne(codePoint)
      if (one !== -1) writeCharacter(parts, one)
      else for (const each of foldOf(codePoint)) writeCharacter(parts, each)
      to = parts.end
    }
    at += size
    end = at
  }
  parts.end = to
  mark(placed?.parts, partStart, end, WORD)
  if (to - first - (count - 1) > LONGEST_WORD) {
    cutLong(parts, first)
    if (placed !== undefined) unmark(placed.parts, firstMark, start, end)
  } else if (count > 1) {
    writeWhole(wholes, parts, first)
    mark(placed?.wholes, start, end, WORD)
  }
  endTerm(parts)
  return at
}

/** The s of `URLs` and `IDs`: no word begins with the capital before it. */
function isPlural(at: number): boolean {
  if (input[at] !== 0x73) return false
  const next = BYTE_KIND[input[at + 1] as number]
  if (next !== HIGH) return next !== LOWER
  const codePoint = codePointAt(at + 1)
  const kind = kindOf(codePoint)
  // Japanese marks of the voice come before accents: of which letter the s is a part is not known yet.
  return kind !== LOWER && kind !== IGNORED && codePoint !== 0x3099 && codePoint !== 0x309a
}

function scanUnspaced(start: number, parts: Output, marks: Marks | undefined): number {
  let at = start
  let first = -1
  let firstAt = start
  let second = -1
  let secondAt = start
  let end = start
  while (BYTE_KIND[input[at] as number] === HIGH) {
    const codePoint = codePointAt(at)
    const kind = kindOf(codePoint)
    const next = at + sizeAt(at)
    if (kind !== UNSPACED && kind !== IGNORED) break
    const fold = kind === IGNORED ? 0 : foldOne(codePoint)
    const several = fold === -1 ? foldOf(codePoint) : undefined
    const count = several?.length ?? (kind === IGNORED ? 0 : 1)
    for (let nth = 0; nth < count; nth += 1) {
      const one = several?.[nth] ?? fold
      const both = second === -1 ? undefined : composed(second, one)
      if (both !== undefined) {
        second = both
        continue
      }
      // A pair is written when its second character is known to be whole.
      if (first !== -1) writePair(parts, first, second, marks, firstAt, end)
      first = second
      firstAt = secondAt
      second = one
      secondAt = at
    }
    at = next
    end = next
  }
  if (first !== -1) writePair(parts, first, second, marks, firstAt, end)
  writeCharacter(parts, second)
  endTerm(parts)
  mark(marks, secondAt, end, LAST)
  return at
}

function writePair(
  parts: Output,
  a: number,
  b: number,
  marks: Marks | undefined,
  start: number,
  end: number,
): void {
  writeCharacter(parts, a)
  writeCharacter(parts, b)
  endTerm(parts)
  mark(marks, start, end, PAIR)
}

function sizeAt(at: number): number {
  return sizeOf(input[at] as number)
}

/** Of bytes that are valid UTF-8: half characters became U+FFFD when the text was written. */
function codePointAt(at: number): number {
  const lead = input[at] as number
  const second = (input[at + 1] as number) & 0x3f
  if (lead < 0xe0) return ((lead & 0x1f) << 6) | second
  const third = (input[at + 2] as number) & 0x3f
  if (lead < 0xf0) return ((lead & 0x0f) << 12) | (second << 6) | third
  return ((lead & 0x07) << 18) | (second << 12) | (third << 6) | ((input[at + 3] as number) & 0x3f)
}
