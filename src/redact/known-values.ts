/**
 * Secrets we can know by heart: values of environment variables whose names say so, and those a caller gives. They are found
 * wherever they stand, as they are, escaped as JSON, encoded for a URL, or in base64 at any of its three alignments.
 */
import { HansardError } from '../errors.ts'
import { secrecyOf } from './names.ts'
import { isStandIn } from './values.ts'
import { looksLikeWords } from './words.ts'

export type KnownValue = { readonly name: string; readonly value: string }

/** A text to look for, and the secret it gives away. `loose`: base64 that shares its outer characters with its neighbours. */
export type Needle = {
  readonly text: string
  readonly rule: string
  readonly secret: string
  readonly looseStart: boolean
  readonly looseEnd: boolean
}

/** Shorter values of variables are words, and would be found everywhere. */
const SHORTEST_VARIABLE = 8
/** What a caller calls a secret is believed, unless it would leave no text whole. */
const SHORTEST_GIVEN = 4
/** Less of base64 turns up by chance. */
const SHORTEST_BASE64 = 6

/** Settings and defaults that stand in variables with secret-sounding names. */
const COMMONPLACE =
  /^(?:true|false|enabled|disabled|required|optional|default|development|production|localhost|postgres|password|changeme|anonymous|keychain|osxkeychain|[\d.,:-]+|[a-z]{1,15})$/i

/** The variables of an environment that hold secrets, and the passwords in the URLs of all of them. */
export function secretsIn(env: { readonly [name: string]: string | undefined }): KnownValue[] {
  const found: KnownValue[] = []
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || value.length < SHORTEST_VARIABLE || value.length > 16_384) continue
    const rule = `env-${name}`
    const password = value.includes('@') ? PASSWORD_IN_URL.exec(value)?.[1] : undefined
    if (password !== undefined) {
      for (const spelled of [password, decoded(password)])
        if (spelled.length >= SHORTEST_VARIABLE) found.push({ name: rule, value: spelled })
    } else if (
      isSecretVariable(name) &&
      !isPathOrUrl(value) &&
      !COMMONPLACE.test(value) &&
      !isStandIn(value)
    ) {
      found.push({ name: rule, value })
    }
  }
  return found
}

const PASSWORD_IN_URL = /^[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/@:]{0,128}:([^\s/@]{1,256})@/i

function isSecretVariable(name: string): boolean {
  return secrecyOf(name) !== undefined || LAST_WORDS.has(name.slice(name.lastIndexOf('_') + 1).toUpperCase())
}

/** Of a variable's name, which then says that its value is a secret. */
const LAST_WORDS = new Set(['KEY', 'DSN', 'AUTH', 'PASS', 'CRED', 'CREDS', 'JWT', 'PAT'])

function isPathOrUrl(value: string): boolean {
  return (
    (value.startsWith('/') && (value.includes('.') || looksLikeWords(value))) ||
    /^(?:~|\.{1,2})\/|^[A-Za-z]:\\|^[a-z][a-z0-9+.-]{1,20}:\/\//i.test(value)
  )
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Throws for a value that is too short, and says which, not what. */
export function checkGiven(values: readonly KnownValue[]): readonly KnownValue[] {
  for (const [index, { value }] of values.entries()) {
    if (typeof value === 'string' && value.length >= SHORTEST_GIVEN) continue
    throw new HansardError(
      'invalid-argument',
      `secret number ${index + 1} has fewer than ${SHORTEST_GIVEN} characters`,
      {
        hint: 'leave it out: it would be found in the middle of words',
      },
    )
  }
  return values
}

/** Every spelling of every value, each once. */
export function toNeedles(values: readonly KnownValue[]): Needle[] {
  const needles = new Map<string, Needle>()
  for (const { name, value } of values) {
    if (value.length < SHORTEST_GIVEN) continue
    const rule = toRuleName(name)
    const escaped = JSON.stringify(value).slice(1, -1)
    const spellings = [value, escaped, JSON.stringify(escaped).slice(1, -1), encoded(value)]
    for (const text of spellings)
      add(needles, { text, rule, secret: value, looseStart: false, looseEnd: false })
    for (const needle of inBase64(value, rule)) {
      if (needle.text.length >= SHORTEST_BASE64) add(needles, needle)
    }
  }
  return [...needles.values()]
}

function add(needles: Map<string, Needle>, needle: Needle): void {
  if (!needles.has(needle.text)) needles.set(needle.text, needle)
}

function encoded(value: string): string {
  try {
    return encodeURIComponent(value)
  } catch {
    // Half a surrogate pair has no encoding.
    return value
  }
}

/** The characters of base64 that depend on the value alone, with 0, 1 or 2 bytes of something else before it. */
function inBase64(value: string, rule: string): Needle[] {
  const bytes = Buffer.from(value)
  return [0, 1, 2].flatMap((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64')
    const first = Math.ceil((offset * 8) / 6)
    const last = Math.floor(((offset + bytes.length) * 8) / 6)
    const core = text.slice(first, last)
    const facts = {
      rule,
      secret: value,
      looseStart: offset > 0,
      looseEnd: ((offset + bytes.length) * 8) % 6 !== 0,
    }
    const urlSafe = core.replaceAll('+', '-').replaceAll('/', '_')
    return [...new Set([core, urlSafe])].map((spelling) => ({ text: spelling, ...facts }))
  })
}

function toRuleName(name: string): string {
  return (
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 48) || 'value'
  )
}
