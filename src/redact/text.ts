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
import { pemAt, puttyAt, telegramAt } from './private-keys.ts'
import { createScanner, PASS, type Scanner } from './scanner.ts'
import { VENDOR_RULES, type VendorRule } from './vendor-rules.ts'
import { createView, plainView, wrappedLines, type View } from './view.ts'

/** Makes the placeholder and counts it. */
export type Replace = (rule: string, secret: string) => string

/** `isStart`: whether a word begins at `at` whatever stands before it: a secret that was found, or something that cannot be seen. */
type Finder = (text: string, at: number, isStart: boolean) => Found | undefined

const pem: Finder = (text, at) => spanned(pemAt(text, at), 'private-key')
const putty: Finder = (text, at) => spanned(puttyAt(text, at), 'private-key')
/** These read line by line. */
const BY_LINES: ReadonlySet<Finder> = new Set([pem, putty])

/** Every literal and what to try where it is found, in this order where several begin at one place. */
const FINDERS: readonly (readonly [literal: string, find: Finder])[] = [
  ...VENDOR_RULES.flatMap((rule) => rule.literals.map((literal) => [literal, vendorFinder(rule)] as const)),
  ['----begin', pem],
  ['---- begin', pem],
  ['private-lines:', putty],
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
  const redact = (original: string, view: View): string => redactOnce(original, view, replace)
  let before = text
  for (let pass = 0; pass < PASSES; pass += 1) {
    const joined = redactWrapped(before, redact)
    const after = redact(joined, createView(joined))
    if (after === before) break
    before = after
  }
  return before
}

/** Lines that were cut at a width, read as one. */
function redactWrapped(text: string, redact: (lines: string, view: View) => string): string {
  let out = ''
  let copied = 0
  for (const { from, to, view } of wrappedLines(text)) {
    out += text.slice(copied, from) + redact(text.slice(from, to), view)
    copied = to
  }
  return copied === 0 ? text : out + text.slice(copied)
}

function redactOnce(original: string, view: View, replace: Replace): string {
  if (original.length < SHORTEST) return original
  const { text } = view
  const out = createOutput(original, view)
  RULES.scan(text, (literal, at) => {
    if (literal === 0) return placeholderEnd(text, at) ?? PASS
    const isStart = at === out.copied() || view.isGap(at)
    for (const find of BY_LITERAL[literal] as Finder[]) {
      if (view.isJoined && BY_LINES.has(find)) continue
      const found = find(text, at, isStart)
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

/** Values as they are written, then in a text without what hides them. */
export function redactKnown(original: string, known: KnownValues, replace: Replace): string {
  if (original.length < known.shortest || known.needles.length === 0) return original
  const redact = (text: string, view: View): string => redactNeedles(text, view, known, replace)
  const asWritten = redactWrapped(redact(original, plainView(original)), redact)
  const view = createView(asWritten)
  return view.text === asWritten ? asWritten : redact(asWritten, view)
}

function redactNeedles(
  original: string,
  view: View,
  { scanner, needles }: KnownValues,
  replace: Replace,
): string {
  const { text } = view
  const out = createOutput(original, view)
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
  return (text, at, isStart) => {
    if (edge !== 'none' && !isStart && !isEdge(text, at, inside)) return undefined
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

/** The original with parts replaced that are given by their places in its view, from left to right; the very same string when none was. */
function createOutput(original: string, view: View) {
  let out = ''
  let copied = 0
  let copiedView = 0
  return {
    /** In the view. */
    copied: () => copiedView,
    put(start: number, end: number, replacement: string): void {
      out += original.slice(copied, view.start(start)) + replacement
      copied = view.end(end)
      copiedView = end
    },
    done: () => (copied === 0 ? original : out + original.slice(copied)),
  }
}
