/**
 * Secrets out of one text: the values known by heart first, then what names and shapes give away, in one pass each from left to
 * right. What was redacted stays as it is, so doing it twice changes nothing.
 */
import { NAME_RULES } from './assignments.ts'
import { COMMAND_RULES } from './commands.ts'
import { isBase64 } from './edges.ts'
import type { Needle } from './known-values.ts'
import { PLACEHOLDER_START, placeholderEnd } from './placeholder.ts'
import { PRIVATE_KEY_RULES } from './private-keys.ts'
import type { Rule } from './rule.ts'
import { createScanner, PASS, type Scanner } from './scanner.ts'
import { SENTENCE_RULES } from './sentences.ts'
import { URL_RULES } from './urls.ts'
import { looksRandom } from './values.ts'
import { VENDOR_KEY_RULES, vendorOf } from './vendor-keys.ts'
import { BARE_SHAPES } from './vendor-rules.ts'
import { createView, plainView, wrappedLines, type View } from './view.ts'

/** Makes the placeholder and counts it. */
export type Replace = (rule: string, secret: string) => string

/** In this order where several begin at one place. */
const RULES: readonly Rule[] = [
  ...VENDOR_KEY_RULES,
  ...PRIVATE_KEY_RULES,
  ...URL_RULES,
  ...NAME_RULES,
  ...SENTENCE_RULES,
  ...COMMAND_RULES,
]

/** By literal. Nothing begins within a placeholder. */
const BY_LITERAL = new Map<string, Rule[]>([[PLACEHOLDER_START, []]])
for (const rule of RULES)
  for (const literal of rule.literals) {
    const group = BY_LITERAL.get(literal)
    if (group === undefined) BY_LITERAL.set(literal, [rule])
    else group.push(rule)
  }
const GROUPS = [...BY_LITERAL.values()]
/** All that is looked for. */
export const LITERALS: readonly string[] = [...BY_LITERAL.keys()]
const SCANNER = createScanner(LITERALS, { ignoreCase: true })

/** No rule finds anything in less. */
const SHORTEST = 8

/** A placeholder may make a secret of what stands beside it; hardly ever twice. */
const PASSES = 4

export function redactByRules(text: string, replace: Replace): string {
  const redact = (original: string, view: View): string => {
    const bare = redactBare(original, view, replace)
    return redactOnce(bare, bare === original ? view : createView(bare), replace)
  }
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
  SCANNER.scan(text, (literal, at) => {
    if (literal === 0) return placeholderEnd(text, at) ?? PASS
    const isStart = at === out.copied() || (!view.isJoined && view.isGap(at))
    for (const { find, byLines } of GROUPS[literal] as Rule[]) {
      if (view.isJoined && byLines === true) continue
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

/** Keys that have no literal: they are few, and looked for one after the other. */
function redactBare(original: string, view: View, replace: Replace): string {
  let [last, seen] = [original, view]
  for (const { id, pattern } of BARE_SHAPES) {
    const out = createOutput(last, seen)
    pattern.lastIndex = 0
    for (let match = pattern.exec(seen.text); match !== null; match = pattern.exec(seen.text))
      if (looksRandom(match[0])) out.put(match.index, pattern.lastIndex, replace(id, match[0]))
    const after = out.done()
    if (after !== last) [last, seen] = [after, createView(after)]
  }
  return last
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
