/**
 * A query's text cut into words, quoted texts, patterns, fields and operators. A quote that nothing closes and a slash within a
 * path are characters like any other, so that pasted text is a query. Each character is looked at a bounded number of times.
 */
import { FIELD_NAMES, type FieldToken } from './query-fields.ts'

export type Token =
  | { readonly type: 'open' }
  | { readonly type: 'close' }
  | { readonly type: 'or' }
  | { readonly type: 'and' }
  | { readonly type: 'not' }
  | Condition

export type Condition =
  | { readonly type: 'words'; readonly text: string; readonly prefix: boolean }
  | { readonly type: 'substring'; readonly text: string }
  | { readonly type: 'regex'; readonly source: string; readonly flags: string }
  | FieldToken

export type Tokens = { peek(): Token | undefined; next(): Token | undefined }

export function createTokens(text: string): Tokens {
  const state: State = {
    text,
    at: 0,
    lastDouble: text.lastIndexOf('"'),
    lastSingle: text.lastIndexOf("'"),
    lastSlash: text.lastIndexOf('/'),
  }
  let ahead: Token | undefined
  let isAhead = false
  return {
    peek() {
      if (!isAhead) ahead = read(state)
      isAhead = true
      return ahead
    },
    next() {
      const token = isAhead ? ahead : read(state)
      isAhead = false
      return token
    },
  }
}

type State = {
  readonly text: string
  at: number
  /** Where each closing sign is last seen: before it, looking for one is not in vain. */
  lastDouble: number
  lastSingle: number
  lastSlash: number
}

const SPACE = /\s/u
const ENDS_BARE = /[\s()"]/u
const OPERATORS: ReadonlyMap<string, Token> = new Map<string, Token>([
  ['OR', { type: 'or' }],
  ['AND', { type: 'and' }],
  ['NOT', { type: 'not' }],
])

function read(state: State): Token | undefined {
  const { text } = state
  for (;;) {
    while (state.at < text.length && SPACE.test(text[state.at] ?? '')) state.at += 1
    if (state.at >= text.length) return undefined
    const sign = text[state.at]
    if (sign === '(' || sign === ')') {
      state.at += 1
      return sign === '(' ? { type: 'open' } : { type: 'close' }
    }
    // A minus before something is a no; by itself, in `--flag` and in an arrow it is a character.
    if (sign === '-' && /[^\s)>-]/u.test(text[state.at + 1] ?? ' ')) {
      state.at += 1
      return { type: 'not' }
    }
    if (sign === '"') {
      const phrase = readPhrase(state)
      if (phrase !== undefined) return phrase
      continue
    }
    const quoted = sign === "'" ? readSubstring(state) : sign === '/' ? readRegex(state) : undefined
    return quoted ?? readBare(state)
  }
}

/** Undefined, and a step on, for quotes with nothing in them and for one that nothing closes. */
function readPhrase(state: State): Token | undefined {
  const phrase = quotedAt(state, state.at)
  if (phrase === undefined) {
    state.at += 1
    return undefined
  }
  const prefix = state.text[phrase.end] === '*'
  state.at = phrase.end + (prefix ? 1 : 0)
  return phrase.value.trim() === '' ? undefined : { type: 'words', text: phrase.value, prefix }
}

/** From one double quote to the next. A backslash keeps a quote from ending it. */
function quotedAt(state: State, start: number): { value: string; end: number } | undefined {
  const { text, lastDouble } = state
  if (lastDouble <= start) return undefined
  let value = ''
  for (let at = start + 1; at <= lastDouble; at += 1) {
    const sign = text[at]
    if (sign === '"') return { value, end: at + 1 }
    if (sign === '\\' && text[at + 1] === '"') at += 1
    value += text[at] ?? ''
  }
  // Only escaped ones are left, and they are for every later quote as well.
  state.lastDouble = -1
  return undefined
}

/** `'text'`, where the last quote ends a word: an apostrophe does not. */
function readSubstring(state: State): Token | undefined {
  const { text, at: start } = state
  for (
    let at = text.indexOf("'", start + 1);
    at !== -1 && at <= state.lastSingle;
    at = text.indexOf("'", at + 1)
  ) {
    if (!isEnd(text, at + 1) || at === start + 1) continue
    state.at = at + 1
    return { type: 'substring', text: text.slice(start + 1, at) }
  }
  // None after this one closes, so none will be looked for again.
  state.lastSingle = -1
  return undefined
}

/** `/pattern/` and its flags, where no slash stands in between: `/usr/lib/` is a path. */
function readRegex(state: State): Token | undefined {
  const { text, at: start } = state
  if (state.lastSlash <= start) return undefined
  let at = start + 1
  for (; at < text.length && text[at] !== '/'; at += 1) if (text[at] === '\\') at += 1
  let end = at + 1
  while (end < text.length && /[imsu]/u.test(text[end] ?? '')) end += 1
  if (at === start + 1 || at >= text.length || end - at > 5 || !isEnd(text, end)) return undefined
  const flags = text.slice(at + 1, end)
  if (new Set(flags).size !== flags.length) return undefined
  state.at = end
  return { type: 'regex', source: text.slice(start + 1, at), flags }
}

const isEnd = (text: string, at: number): boolean => at >= text.length || /[\s)]/u.test(text[at] ?? '')

// Without the `u` flag: with it, letters are compared by the tables of all scripts, which take longer to look up than most queries to read.
const FIELD = new RegExp(`^(${FIELD_NAMES.join('|')})(:[<>]=?|:|[<>]=?|=)`, 'i')
const LONGEST_FIELD = 16

function readBare(state: State): Token {
  const { text, at: start } = state
  const field = FIELD.exec(text.slice(start, start + LONGEST_FIELD))
  if (field !== null) return readField(state, field[0], field[1] ?? '', field[2] ?? '')
  // The first character is part of it, whatever it is.
  let at = start + 1
  while (at < text.length && !ENDS_BARE.test(text[at] ?? '')) at += 1
  state.at = at
  const word = text.slice(start, at)
  const operator = OPERATORS.get(word)
  if (operator !== undefined) return operator
  let end = word.length
  while (end > 1 && word[end - 1] === '*') end -= 1
  return { type: 'words', text: word.slice(0, end), prefix: end < word.length }
}

function readField(state: State, head: string, name: string, operator: string): Token {
  const { text, at: start } = state
  const from = start + head.length
  const quoted = text[from] === '"' ? quotedAt(state, from) : undefined
  let end = quoted?.end ?? from
  if (quoted === undefined) while (end < text.length && !ENDS_BARE.test(text[end] ?? '')) end += 1
  state.at = end
  return {
    type: 'field',
    name: name.toLowerCase(),
    operator: operator.length > 1 && operator.startsWith(':') ? operator.slice(1) : operator,
    value: quoted?.value ?? text.slice(from, end),
    quoted: quoted !== undefined,
    raw: text.slice(start, end),
  }
}
