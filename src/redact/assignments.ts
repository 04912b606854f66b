/**
 * Secrets that a name gives away in running text: headers, `key: value` and `KEY=value` in any quoting and escaping, options, arguments, tables,
 * markup and sentences.
 */
import { isAlphanumeric, isKeyCharacter } from './edges.ts'
import { FAINT_LENGTH, kindOf, NAME_LITERALS, secrecyOf, type Secrecy } from './names.ts'
import { isRedacted } from './placeholder.ts'
import type { Find, Found, Rule } from './rule.ts'
import { bareAt, bareEnd, quotedAt, wordAt, type Value } from './value-at.ts'
import { isStandIn, looksRandom, looksSecret, type Trust } from './values.ts'

const QUOTE = String.raw`\\{0,7}["'\x60]`
/** What closes a name: a quote, brackets, the marks of Markdown. */
const CLOSE = String.raw`(?:${QUOTE})?(?:\[\d{0,6})?\]?\)?(?:\*\*|__)?`
/** A value of any kind follows. */
const ASSIGNMENT = new RegExp(
  String.raw`${CLOSE}(?: \d{1,2})?[ \t]{0,24}(?::=|=>|<<<|={1,3}|[:：])(?:\*\*?|__)?[ \t]{0,24}|(?:${QUOTE})?>\{?`,
  'y',
)
/** The same behind a type: `secretKey: string = "…"`. */
const TYPED = new RegExp(
  String.raw`\??[ \t]{0,2}:?[ \t]{0,2}[A-Za-z_&][\w.<>|&[\] ]{0,40}?[ \t]{1,2}=[ \t]{0,2}(?=${QUOTE})`,
  'y',
)
const OPTION = /[ \t]{1,4}(?=[^\s-])/y
/** What may stand between a name and a value that looks like nothing but a secret. */
const LOOSE: readonly RegExp[] = [
  // `define('DB_PASSWORD', '…')`, `"name": "Cookie", "value": "…"`.
  new RegExp(
    String.raw`${QUOTE}\s{0,3},\s{0,3}(?:${QUOTE}value${QUOTE}\s{0,2}[:=]\s{0,2})?(?=${QUOTE})`,
    'iy',
  ),
  // `setPassword("…")`, `useCredentials("me", "…")`.
  new RegExp(String.raw`\(\s{0,3}(?:${QUOTE}[^"'\n]{0,64}${QUOTE}\s{0,2},\s{0,2})?(?=${QUOTE})`, 'y'),
  // `API_KEY || "…"`, `api_key = getenv("API_KEY", "…")`.
  new RegExp(String.raw`\]?\)?\s{0,3}(?:\|\||\?\?|or)\s{0,3}(?=${QUOTE})`, 'y'),
  new RegExp(
    String.raw`\s{0,3}[:=]\s{0,3}[\w.]{2,40}\(\s{0,2}${QUOTE}[\w.-]{1,64}${QUOTE}\s{0,2},\s{0,2}(?=${QUOTE})`,
    'y',
  ),
  // `name="password" value="…"`.
  new RegExp(String.raw`${QUOTE}\s[^<>]{0,80}?\b(?:value|content)\s?=\s?(?=${QUOTE})`, 'iy'),
  // Cells of tables, in Markdown and in HTML.
  /["'`*_]{0,4}[ \t]{0,24}\|[ \t]{0,24}/y,
  /:?\s{0,3}(?:<\/?[a-z][^<>]{0,60}>\s{0,3}){1,4}(?::\s{0,3})?/iy,
  // Sentences: `the password for staging is …`.
  /["'`*_)]{0,3}(?:[ \t](?:for|of|to|on|in|at|from)(?:[ \t][\w.-]{1,24}){1,3})?[ \t](?:is|was|are|now|set to|to|est|es|ist|lautet|è|é)(?:[ \t](?:now|set|changed|to|reset)){0,2}:?[ \t]{1,3}/iy,
  // Nothing but spaces: `requirepass …`, `ENV API_KEY …`, `password 7 …`.
  /["'`]?[ \t]{1,24}(?:\d[ \t]{1,2})?(?=[^\s|])/y,
]
/** Whatever word stands before the credential of a header, and `token=` in it. */
const ANY_SCHEME = /[a-z][a-z0-9-]{1,24}[ \t]{1,4}(?:token=)?"?/iy
const SCHEME = /(?:bearer|basic|token|digest|apikey|negotiate|aws4-hmac-sha256)[ \t]{1,4}/iy
const COOKIES = /[\w!#$%&*+.^|~-]{1,64}=[^\s;"'\\]{1,2048}(?:;[^\r\n"'\\]{0,4096})?/y
const BEARER = /bearer(?:[ \t]{1,4}|%20)([A-Za-z0-9_.~+/=-]{20,512})/iy

/** A name, and how its value is written. */
type Named = {
  readonly name: string
  readonly secrecy: Secrecy
  /** `--password …`. */
  readonly isOption: boolean
  /** `PASSWORD=…`. */
  readonly isVariable: boolean
}

/** The assignment whose name holds the literal found at `at`. */
const findAssignment: Find = (text, at) => {
  let from = at
  let to = at
  while (from > 0 && at - from < 48 && isKeyCharacter(text.charCodeAt(from - 1))) from -= 1
  while (to - at < 48 && isKeyCharacter(text.charCodeAt(to))) to += 1
  const written = text.slice(from, to)
  const name = nameOf(text, from, written)
  const secrecy = secrecyOf(name)
  if (secrecy === undefined) return undefined
  const isOption = written.startsWith('--')
  const isVariable = text[to] === '=' && /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/.test(name)
  const named = { name, secrecy, isOption, isVariable }
  return findAssigned(text, to, named) ?? findLoose(text, to, named)
}

/** The name without the marks of options and diffs, and without the `n` of `\npassword`; `API key` is one name. */
function nameOf(text: string, from: number, written: string): string {
  const name = written.replace(/^-+|-+$/g, '')
  if (from > 0 && text[from - 1] === '\\' && secrecyOf(name) === undefined) return name.slice(1)
  if (!SECOND_WORDS.has(name) || text[from - 1] !== ' ') return name
  let start = from - 1
  while (start > 0 && from - start < 20 && isAlphanumeric(text.charCodeAt(start - 1))) start -= 1
  const both = `${text.slice(start, from - 1)}_${name}`
  return secrecyOf(both) === undefined ? name : both
}

const SECOND_WORDS: ReadonlySet<string> = new Set(['key', 'Key', 'KEY', 'token', 'Token'])

function findAssigned(text: string, at: number, named: Named): Found | undefined {
  const { name, secrecy, isOption } = named
  const separator = (isOption ? [ASSIGNMENT, OPTION] : [TYPED, ASSIGNMENT]).find((one) => {
    one.lastIndex = at
    return one.test(text)
  })
  if (separator === undefined) return undefined
  const start = separator.lastIndex
  const lower = name.toLowerCase()
  if (lower.endsWith('cookie')) return findCookie(text, start)
  const value = quotedAt(text, start) ?? bareAt(text, start)
  if (value === undefined) return undefined
  if (secrecy === 'faint' && value.end - value.start < FAINT_LENGTH) return undefined
  // The current folder.
  if (lower.endsWith('pwd') && text.slice(value.start, value.end).includes('/')) return undefined
  return judge(text, value, named)
}

function findCookie(text: string, at: number): Found | undefined {
  const start = quotedAt(text, at)?.start ?? at
  COOKIES.lastIndex = start
  return COOKIES.test(text) ? { start, end: COOKIES.lastIndex, rule: 'cookie' } : undefined
}

function judge(
  text: string,
  { start, end, isQuoted, isCut = false }: Value,
  named: Named,
): Found | undefined {
  const isHeader = /authorization$/i.test(named.name)
  const scheme = isHeader ? ANY_SCHEME : SCHEME
  scheme.lastIndex = start
  const hasScheme = scheme.test(text) && scheme.lastIndex < (isQuoted ? end : text.length)
  const from = hasScheme ? scheme.lastIndex : start
  const value = hasScheme && !isQuoted ? bareAt(text, from) : { start: from, end, isQuoted }
  if (value === undefined || value.end <= value.start) return undefined
  const secret = text.slice(value.start, value.end)
  if (isRedacted(secret)) return undefined
  // No code looks like `--password x` or `PASSWORD=x`: that is the value itself, as if it were quoted. So is what follows a scheme.
  const isVerbatim = named.isOption || named.isVariable
  const quoted = isQuoted || isVerbatim || (isHeader && hasScheme)
  const whole = isVerbatim && !isQuoted ? text.slice(value.start, bareEnd(text, value.end)) : secret
  if (!isSecret(secret, whole, quoted, named) && !(isCut && isBeginning(secret, named))) return undefined
  const rule = kindOf(named.name)
  if (isQuoted) return { start: value.start, end: value.end, rule }
  // A call or an element of a list.
  if (!isVerbatim && /[([]/.test(text[value.end] ?? '')) return undefined
  return { start: value.start, end: bareEnd(text, value.end), rule }
}

/** Of the whole value of a variable, as much as is judged. */
const MOST_JUDGED = 512

/** `whole`: with what follows a `=` or `:` in it, as in `deploy:…` and `base64:…`. */
function isSecret(value: string, whole: string, quoted: boolean, named: Named): boolean {
  const { name, secrecy, isOption, isVariable } = named
  const trust: Trust = isVariable ? 'strong' : secrecy === 'faint' ? 'weak' : secrecy
  if (looksSecret(value, { quoted, trust })) return true
  const kind = kindOf(name)
  if (kind === 'token' && DIGEST.test(value)) return true
  if (trust === 'strong' && quoted && APP_PASSWORD.test(value)) return true
  if (!isOption && !isVariable) return false
  if (kind === 'password' && /^[A-Za-z0-9!#%*+.?@^~-]{8,64}$/.test(value) && !isStandIn(value)) return true
  return whole !== value && looksSecret(whole.slice(0, MOST_JUDGED), { quoted: true, trust: 'strong' })
}

/** Under `token` this is one, though elsewhere it is a commit. */
const DIGEST = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/
/** As Google shows them. */
const APP_PASSWORD = /^[a-z]{4}(?: [a-z]{4}){3}$/

/** The beginning of a value that was too short to judge. */
function isBeginning(value: string, { secrecy, isVariable }: Named): boolean {
  return (isVariable || secrecy === 'strong') && !/[\s<>{}()]/.test(value) && !isStandIn(value)
}

/** Characters of a secret that stands loosely behind a name that is weak. */
const LONG = 20

/** A value that could be nothing but a secret, behind a name in a call, a table, markup or a sentence. */
function findLoose(text: string, at: number, { name, secrecy }: Named): Found | undefined {
  if (secrecy === 'faint') return undefined
  const isConstant = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/.test(name)
  for (const separator of LOOSE) {
    separator.lastIndex = at
    if (!separator.test(text)) continue
    const value = quotedAt(text, separator.lastIndex) ?? wordAt(text, separator.lastIndex)
    if (value === undefined) continue
    SCHEME.lastIndex = value.start
    const start = SCHEME.test(text) ? SCHEME.lastIndex : value.start
    const secret = text.slice(start, value.end)
    if (secret.length < (secrecy === 'weak' ? LONG : 8)) continue
    const isFound =
      (isConstant ? looksSecret(secret, { quoted: true, trust: 'likely' }) : looksRandom(secret)) ||
      (secrecy === 'strong' && DIGEST.test(secret))
    if (isFound) return { start, end: value.end, rule: kindOf(name) }
  }
  return undefined
}

/** `Bearer …` without a header's name before it. */
const findBearer: Find = (text, at) => {
  BEARER.lastIndex = at
  const secret = BEARER.exec(text)?.[1]
  if (secret === undefined || !looksSecret(secret, { quoted: false, trust: 'strong' })) return undefined
  const end = BEARER.lastIndex
  return { start: end - secret.length, end: bareEnd(text, end), rule: 'authorization' }
}

export const NAME_RULES: readonly Rule[] = [
  { literals: ['bearer'], find: findBearer },
  { literals: NAME_LITERALS, find: findAssignment },
]
