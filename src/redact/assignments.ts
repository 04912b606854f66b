/**
 * Secrets that a name gives away in running text: headers, `key: value` and `KEY=value` in any quoting and escaping, options,
 * query parameters, and passwords in URLs. Everything here looks at a bounded stretch after the place it is asked about.
 */
import { isKeyCharacter } from './edges.ts'
import { FAINT_LENGTH, kindOf, secrecyOf } from './names.ts'
import { isRedacted } from './placeholder.ts'
import { isStandIn, looksSecret } from './values.ts'

/** The secret is `text.slice(start, end)`; `rule` names what gave it away. */
export type Found = { readonly start: number; readonly end: number; readonly rule: string }

/** The literals that `assignmentAt` is asked about. */
export const NAME_LITERALS = [
  'pass',
  'pwd',
  'secret',
  'token',
  'cred',
  'cookie',
  'key',
  'auth',
  '_pat',
  '_pw',
  'salt',
  'jwt',
]

const SEPARATOR = /(?:\\{0,7}["'`])?\]?[ \t]{0,4}(?::=|=>|={1,3}|:)[ \t]{0,4}|>/y
const OPTION_SEPARATOR = /[ \t]{1,4}(?=[^\s-])/y
const SCHEME = /(?:bearer|basic|token|digest|apikey|negotiate|aws4-hmac-sha256)[ \t]{1,4}/iy
/**
 * A bare value is judged by what comes before a further `=` or `:`, so that no stretch of text is judged twice, and taken up to
 * whatever ends a word in the languages of the world.
 */
const BARE = /(?:[^\s"'`,;&|<>(){}[\]\\=:]|\\\/){1,512}={0,2}/y
const BARE_REST = /[^\s"'`,;&|<>(){}[\]\\]{0,8192}/y
const COOKIES = /[\w!#$%&*+.^|~-]{1,64}=[^\s;"'\\]{1,2048}(?:;[^\r\n"'\\]{0,4096})?/y

/** The assignment whose name holds the literal found at `at`. */
export function assignmentAt(text: string, at: number): Found | undefined {
  let from = at
  let to = at
  while (from > 0 && at - from < 48 && isKeyCharacter(text.charCodeAt(from - 1))) from -= 1
  while (to - at < 48 && isKeyCharacter(text.charCodeAt(to))) to += 1
  const name = text.slice(from, to)
  const secrecy = secrecyOf(name.replace(/^-+|-+$/g, '')) ?? secrecyOf(afterEscape(text, from, name))
  if (secrecy === undefined) return undefined
  const isOption = name.startsWith('--')
  const value = valueAt(text, to, isOption)
  if (value === undefined) return undefined
  // No code looks like `--password x` or `PASSWORD=x`: what follows is the value itself, as if it were quoted.
  const isVariable = text[to] === '=' && /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/.test(name)
  if (secrecy === 'faint' && value.end - value.start < FAINT_LENGTH) return undefined
  const rule = name.replace(/^-+/, '').toLowerCase()
  if (rule.endsWith('cookie')) return cookieAt(text, value.start)
  return judge(text, value, {
    rule: kindOf(rule),
    strong: secrecy === 'strong' || isVariable,
    header: rule.endsWith('authorization'),
    isVerbatim: isOption || isVariable,
  })
}

/** In `\npassword`, the `n` is no letter of the name. */
function afterEscape(text: string, from: number, name: string): string {
  return from > 0 && text[from - 1] === '\\' ? name.slice(1) : name
}

/** `cut`: the text ends before the closing quote. */
type Value = {
  readonly start: number
  readonly end: number
  readonly quoted: boolean
  readonly cut?: boolean
}

function valueAt(text: string, at: number, isOption: boolean): Value | undefined {
  SEPARATOR.lastIndex = at
  OPTION_SEPARATOR.lastIndex = at
  let start: number
  if (SEPARATOR.test(text)) start = SEPARATOR.lastIndex
  else if (isOption && OPTION_SEPARATOR.test(text)) start = OPTION_SEPARATOR.lastIndex
  else return undefined
  return quotedAt(text, start) ?? bareAt(text, start)
}

/** Up to the same quote behind the same number of backslashes, on the same line; up to the end of a text that is cut before it. */
function quotedAt(text: string, at: number): Value | undefined {
  let open = at
  while (open - at < 7 && text[open] === '\\') open += 1
  const quote = text[open]
  if (quote !== '"' && quote !== "'" && quote !== '`') return undefined
  const depth = open - at
  let slashes = 0
  const last = Math.min(text.length, open + 1024)
  for (let i = open + 1; i < last; i += 1) {
    const character = text[i]
    if (character === quote && slashes === depth) return { start: open + 1, end: i - depth, quoted: true }
    if (character === '\n') return undefined
    slashes = character === '\\' ? slashes + 1 : 0
  }
  return last === text.length ? { start: open + 1, end: last, quoted: true, cut: true } : undefined
}

function bareAt(text: string, at: number): Value | undefined {
  BARE.lastIndex = at
  return BARE.test(text) ? { start: at, end: BARE.lastIndex, quoted: false } : undefined
}

function judge(
  text: string,
  { start, end, quoted, cut = false }: Value,
  {
    rule,
    strong,
    header,
    isVerbatim,
  }: { rule: string; strong: boolean; header: boolean; isVerbatim: boolean },
): Found | undefined {
  SCHEME.lastIndex = start
  const schemed = SCHEME.test(text)
  const from = schemed ? SCHEME.lastIndex : start
  const value = schemed && !quoted ? bareAt(text, from) : { start: from, end, quoted }
  if (value === undefined || value.end <= value.start) return undefined
  const secret = text.slice(value.start, value.end)
  if (isRedacted(secret)) return undefined
  // A scheme is as good as a quote: what follows it is a credential or a stand-in for one.
  const isSecret = looksSecret(secret, { quoted: quoted || isVerbatim || (header && schemed), strong })
  if (!isSecret && !(cut && strong && looksCut(secret))) return undefined
  if (value.quoted) return { start: value.start, end: value.end, rule }
  // A call or an element of a list.
  if (!isVerbatim && /[([]/.test(text[value.end] ?? '')) return undefined
  BARE_REST.lastIndex = value.end
  BARE_REST.test(text)
  return { start: value.start, end: Math.max(value.end, BARE_REST.lastIndex), rule }
}

/** The beginning of a value that was too short to judge. */
function looksCut(secret: string): boolean {
  return !/[\s<>{}()]/.test(secret) && !isStandIn(secret)
}

function cookieAt(text: string, at: number): Found | undefined {
  COOKIES.lastIndex = at
  return COOKIES.test(text) ? { start: at, end: COOKIES.lastIndex, rule: 'cookie' } : undefined
}

const BEARER = /bearer(?:[ \t]{1,4}|%20)([A-Za-z0-9_.~+/=-]{20,512})/iy

/** `Bearer …` without a header's name before it. */
export function bearerAt(text: string, at: number): Found | undefined {
  BEARER.lastIndex = at
  const secret = BEARER.exec(text)?.[1]
  if (secret === undefined || !looksSecret(secret, { quoted: false, strong: true })) return undefined
  BARE_REST.lastIndex = BEARER.lastIndex
  BARE_REST.test(text)
  return { start: BEARER.lastIndex - secret.length, end: BARE_REST.lastIndex, rule: 'authorization' }
}

const USERINFO = /:\/\/([^\s/@:?#"'`<>\\]{0,128})(?::([^\s/@"'`<>\\]{1,256}))?@/y
/** The same of databases and queues: their passwords are written as they are, with slashes, up to the last `@`. */
const RAW_USERINFO =
  /:\/\/([^\s/@:?#"'`<>\\]{0,128}):((?!\d{1,5}\/)(?:(?!:\/\/)[^\s"'`<>\\,]){1,256})@(?=[\w[])/y
const WEB = /(?:https?|wss?|file|git|blob)$/i
const WORDS = /^(?:passw(?:or)?d|pass|pwd|pw|secret|user(?:name)?|git|\[[^\]]*\])$/i

/** The password of `scheme://user:password@host`, or a token that stands alone there. */
export function userinfoAt(text: string, at: number): Found | undefined {
  const isWeb = WEB.test(text.slice(Math.max(0, at - 5), at))
  RAW_USERINFO.lastIndex = at
  USERINFO.lastIndex = at
  const match = (isWeb ? null : RAW_USERINFO.exec(text)) ?? USERINFO.exec(text)
  if (match === null || match[0].includes('[REDACTED:')) return undefined
  const [, user = '', password] = match
  const end = at + match[0].length - 1
  if (password !== undefined) {
    if (isStandIn(password) || WORDS.test(password)) return undefined
    return { start: end - password.length, end, rule: 'url-password' }
  }
  if (!looksSecret(user, { quoted: false, strong: true }) || user.length < 20) return undefined
  return { start: end - user.length, end, rule: 'url-password' }
}

/** Query parameters, each with what must come before it. */
export const PARAMETER_LITERALS = ['key=', 'sig=', 'signature=', 'x-goog-credential=']
const PARAMETER = /(?:key|sig|signature)=([^\s&#"'`<>\\,;)[\]}]{16,2048})/iy
/** The rest of a parameter's name before the literal: `X-Amz-`, `api_`. */
const PARAMETER_START =
  /(?:[?&;]|&amp;|\\u0026|%26)(?:x-amz-|x-goog-|x-ms-|api[_-]?|access[_-]?|auth[_-]?)?$/i

export function parameterAt(text: string, at: number): Found | undefined {
  PARAMETER.lastIndex = at
  const secret = PARAMETER.exec(text)?.[1]
  if (secret === undefined || !PARAMETER_START.test(text.slice(Math.max(0, at - 20), at))) return undefined
  if (!looksSecret(secret, { quoted: true, strong: true })) return undefined
  return { start: PARAMETER.lastIndex - secret.length, end: PARAMETER.lastIndex, rule: 'url-key' }
}
