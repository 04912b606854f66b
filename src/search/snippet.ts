/**
 * The part of an entry that shows best why it was found: the window in which most of what was asked for stands, with the places
 * marked. Safe for a terminal: one line, no control characters. What a redactor takes out is gone before the window is cut.
 */
import { createMarker, type Range } from './match-marks.ts'
import type { Query } from './query.ts'

export type Snippet = {
  readonly text: string
  /** Where in `text` it matches, by UTF-16 units. */
  readonly marks: readonly { readonly start: number; readonly end: number }[]
  /** True when there is more of it before, or after. */
  readonly isCutBefore: boolean
  readonly isCutAfter: boolean
}

export type SnippetOptions = {
  /** UTF-16 units, about. */
  readonly length?: number
  readonly redact?: (text: string) => string
}

export const SNIPPET_LENGTH = 240
/** What is looked at around a match, so that a secret is seen whole; and of a text at all when nothing in it matches. */
const AROUND = 4096
/** What is looked at of a text at a time: the terms of a whole one of many MB would take gigabytes. */
const STRETCH = 256 * 1024
/** Texts of one entry that are looked at for the best of them. */
const MOST_TEXTS = 1000

/**
 * Of an entry's texts (`textsOf`), or of all strings of a raw record (`textsOfJson`). The beginning of the first text when none
 * matches, as with a query of fields alone; undefined when there is no text.
 */
export function createSnippets(
  query: Query,
): (texts: readonly string[], options?: SnippetOptions) => Snippet | undefined {
  const find = createMarker(query)
  return (texts, { length = SNIPPET_LENGTH, redact = (text: string) => text } = {}) => {
    let best: { text: string; at: number; score: number; ranges: readonly Range[] } | undefined
    for (const text of texts.slice(0, MOST_TEXTS)) {
      for (let from = 0; from === 0 || from + AROUND < text.length; from += STRETCH - AROUND) {
        const ranges = find(text.slice(from, from + STRETCH))
        const window = bestWindow(ranges, length)
        if (window !== undefined && window.score > (best?.score ?? 0))
          best = { text, at: from + window.at, score: window.score, ranges }
      }
    }
    const text = best?.text ?? texts.find((one) => one.trim() !== '')
    if (text === undefined) return undefined
    const from = boundary(text, Math.max(0, (best?.at ?? 0) - AROUND))
    const to = boundary(text, Math.min(text.length, from + 2 * AROUND + length))
    const shown = redact(text.slice(from, to))
    // Most texts are short, and have no secrets: they were gone over just now.
    const ranges = shown === best?.text ? best.ranges : find(shown)
    const window = bestWindow(ranges, length, from === 0 ? undefined : AROUND / 2)
    return cut(shown, ranges, window, { length, isCutBefore: from > 0, isCutAfter: to < text.length })
  }
}

type Window = { readonly at: number; readonly end: number; readonly score: number }

/** Different things asked for count before many of one; then the first. `least`: not before it, unless there is none after. */
function bestWindow(ranges: readonly Range[], length: number, least = 0): Window | undefined {
  let best: Window | undefined
  let bestAfter: Window | undefined
  let last = 0
  const counts = new Map<number, number>()
  for (const [first, { start, condition }] of ranges.entries()) {
    for (
      let next = ranges[last];
      next !== undefined && (next.end <= start + length || last <= first);
      next = ranges[last]
    ) {
      counts.set(next.condition, (counts.get(next.condition) ?? 0) + 1)
      last += 1
    }
    const score = counts.size * MOST_IN_WINDOW + Math.min(last - first, MOST_IN_WINDOW - 1)
    const window = { at: start, end: ranges[last - 1]?.end ?? start, score }
    if (score > (best?.score ?? 0)) best = window
    if (start >= least && score > (bestAfter?.score ?? 0)) bestAfter = window
    const count = (counts.get(condition) ?? 1) - 1
    if (count === 0) counts.delete(condition)
    else counts.set(condition, count)
  }
  return bestAfter ?? best
}

const MOST_IN_WINDOW = 1000

type Cut = { readonly length: number; readonly isCutBefore: boolean; readonly isCutAfter: boolean }

function cut(text: string, ranges: readonly Range[], window: Window | undefined, options: Cut): Snippet {
  const { length } = options
  const span = window === undefined ? 0 : Math.min(window.end - window.at, length)
  const room = Math.floor((length - span) / 3)
  const start = window === undefined ? 0 : wordStart(text, Math.max(0, window.at - room), window.at)
  const end = wordEnd(text, Math.min(text.length, start + length), (window?.at ?? 0) + span)
  const shown = text.slice(start, end)
  const lead = shown.length - shown.trimStart().length
  const trimmed = shown.trim()
  const marks = ranges
    .map((range) => ({
      start: Math.max(0, range.start - start - lead),
      end: Math.min(trimmed.length, range.end - start - lead),
    }))
    .filter((mark) => mark.end > mark.start)
  return {
    // One for one, so that marks stay where they are.
    text: trimmed.replace(UNSEEN, ' '),
    marks,
    isCutBefore: options.isCutBefore || text.slice(0, start).trim() !== '',
    isCutAfter: options.isCutAfter || text.slice(end).trim() !== '',
  }
}

/** Spaces and what controls a terminal, or the direction of text. Spelled out: Unicode's names take longer to look up than to find. */
// oxlint-disable-next-line no-control-regex
const UNSEEN = /[\s\0-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g

/** How far a window is moved to begin and end between words. */
const SNAP = 24
const SPACE = /\s/

function wordStart(text: string, from: number, most: number): number {
  if (from === 0) return 0
  for (let at = from; at < Math.min(from + SNAP, most); at += 1) if (SPACE.test(text[at] ?? '')) return at + 1
  return boundary(text, from)
}

function wordEnd(text: string, to: number, least: number): number {
  if (to >= text.length) return text.length
  for (let at = to; at > Math.max(to - SNAP, least); at -= 1) if (SPACE.test(text[at] ?? '')) return at
  return boundary(text, to)
}

/** No accent, and nothing that joins, comes before it. */
const FIRST_MARK = 0x300

/** The same place, or the one before when it would cut a character in two, or part an accent from its letter. */
function boundary(text: string, at: number): number {
  let to = at
  for (let steps = 0; to > 0 && to < text.length && steps < 16; steps += 1, to -= 1) {
    const code = text.charCodeAt(to)
    const isInner =
      code >= FIRST_MARK && ((code >= 0xdc00 && code <= 0xdfff) || /\p{M}|\u200d/u.test(text[to] ?? ''))
    if (!isInner && text.charCodeAt(to - 1) !== 0x200d) break
  }
  return to
}
