/**
 * Private keys in every kind of listing: PEM, SSH2, PuTTY; whole or cut off, with line numbers, diff marks or quotes.
 */
import type { Find, Rule } from './rule.ts'

type Span = { readonly start: number; readonly end: number }

const BEGIN = /(?:-----BEGIN|-{4,5}[ +]BEGIN)[ +][A-Z0-9 +]{0,40}PRIVATE[ +]KEY(?:[ +]BLOCK)?[ +]?-{4,5}/iy
const END = /(?:-----END|-{4,5}[ +]END)[ +][A-Z0-9 +]{0,40}PRIVATE[ +]KEY(?:[ +]BLOCK)?[ +]?-{4,5}/iy
const LONGEST = 65_536
/** Enough of a body that no code stands there. */
const BODY = /[A-Za-z0-9+/=]{24}/

/** The key that begins here. Without its end, the lines that could be its body go with it. A bare heading is no key. */
function pemAt(text: string, at: number): Span | undefined {
  BEGIN.lastIndex = text[at - 1] === '-' ? at - 1 : at
  if (!BEGIN.test(text)) return undefined
  const body = BEGIN.lastIndex
  // Looks no further than the next marker, so that many headings do not read the same text again and again.
  const next = text.slice(body, body + LONGEST).indexOf('----')
  const marker = body + next
  const head = text.slice(body, Math.min(body + 400, next === -1 ? text.length : marker))
  if (!BODY.test(head)) return undefined
  END.lastIndex = marker
  if (next !== -1 && END.test(text)) return { start: at, end: END.lastIndex }
  return { start: at, end: linesEnd(text, body, next === -1 ? body + LONGEST : marker) }
}

/** What follows a heading on its own line: nothing but a body, its lines parted by `\n` or spaces. */
const SAME_LINE = /(?:[ \t]{0,2}[A-Za-z0-9+/=]{16,8192}|\\{1,7}[nr]|[A-Za-z0-9+/=])*/y
const JUNK = String.raw`(?:\\{1,7}[nr]|[\s"'\`,;+$│|]|\^M|</[a-z]{1,10}>){0,32}$`
/** A line of a body, whatever a listing put before it. */
const LINE = new RegExp(`(?:^|[^A-Za-z0-9+/=])[A-Za-z0-9+/=]{20,512}${JUNK}`)
const LAST_LINE = new RegExp(
  `^[^A-Za-z]{0,24}(?:[\\w./-]{1,80}[:-]\\d{1,7}[:-])?[A-Za-z0-9+/=]{1,512}${JUNK}`,
)
const HEADER =
  /(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash|Key-Derivation|Argon2-[A-Za-z]{4,16}): |^[^A-Za-z]{0,24}$/
const WIDEST = 1_000

/** Where the lines end that could be of a key's body. */
function linesEnd(text: string, from: number, limit: number): number {
  SAME_LINE.lastIndex = from
  SAME_LINE.test(text)
  let end = Math.min(SAME_LINE.lastIndex, limit)
  let at = lineEnd(text, end) + 1
  while (at < limit && at < text.length) {
    const stop = lineEnd(text, at)
    const line = text.slice(at, Math.min(stop, at + WIDEST))
    const isLast = stop === text.length || line.trimEnd().endsWith('=')
    if (LINE.test(line) || (isLast && LAST_LINE.test(line))) end = stop
    else if (!HEADER.test(line)) break
    at = stop + 1
  }
  return Math.min(end, limit, text.length)
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end === -1 ? text.length : end
}

const PUTTY = /private-lines: ?\d{1,4}[^\n\\]{0,4}(?:\\{1,7}[rn]|\n)/iy
const PUTTY_MAC = /\s?[^\n]{0,120}?private-mac: ?[0-9a-f]{16,128}/iy

/** The private part of a `.ppk` file, found by the line that counts its lines. */
function puttyAt(text: string, at: number): Span | undefined {
  PUTTY.lastIndex = at
  if (!PUTTY.test(text)) return undefined
  const start = PUTTY.lastIndex
  if (!BODY.test(text.slice(start, start + 200))) return undefined
  const end = linesEnd(text, start, start + LONGEST)
  PUTTY_MAC.lastIndex = end
  return { start, end: PUTTY_MAC.test(text) ? PUTTY_MAC.lastIndex : end }
}

const findKey =
  (spanAt: (text: string, at: number) => Span | undefined): Find =>
  (text, at) => {
    const span = spanAt(text, at)
    return span && { ...span, rule: 'private-key' }
  }

export const PRIVATE_KEY_RULES: readonly Rule[] = [
  { literals: ['----begin', '---- begin'], find: findKey(pemAt), byLines: true },
  { literals: ['private-lines:'], find: findKey(puttyAt), byLines: true },
]
