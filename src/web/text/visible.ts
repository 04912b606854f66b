/**
 * Foreign text made safe to look at: characters that show nothing, or turn the text around them, are named where they stand, so that
 * what is read is what is there. Text is only ever a text node; `<Visible>` in ui/visible.tsx draws the pieces.
 */
import { UNSEEN } from '../../replay/escape.ts'

/** `sign`: shown in place of the character that it stands for. */
export type Piece = { readonly text: string; readonly sign?: true }

const NAMES: ReadonlyMap<number, string> = new Map([
  [0x00ad, 'SHY'],
  [0x061c, 'ALM'],
  [0x200b, 'ZWSP'],
  [0x200e, 'LRM'],
  [0x200f, 'RLM'],
  [0x2028, 'LS'],
  [0x2029, 'PS'],
  [0x202a, 'LRE'],
  [0x202b, 'RLE'],
  [0x202c, 'PDF'],
  [0x202d, 'LRO'],
  [0x202e, 'RLO'],
  [0x2060, 'WJ'],
  [0x2066, 'LRI'],
  [0x2067, 'RLI'],
  [0x2068, 'FSI'],
  [0x2069, 'PDI'],
  [0xfeff, 'BOM'],
])

/** One piece, the text itself, where nothing needs to be shown. */
export function toPieces(text: string): readonly Piece[] {
  const pieces: Piece[] = []
  let from = 0
  for (const { 0: sign, index } of text.matchAll(UNSEEN)) {
    // A carriage return before a line feed is half of a line break.
    if (sign === '\r' && text[index + 1] === '\n') continue
    if (index > from) pieces.push({ text: text.slice(from, index) })
    pieces.push({ text: nameOf(sign), sign: true })
    from = index + sign.length
  }
  if (from === 0) return [{ text }]
  if (from < text.length) pieces.push({ text: text.slice(from) })
  return pieces
}

/** The same as one text, for titles and labels, which cannot be marked up. */
export function visible(text: string): string {
  return toPieces(text)
    .map(({ text: piece, sign }) => (sign ? `⟨${piece}⟩` : piece))
    .join('')
}

/** On one line, and no longer than so many characters: for rows, labels and titles. */
export function oneLine(text: string, most = 300): string {
  // Cut first: what comes from a log may have megabytes.
  const cut = text.length > most * 4 ? text.slice(0, most * 4) : text
  const line = cut.replaceAll(/\s+/g, ' ').trim()
  if (line.length <= most && cut.length === text.length) return line
  // Not in the middle of a character of two halves.
  return `${line.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

/** The same for what is a name here and was Markdown there: without the marks that would be drawn. */
export function titleLine(text: string, most = 300): string {
  return oneLine(text, most)
    .replaceAll(/(\*\*|__|`)([^*_`]{1,300})\1/g, '$2')
    .replace(/^#{1,6} /, '')
}

function nameOf(sign: string): string {
  const code = sign.codePointAt(0) ?? 0
  if (code < 0x20) return String.fromCodePoint(0x2400 + code)
  if (code === 0x7f) return '␡'
  return NAMES.get(code) ?? `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
}
