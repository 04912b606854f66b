/**
 * Foreign text as SQLite holds it and every driver gives it back. Half a character in JSON becomes text that is no UTF-8 as soon as
 * SQLite takes the JSON apart, and one driver ends the process over it; another ends a text at its first NUL.
 */

/** A NUL is shown as the sign for it, half a character as the sign for what cannot be read. */
export function storedText(text: string): string {
  // As nearly all of it is.
  if (!/[\p{Cs}\0]/u.test(text)) return text
  return text.replaceAll(/\p{Cs}/gu, '\ufffd').replaceAll('\0', '\u2400')
}

/** JSON in which no string has half a character. */
export function storedJson(value: unknown): string {
  const json = JSON.stringify(value)
  return json.includes('\\ud') ? json.replaceAll(HALVES, '\\ufffd') : json
}

/** As JSON writes them: whole characters stand for themselves. After an even number of backslashes, else it is one of those that is meant. */
const HALVES = /(?<=(?:^|[^\\])(?:\\\\)*)\\ud[89a-f][\da-f]{2}/g
