/** PEM private keys, whole or cut off, and Telegram's bot tokens: the two shapes that a literal and a pattern cannot say. */
export type Span = { readonly start: number; readonly end: number }

const BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y
const END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y
/** What a key's body can hold, with line ends that may be written as `\n`. */
const BODY = /[A-Za-z0-9+/=\\\s:,.-]{0,65536}/y

/** The key that begins here. Without its end, everything that could be its body goes with it. A bare heading is no key. */
export function pemAt(text: string, at: number): Span | undefined {
  BEGIN.lastIndex = at
  if (!BEGIN.test(text)) return undefined
  const [head = ''] = text.slice(BEGIN.lastIndex, BEGIN.lastIndex + 300).split('-----', 1)
  if (!/[A-Za-z0-9+/=]{24}/.test(head)) return undefined
  BODY.lastIndex = BEGIN.lastIndex
  BODY.test(text)
  // The body's pattern reads on over the end line, which is made of the same characters.
  const close = text.slice(BEGIN.lastIndex, BODY.lastIndex).indexOf('-----END ')
  if (close === -1) return { start: at, end: BODY.lastIndex }
  END.lastIndex = BEGIN.lastIndex + close
  return { start: at, end: END.test(text) ? END.lastIndex : BODY.lastIndex }
}

const TELEGRAM = /:AA[A-Za-z0-9_-]{32,128}/y

/** `123456789:AA…`: found by the colon, with the digits before it. */
export function telegramAt(text: string, at: number): Span | undefined {
  TELEGRAM.lastIndex = at
  if (!TELEGRAM.test(text)) return undefined
  let start = at
  while (start > 0 && at - start < 10 && isDigit(text.charCodeAt(start - 1))) start -= 1
  return at - start >= 8 ? { start, end: TELEGRAM.lastIndex } : undefined
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}
