/**
 * Secrets out of one text: the values known by heart first, then what names and shapes give away, in one pass each from left to
 * right. What was redacted stays as it is, so doing it twice changes nothing.
 */
import {
  assignmentAt,
  bearerAt,
  NAME_LITERALS,
  PARAMETER_LITERALS,
  parameterAt,
  userinfoAt,
  type Found,
} from './assignments.ts'
import { isAlphanumeric, isEdge, isKeyCharacter } from './edges.ts'
import type { Needle } from './known-values.ts'
import { PLACEHOLDER_START, placeholderEnd } from './placeholder.ts'
import { pemAt, telegramAt } from './private-keys.ts'
import { createScanner, PASS, type Scanner } from './scanner.ts'
import { VENDOR_RULES, type VendorRule } from './vendor-rules.ts'

/** Makes the placeholder and counts it. */
export type Replace = (rule: string, secret: string) => string

/** `floor`: where the last secret ended. What stands there begins a word, since a placeholder will stand before it. */
type Finder = (text: string, at: number, floor: number) => Found | undefined

/** Every literal and what to try where it is found, in this order where several begin at one place. */
const FINDERS: readonly (readonly [literal: string, find: Finder])[] = [
  ...VENDOR_RULES.flatMap((rule) => rule.literals.map((literal) => [literal, vendorFinder(rule)] as const)),
  ['-----begin', (text, at) => spanned(pemAt(text, at), 'private-key')],
  [':aa', (text, at) => spanned(telegramAt(text, at), 'telegram-token')],
  ['://', userinfoAt],
  ['bearer', bearerAt],
  ...NAME_LITERALS.map((literal) => [literal, assignmentAt] as const),
  ...PARAMETER_LITERALS.map((literal) => [literal, parameterAt] as const),
]

/** By literal, in the order of their first finders: a thousand literals, so each finder is put where it belongs in one step. */
const GROUPED = new Map<string, Finder[]>([[PLACEHOLDER_START, []]])
for (const [literal, find] of FINDERS) {
  const group = GROUPED.get(literal)
  if (group === undefined) GROUPED.set(literal, [find])
  else group.push(find)
}
const BY_LITERAL = [...GROUPED.values()]
const RULES = createScanner([...GROUPED.keys()], { ignoreCase: true })

/** No rule finds anything in less. */
const SHORTEST = 8

/** A placeholder may make a secret of what stands beside it; hardly ever twice. */
const PASSES = 4

export function redactByRules(text: string, replace: Replace): string {
  let before = text
  for (let pass = 0; pass < PASSES; pass += 1) {
    const after = redactOnce(before, replace)
    if (after === before) break
    before = after
  }
  return before
}

function redactOnce(text: string, replace: Replace): string {
  if (text.length < SHORTEST) return text
  const out = createOutput(text)
  RULES.scan(text, (literal, at) => {
    if (literal === 0) return placeholderEnd(text, at) ?? PASS
    for (const find of BY_LITERAL[literal] as Finder[]) {
      const found = find(text, at, out.copied())
      if (found === undefined || found.start < out.copied()) continue
      const secret = text.slice(found.start, found.end)
      out.put(found.start, found.end, replace(vendorOf(secret) ?? found.rule, secret))
      return found.end
    }
    return PASS
  })
  return out.done()
}

/** The vendor whose key this is, from its first character to its last. */
export function vendorOf(secret: string): string | undefined {
  return VENDOR_RULES.find((rule) => {
    const pattern = rule.pattern()
    pattern.lastIndex = 0
    return pattern.test(secret) && pattern.lastIndex === secret.length && (rule.accepts?.(secret) ?? true)
  })?.id
}

export type KnownValues = {
  readonly scanner: Scanner
  readonly needles: readonly Needle[]
  /** No text shorter than this holds one. */
  readonly shortest: number
}

export function createKnownValues(needles: readonly Needle[]): KnownValues {
  const shortest = needles.reduce((least, { text }) => Math.min(least, text.length), Number.POSITIVE_INFINITY)
  return { needles, scanner: createScanner(needles.map(({ text }) => text)), shortest }
}

export function redactKnown(
  text: string,
  { scanner, needles, shortest }: KnownValues,
  replace: Replace,
): string {
  if (text.length < shortest) return text
  const out = createOutput(text)
  scanner.scan(text, (index, at) => {
    const needle = needles[index] as Needle
    const inside = insidePlaceholder(text, at)
    if (inside !== undefined) return inside
    let start = at
    let end = at + needle.text.length
    // The outer characters of base64 hold some bits of the secret too.
    if (needle.looseStart && start > out.copied() && isBase64(text.charCodeAt(start - 1))) start -= 1
    if (needle.looseEnd && isBase64(text.charCodeAt(end))) end += 1
    out.put(start, end, replace(needle.rule, needle.secret))
    return end
  })
  return out.done()
}

/** A value as short as a hash may turn up in a placeholder, where it means nothing. */
function insidePlaceholder(text: string, at: number): number | undefined {
  const window = Math.max(0, at - 80)
  const start = window + text.slice(window, at).lastIndexOf('[REDACTED:')
  if (start < window) return undefined
  const end = placeholderEnd(text, start)
  return end !== undefined && at < end ? end : undefined
}

function vendorFinder({ id, edge, accepts, ...rule }: VendorRule): Finder {
  const inside = edge === 'run' ? isKeyCharacter : isAlphanumeric
  return (text, at, floor) => {
    if (edge !== 'none' && at !== floor && !isEdge(text, at, inside)) return undefined
    const pattern = rule.pattern()
    pattern.lastIndex = at
    if (!pattern.test(text)) return undefined
    const end = pattern.lastIndex
    if (accepts !== undefined && !accepts(text.slice(at, end))) return undefined
    return { start: at, end, rule: id }
  }
}

function spanned(
  span: { readonly start: number; readonly end: number } | undefined,
  rule: string,
): Found | undefined {
  return span && { ...span, rule }
}

function isBase64(code: number): boolean {
  return isKeyCharacter(code) || code === 43 || code === 47
}

/** The text with parts replaced, from left to right; the very same string when nothing was. */
function createOutput(text: string) {
  let out = ''
  let copied = 0
  return {
    copied: () => copied,
    put(start: number, end: number, replacement: string): void {
      out += text.slice(copied, start) + replacement
      copied = end
    },
    done: () => (copied === 0 ? text : out + text.slice(copied)),
  }
}
