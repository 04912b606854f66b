/**
 * What stands where a secret was: `[REDACTED:github-token:1f0c9a3e]`. The last part is the start of a keyed hash, so that the
 * same secret can be recognised in two places and not guessed from either; no character of the secret is kept. In what files are
 * called by it is `REDACTED-github-token-1f0c9a3e`.
 */
import { createHmac } from 'node:crypto'

const SHAPE = /\[REDACTED:[a-z0-9-]{1,48}:[0-9a-f]{8}\]/y

/** The literal a scanner looks for, lower case. */
export const PLACEHOLDER_START = '[redacted:'

export function placeholder(key: Buffer, rule: string, secret: string): string {
  return `[REDACTED:${rule}:${createHmac('sha256', key).update(secret).digest('hex').slice(0, 8)}]`
}

/** Where the placeholder that begins here ends; undefined when none does. What is inside one is never looked at again. */
export function placeholderEnd(text: string, at: number): number | undefined {
  SHAPE.lastIndex = at
  return SHAPE.test(text) ? SHAPE.lastIndex : undefined
}

/** True when nothing but placeholders, and perhaps an authorization scheme, is left in a text. */
export function isRedacted(text: string): boolean {
  if (!text.includes('[REDACTED:')) return false
  const rest = text.replace(/\[REDACTED:[a-z0-9-]{1,48}:[0-9a-f]{8}\]/g, '').trim()
  return rest === '' || /^(?:bearer|basic|token|digest|apikey)$/i.test(rest)
}

const IN_ID = /(REDACTED-[a-z0-9-]{1,48}-[0-9a-f]{8})/

/** The parts of an id: those at odd places are placeholders. */
export function splitId(id: string): readonly string[] {
  return id.includes('REDACTED-') ? id.split(IN_ID) : [id]
}

/** Placeholders without a character that a file's name may not have. */
export function toIdPlaceholders(text: string): string {
  return text.replace(/\[REDACTED:([a-z0-9-]{1,48}):([0-9a-f]{8})\]/g, 'REDACTED-$1-$2')
}
