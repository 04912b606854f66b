/**
 * Escapes foreign text for printing. Everything in a transcript is hostile: an escape sequence could repaint the screen or fill
 * the clipboard, a bidirectional or invisible character could make text read as something else. Such characters are shown, never sent.
 */

/**
 * Control characters but tab and newline, bidirectional controls, invisible spaces and fillers, line separators, tag characters, lone
 * surrogates. Not the two joiners (U+200C, U+200D), which Persian and emoji need. Spelled out: Unicode's names for them take longer to
 * look up than most pages to print.
 */
export const UNSEEN =
  // oxlint-disable-next-line no-control-regex
  /[\0-\x08\x0b-\x1f\x7f-\x9f\xad\ud800-\udfff\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\u{e0000}-\u{e007f}]/gu

/** A cheaper first look, unit by unit: `UNSEEN` is compiled only for texts that may have one. */
const SUSPECT =
  // oxlint-disable-next-line no-control-regex
  /[\0-\x08\x0b-\x1f\x7f-\x9f\xad\ud800-\udfff\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff]/

/** The text with such characters as visible escapes: `\x1b`, `\u202e`. Newlines and tabs stay; CRLF becomes a newline. */
export function visible(text: string): string {
  if (!SUSPECT.test(text)) return text
  const lines = text.includes('\r\n') ? text.replaceAll('\r\n', '\n') : text
  return lines.replace(UNSEEN, toEscape)
}

/** The same on one line, for names, titles and table cells. */
export function visibleLine(text: string): string {
  return visible(text)
    .replaceAll('\n', String.raw`\n`)
    .replaceAll('\t', String.raw`\t`)
}

/** JSON text of the same value, in which no such character stands as itself: `\u009b`. */
export function visibleJson(json: string): string {
  if (!SUSPECT.test(json)) return json
  return json.replace(UNSEEN, (character) =>
    [...Array(character.length).keys()].map((at) => toUnit(character.charCodeAt(at))).join(''),
  )
}

/** At most so many characters, then `...`; never half a character. */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text
  let end = 0
  for (let characters = 0; characters < limit && end < text.length; characters += 1) {
    end += (text.codePointAt(end) as number) > 0xffff ? 2 : 1
  }
  return end >= text.length ? text : `${text.slice(0, end)}...`
}

function toEscape(character: string): string {
  const code = character.codePointAt(0) as number
  if (code === 0x0d) return String.raw`\r`
  if (code <= 0xff) return String.raw`\x${code.toString(16).padStart(2, '0')}`
  return code <= 0xffff ? toUnit(code) : String.raw`\u{${code.toString(16)}}`
}

function toUnit(code: number): string {
  return String.raw`\u${code.toString(16).padStart(4, '0')}`
}
