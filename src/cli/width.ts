/**
 * How many columns of a terminal a text takes up, and texts cut to a number of them: wide characters take two, combining marks
 * none, an emoji of several code points two. Texts are on one line and have been made visible (`replay/escape.ts`).
 */
import { stdout } from './streams.ts'

/** Columns of the terminal behind a stream; undefined in a pipe, where nothing is cut. */
export function terminalWidth(
  { isTTY = false, columns }: { readonly isTTY?: boolean; readonly columns?: number | undefined } = stdout,
  env: NodeJS.ProcessEnv = process.env,
): number | undefined {
  if (!isTTY) return undefined
  // A terminal that was never told its size says 0.
  return columns || Number(/^[1-9]\d{0,4}$/.exec(env['COLUMNS'] ?? '')?.[0] ?? DEFAULT_WIDTH)
}

const DEFAULT_WIDTH = 80

export function widthOf(text: string): number {
  if (isNarrow(text)) return text.length
  let width = 0
  if (isSimple(text)) {
    for (let at = 0; at < text.length; at += 1) width += text.charCodeAt(at) >= FIRST_WIDE ? 2 : 1
    return width
  }
  for (const { segment } of segments(text)) width += clusterWidth(segment)
  return width
}

export type CutSide = 'end' | 'start'

/**
 * The text in at most so many columns. What is missing at its end, or at its start (paths, whose end says more), is an
 * ellipsis; never half a character, nor a base without its marks.
 */
export function fit(text: string, width: number, side: CutSide = 'end'): string {
  // No character takes more than two columns for a code unit, so most texts need no measuring.
  if (text.length * 2 <= width || widthOf(text) <= width) return text
  if (width < 1) return ''
  if (isNarrow(text))
    return side === 'end'
      ? `${text.slice(0, width - 1)}${ELLIPSIS}`
      : `${ELLIPSIS}${text.slice(text.length - width + 1)}`
  const clusters = [...segments(text)].map(({ segment }) => segment)
  const kept = takeUpTo(side === 'end' ? clusters : clusters.toReversed(), width - 1)
  return side === 'end' ? `${kept.join('')}${ELLIPSIS}` : `${ELLIPSIS}${kept.toReversed().join('')}`
}

const ELLIPSIS = '…'

function takeUpTo(clusters: readonly string[], width: number): string[] {
  let room = width
  const end = clusters.findIndex((cluster) => (room -= clusterWidth(cluster)) < 0)
  return clusters.slice(0, end === -1 ? clusters.length : end)
}

/** Nothing from the combining marks on: one column for each code unit, whatever it is. */
const isNarrow = (text: string): boolean =>
  /^[\0-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u21ff\u2500-\u259f]*$/.test(text)

/** The same, and Han, kana and their signs, which take two columns each and join with nothing. */
const isSimple = (text: string): boolean =>
  /^[\0-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u21ff\u2500-\u259f\u3001-\u3029\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uff01-\uff60]*$/.test(
    text,
  )
const FIRST_WIDE = 0x3001

let segmenter: Intl.Segmenter | undefined

/** Made when the first text needs it: it takes longer to make than most tables to print. */
function segments(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  return segmenter.segment(text)
}

let emoji: RegExp | undefined
let noWidth: RegExp | undefined

function clusterWidth(cluster: string): number {
  // Made when the first text needs them, as above.
  emoji ??= /\p{Emoji_Presentation}|\p{Emoji}\ufe0f|\p{RI}\p{RI}/u
  // Marks, format characters, and the vowels and finals of Hangul that join the consonant before them.
  noWidth ??= /[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff\ud7b0-\ud7ff]/u
  if (emoji.test(cluster)) return 2
  let width = 0
  for (const character of cluster) {
    if (noWidth.test(character)) continue
    width += isWide(character.codePointAt(0) as number) ? 2 : 1
  }
  return width
}

/** East Asian wide and full-width characters (UAX #11): first and last of each range. */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2329, 0x232a],
  [0x2e80, 0x303e],
  [0x3041, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18dff],
  [0x1aff0, 0x1b2ff],
  [0x1d300, 0x1d376],
  [0x1f200, 0x1f265],
  [0x20000, 0x3fffd],
]

const isWide = (code: number): boolean => WIDE.some(([first, last]) => code >= first && code <= last)
