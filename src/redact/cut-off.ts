/**
 * The end of a text that was cut off, such as an answer that broke off: the beginning of a secret there is too short for any other rule, and goes
 * all the same. A word that only looks like one goes with it: half of it was missing anyway.
 */
import { isEdge, isAlphanumeric } from './edges.ts'
import { kindOf, NAME_LITERALS, secrecyOf } from './names.ts'
import { createScanner, PASS } from './scanner.ts'
import type { KnownValues, Replace } from './text.ts'
import { isStandIn } from './values.ts'
import { keyStart } from './vendor-keys.ts'
import { VENDOR_RULES } from './vendor-rules.ts'

/** Characters of the end that are looked at. */
const TAIL = 8192
/** Fewer characters of a known value are a word. */
const FEWEST = 3

/** The text, redacted already, without the beginning of a secret that it ends in. */
export function redactEnd(text: string, known: KnownValues, replace: Replace): string {
  const from = Math.max(0, text.length - TAIL)
  const tail = text.slice(from)
  const found = privateKeyIn(tail) ?? keyIn(tail) ?? valueIn(tail) ?? knownIn(tail, known)
  if (found === undefined) return text
  return text.slice(0, from + found.start) + replace(found.rule, tail.slice(found.start))
}

type End = { readonly start: number; readonly rule: string }

const PRIVATE_KEY = /-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?:(?!-{4,5} ?END)[^]){0,8192}$/

function privateKeyIn(tail: string): End | undefined {
  const start = tail.lastIndexOf('BEGIN ')
  if (start === -1) return undefined
  const match = PRIVATE_KEY.exec(tail.slice(Math.max(0, start - 6)))
  return match === null ? undefined : { start: Math.max(0, start - 6) + match.index, rule: 'private-key' }
}

/** Prefixes that vendors give their keys, not those that say of themselves that a key follows: many a word does. */
const PREFIXES = VENDOR_RULES.filter(({ id }) => id !== 'api-key').flatMap((rule) =>
  rule.literals.map((literal) => ({ literal, rule })),
)
let prefixes: ReturnType<typeof createScanner> | undefined

/** A word that ends the text and has a vendor's prefix in it. */
function keyIn(tail: string): End | undefined {
  const from = lastWord(tail)
  let found: End | undefined
  prefixes ??= createScanner(
    PREFIXES.map(({ literal }) => literal),
    { ignoreCase: true },
  )
  prefixes.scan(tail, (index, at) => {
    const { rule } = PREFIXES[index] as (typeof PREFIXES)[number]
    const start = keyStart(rule, tail, at)
    if (start === undefined || start < from) return PASS
    if (rule.edge !== 'none' && !isEdge(tail, start, isAlphanumeric)) return PASS
    found = { start, rule: rule.id }
    return tail.length
  })
  return found
}

/** Where the last word begins: behind a space, a quote, or a placeholder. */
function lastWord(tail: string): number {
  let from = tail.length
  while (from > 0 && !/[\s"'`<>\]]/.test(tail[from - 1] as string)) from -= 1
  return from
}

const NAMED =
  /([A-Za-z][\w-]{1,63})\\{0,7}["'`]?\]?[ \t]{0,3}(?::=|=>|[:=])[ \t]{0,3}(?:\\{0,7}["'`])?((?:bearer|basic|token)[ \t]{1,3})?([^\s"'`<>[\]{}()]{1,512})$/i
const USERINFO = /:\/\/[^\s/@:]{0,128}:(?!\d{1,5}(?:\/|$))([^\s/@"'`]{1,256})$/
/** Characters before the end in which a name is looked for. */
const NEAR = 700

/** What follows a name, or stands before a host. */
function valueIn(tail: string): End | undefined {
  const from = Math.max(0, tail.length - NEAR)
  const near = tail.slice(from)
  if (NAME_LITERALS.some((literal) => near.toLowerCase().includes(literal))) {
    const [, name = '', , value = ''] = NAMED.exec(near) ?? []
    const secrecy = secrecyOf(name)
    if (value !== '' && (secrecy === 'strong' || secrecy === 'likely') && !isStandIn(value))
      return { start: tail.length - value.length, rule: kindOf(name) }
  }
  const password = USERINFO.exec(near)?.[1]
  return password === undefined ? undefined : { start: tail.length - password.length, rule: 'url-password' }
}

/** The beginning of a known value. */
function knownIn(tail: string, { needles }: KnownValues): End | undefined {
  for (const { text, rule } of needles)
    for (let length = Math.min(text.length - 1, tail.length); length >= FEWEST; length -= 1)
      if (tail.endsWith(text.slice(0, length))) return { start: tail.length - length, rule }
  return undefined
}
