/** Reads the value that begins at a place: in quotes, bare, or a word of a sentence. */
export type Value = {
  readonly start: number
  readonly end: number
  readonly isQuoted: boolean
  /** The text ends before the closing quote. */
  readonly isCut?: boolean
}

const LONGEST_QUOTED = 1024

/** Up to the same quote behind the same number of backslashes, on the same line; up to the end of a text that is cut before it. */
export function quotedAt(text: string, at: number): Value | undefined {
  let open = at
  while (open - at < 7 && text[open] === '\\') open += 1
  const quote = text[open]
  if (quote !== '"' && quote !== "'" && quote !== '`') return undefined
  const depth = open - at
  let slashes = 0
  const last = Math.min(text.length, open + LONGEST_QUOTED)
  for (let i = open + 1; i < last; i += 1) {
    const character = text[i]
    if (character === quote && slashes === depth) return { start: open + 1, end: i - depth, isQuoted: true }
    if (character === '\n') return undefined
    slashes = character === '\\' ? slashes + 1 : 0
  }
  return last === text.length ? { start: open + 1, end: last, isQuoted: true, isCut: true } : undefined
}

const BARE = /(?:[^\s"'`,;&|<>(){}[\]\\=:]|\\\/){1,512}={0,2}/y
const REST = /[^\s"'`,;&|<>(){}[\]\\]{0,8192}/y

/** Up to a further `=` or `:`: each stretch of a text is judged once. `bareEnd` says where the value really ends. */
export function bareAt(text: string, at: number): Value | undefined {
  BARE.lastIndex = at
  return BARE.test(text) ? { start: at, end: BARE.lastIndex, isQuoted: false } : undefined
}

/** Where whatever ends a word, in the languages of the world, ends the value that goes on at `at`. */
export function bareEnd(text: string, at: number): number {
  REST.lastIndex = at
  REST.test(text)
  return Math.max(at, REST.lastIndex)
}

const LONGEST_WORD = 200
/** Not the end of a private key's heading. */
const WORD = /(?!BLOCK-----)[^\s"'`,|<>(){}[\]\\]{8,201}/y

/** A word of a sentence, without the mark that ends it. */
export function wordAt(text: string, at: number): Value | undefined {
  WORD.lastIndex = at
  if (!WORD.test(text)) return undefined
  let end = WORD.lastIndex
  if (text[end] === '(' || end - at > LONGEST_WORD) return undefined
  while (end > at && '.,;:!?'.includes(text[end - 1] as string)) end -= 1
  return { start: at, end, isQuoted: false }
}
