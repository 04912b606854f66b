/** Where a word begins, in texts that may be escaped: after `\n`, `%22` and `\u0022` a word begins as it does after a space. */
export function isEdge(text: string, at: number, inside: (code: number) => boolean): boolean {
  if (at === 0 || !inside(text.charCodeAt(at - 1))) return true
  // The mark of a diff, or of an item in a list.
  if (isMark(text.charCodeAt(at - 1)) && (at === 1 || text.charCodeAt(at - 2) <= 32)) return true
  const before = text.slice(Math.max(0, at - 6), at)
  return /(?:\\[nrtbfv0]|%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2})$/.test(before)
}

export function isAlphanumeric(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122)
}

/** The characters of most keys: letters, digits, `-` and `_`. */
export function isKeyCharacter(code: number): boolean {
  return isAlphanumeric(code) || code === 45 || code === 95
}

export function isBase64(code: number): boolean {
  return isKeyCharacter(code) || code === 43 || code === 47
}

/** `+` and `-`. */
function isMark(code: number): boolean {
  return code === 43 || code === 45
}
