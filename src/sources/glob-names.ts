/** One name of a pattern: what it says of a file's or folder's name. Time in proportion to name × pattern. */
import { HansardError } from '../errors.ts'

export type NameMatcher = { readonly text: string; matches(name: string): boolean }

type Token = { readonly star: true } | { readonly star: false; matches(character: string): boolean }

/** `*`, `?`, `[a-z]`, and `\` before what is to be taken as it is. */
export function parseName(text: string, platform: NodeJS.Platform): NameMatcher {
  const fold = platform === 'win32' ? (name: string) => name.toLowerCase() : (name: string) => name
  const plain = fold(text)
  if (!/[*?[\\]/.test(text)) return { text, matches: (name) => fold(name) === plain }
  if (text === '*') return { text, matches: () => true }
  const suffix = plain.slice(1)
  if (plain[0] === '*' && !/[*?[\\]/.test(suffix))
    return { text, matches: (name) => fold(name).endsWith(suffix) }
  const tokens = tokenize(plain)
  return { text, matches: (name) => matchTokens(tokens, Array.from(fold(name))) }
}

/** `{a,b}` as patterns of their own, nested ones too. A brace that is not closed is refused. */
export function expandBraces(text: string, platform: NodeJS.Platform): readonly string[] {
  const escapes = platform !== 'win32'
  const expanded: string[] = []
  const waiting = [text]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const group = firstGroup(next, escapes)
    if (group === undefined) expanded.push(next)
    else {
      const { from, to, choices } = group
      for (const choice of choices.toReversed()) waiting.push(next.slice(0, from) + choice + next.slice(to))
    }
    if (expanded.length + waiting.length > MAX_CHOICES) {
      throw new HansardError(
        'invalid-argument',
        `the pattern ${text.slice(0, 60)} stands for too many others`,
        {
          hint: `at most ${MAX_CHOICES}: use several patterns`,
        },
      )
    }
  }
  return expanded
}

const MAX_CHOICES = 256

type Group = { readonly from: number; readonly to: number; readonly choices: readonly string[] }

/** The first `{…}`, and what stands between its own commas. */
function firstGroup(text: string, escapes: boolean): Group | undefined {
  let from = -1
  let depth = 0
  let choiceFrom = 0
  const choices: string[] = []
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (character === '\\' && escapes) at += 1
    else if (character === '[') at = endOfClass(text, at)
    else if (character === '{') {
      depth += 1
      if (depth === 1) [from, choiceFrom] = [at, at + 1]
    } else if (depth > 0 && (character === '}' || (character === ',' && depth === 1))) {
      if (character === '}') depth -= 1
      if (depth > 0 && character === '}') continue
      choices.push(text.slice(choiceFrom, at))
      choiceFrom = at + 1
      if (depth === 0) return { from, to: at + 1, choices }
    }
  }
  if (depth > 0) throw notClosed(text, '{')
  return undefined
}

/** Where the class that opens at `from` closes; a `]` that comes first is one of its characters. */
function endOfClass(text: string, from: number): number {
  let at = from + 1
  if (text[at] === '!' || text[at] === '^') at += 1
  if (text[at] === ']') at += 1
  while (at < text.length && text[at] !== ']') at += text[at] === '\\' ? 2 : 1
  if (at >= text.length) throw notClosed(text, '[')
  return at
}

function notClosed(text: string, bracket: string): HansardError {
  return new HansardError(
    'invalid-argument',
    `the pattern ${text.slice(0, 60)} has a ${bracket} that is not closed`,
    {
      hint: `write [${bracket}] for the character itself`,
    },
  )
}

function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = []
  for (let at = 0; at < text.length;) {
    const character = characterAt(text, at)
    at += character.length
    if (character === '*') {
      if (tokens.at(-1)?.star !== true) tokens.push({ star: true })
    } else if (character === '?') tokens.push({ star: false, matches: () => true })
    else if (character === '[') {
      const end = endOfClass(text, at - 1)
      tokens.push({ star: false, matches: parseClass(text.slice(at, end)) })
      at = end + 1
    } else {
      const isEscape = character === '\\' && at < text.length
      const literal = isEscape ? characterAt(text, at) : character
      if (isEscape) at += literal.length
      tokens.push({ star: false, matches: (other) => other === literal })
    }
  }
  return tokens
}

/** `a-z`, `!a-z`, `^a-z`: what stands between the brackets. */
function parseClass(body: string): (character: string) => boolean {
  const isNegated = body[0] === '!' || body[0] === '^'
  const characters = Array.from((isNegated ? body.slice(1) : body).replace(/\\([^])/g, '$1'))
  const ranges: (readonly [number, number])[] = []
  for (let at = 0; at < characters.length; at += 1) {
    const isRange = characters[at + 1] === '-' && characters[at + 2] !== undefined
    const [first, last] = [codeOf(characters[at]), codeOf(characters[isRange ? at + 2 : at])]
    ranges.push([first, last])
    if (isRange) at += 2
  }
  return (character) => {
    const code = codeOf(character)
    return isNegated !== ranges.some(([first, last]) => first <= code && code <= last)
  }
}

function characterAt(text: string, at: number): string {
  return String.fromCodePoint(text.codePointAt(at) ?? 0)
}

function codeOf(character: string | undefined): number {
  return character?.codePointAt(0) ?? 0
}

/** The last `*` takes one character more whenever the rest does not fit: earlier ones never need to be tried again. */
function matchTokens(tokens: readonly Token[], characters: readonly string[]): boolean {
  let token = 0
  let at = 0
  let star = -1
  let starAt = 0
  while (at < characters.length) {
    const expected = tokens[token]
    if (expected?.star === true) {
      star = token
      starAt = at
      token += 1
    } else if (expected?.matches(characters[at] as string)) {
      token += 1
      at += 1
    } else if (star !== -1) {
      token = star + 1
      starAt += 1
      at = starAt
    } else return false
  }
  while (tokens[token]?.star === true) token += 1
  return token === tokens.length
}
