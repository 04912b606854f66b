/** The ways in which a secret is shown: what programs, encoders and people put around, before and into it. */
import type { Value } from './template.ts'

type Show = (value: Value) => string
export type Form = {
  readonly name: string
  /** False for forms that may lose some; they are printed all the same. */
  readonly isPromised: boolean
  readonly show: Show
}

const ESC = '\u001B'
const lines =
  (show: (line: string, n: number) => string): Show =>
  ({ text }) =>
    text.split('\n').map(show).join('\n')
const all =
  (show: (text: string) => string): Show =>
  ({ text }) =>
    show(text)
/** The text before the secret, the secret, and the text after it. */
const split =
  (show: (before: string, secret: string, after: string) => string): Show =>
  (value) => {
    const { text, start, end } = value
    return show(text.slice(0, start), text.slice(start, end), text.slice(end))
  }
/** With the name before the secret changed. */
const named = (change: (name: string) => string): Show =>
  split(
    (before, secret, after) =>
      before.replace(/[A-Za-z][\w-]*(?=["'\]]{0,3}\s*(?::=|=>|[=:])\s*["'`]?$)/, change) + secret + after,
  )
const middle = (secret: string, noise: string): string => {
  const at = Math.floor(secret.length / 2)
  return secret.slice(0, at) + noise + secret.slice(at)
}
const wrap = (width: number) =>
  all((text) => text.replace(new RegExp(`([^\\n]{${width}})(?=[^\\n])`, 'g'), '$1\n'))
const entities = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')

const promised = (name: string, show: Show): Form => ({ name, isPromised: true, show })
const printed = (name: string, show: Show): Form => ({ name, isPromised: false, show })

export const PLAIN: Form = promised(
  'plain',
  all((text) => text),
)

export const FORMS: readonly Form[] = [
  PLAIN,
  promised(
    'in a line of its own',
    all((text) => `before\n${text}\nafter`),
  ),
  promised(
    'CRLF',
    all((text) => `${text.replaceAll('\n', '\r\n')}\r\nnext`),
  ),
  promised(
    'JSON',
    all((text) => JSON.stringify({ out: text })),
  ),
  promised(
    'JSON in JSON',
    all((text) => JSON.stringify({ a: JSON.stringify({ out: text }) })),
  ),
  promised(
    'JSON, three deep',
    all((text) => JSON.stringify(JSON.stringify(JSON.stringify(text)))),
  ),
  promised(
    "Python's repr",
    all((text) => `b'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`),
  ),
  promised(
    'diff +',
    lines((line) => `+${line}`),
  ),
  promised(
    'diff -',
    lines((line) => `-${line}`),
  ),
  promised(
    'grep -n',
    lines((line, n) => `src/a.env:${n + 7}:${line}`),
  ),
  promised(
    'numbered, arrow',
    lines((line, n) => `${String(n + 8).padStart(6)}→${line}`),
  ),
  promised(
    'numbered, tab',
    lines((line, n) => `${String(n + 8).padStart(6)}\t${line}`),
  ),
  promised(
    'numbered, colon',
    lines((line, n) => `${n + 8}: ${line}`),
  ),
  promised(
    'numbered, bar',
    lines((line, n) => `${String(n + 8).padStart(4)} │ ${line}`),
  ),
  promised(
    'quoted',
    lines((line) => `> ${line}`),
  ),
  promised(
    'indented',
    lines((line) => `        ${line}`),
  ),
  promised(
    'cat -A',
    lines((line) => `${line}$`),
  ),
  promised(
    'coloured around',
    split((before, secret, after) => `${before}${ESC}[32m${secret}${ESC}[0m${after}`),
  ),
  promised(
    'coloured after the name',
    split(
      (before, secret, after) =>
        before.replace(/[=:]\s*$/, (separator) => `${ESC}[0m${separator}${ESC}[33m`) +
        secret +
        ESC +
        '[0m' +
        after,
    ),
  ),
  promised(
    'coloured inside',
    split((before, secret, after) => before + middle(secret, `${ESC}[31m`) + after),
  ),
  promised(
    'coloured by grep',
    split((before, secret, after) => `${before}${ESC}[01;31m${ESC}[K${secret}${ESC}[m${ESC}[K${after}`),
  ),
  promised(
    'coloured, all of it',
    all((text) => `${ESC}[1;36m${text}${ESC}[0m`),
  ),
  promised(
    'coloured, \\u001b',
    split((before, secret, after) => `${before}\\u001b[32m${secret}\\u001b[0m${after}`),
  ),
  promised(
    'coloured, ^[[',
    split((before, secret, after) => `${before}^[[32m${secret}^[[0m${after}`),
  ),
  promised(
    'zero width inside',
    split((before, secret, after) => before + middle(secret, '\u200B') + after),
  ),
  promised(
    'soft hyphens inside',
    split((before, secret, after) => before + middle(secret, '\u00AD') + after),
  ),
  promised(
    'URL-encoded',
    all((text) => `https://acme.test/?q=${encodeURIComponent(text)}`),
  ),
  promised(
    'URL-encoded, in a form',
    all((text) => `q=${encodeURIComponent(text).replaceAll('%20', '+')}&go=1`),
  ),
  promised(
    'HTML-escaped',
    all((text) => `<pre>${entities(text)}</pre>`),
  ),
  promised(
    'Unicode escapes',
    all((text) => text.replace(/["'=<>&]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`)),
  ),
  promised(
    'names in upper case',
    named((name) => name.toUpperCase()),
  ),
  promised(
    'names in lower case',
    named((name) => name.toLowerCase()),
  ),
  printed('wrapped at 76', wrap(76)),
  printed('wrapped at 60', wrap(60)),
  printed('wrapped at 40', wrap(40)),
]
