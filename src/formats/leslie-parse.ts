/**
 * One leslie file's bytes as a header and blocks, each with its place. Best effort by design (see leslie-marks.ts), and whole:
 * every line that is not empty belongs to the header or to a block, text that no mark introduces to a block of type `text`.
 */
import { isUtf8 } from 'node:buffer'
import { parseInstant } from '../transcript/instant.ts'
import { CLOSE_QUERY, HEADER_END, OPEN_QUERY, parseMark, type MarkType } from './leslie-marks.ts'

export type LeslieHeader = {
  readonly thread?: string
  readonly chat?: string
  readonly startedAt?: string
  readonly endedAt?: string
  readonly mode?: string
  readonly stopReason?: string
  readonly toolCalls?: number
  /** Lines the seed does not know, verbatim. */
  readonly others: readonly string[]
}

export type LeslieBlock = {
  readonly type: MarkType | 'text'
  readonly name?: string
  readonly text: string
  /** From 1. */
  readonly line: number
  readonly byteOffset: number
  readonly byteLength: number
}

export type LeslieFile = {
  /** Absent when the bytes do not begin with one. */
  readonly header?: LeslieHeader
  readonly blocks: readonly LeslieBlock[]
  readonly isUtf8: boolean
}

type Line = { readonly text: string; readonly from: number; readonly to: number }

export function parseLeslie(bytes: Buffer): LeslieFile {
  const lines = splitLines(bytes)
  const headerLines = findHeaderEnd(lines)
  const header = headerLines === 0 ? undefined : parseHeader(lines.slice(0, headerLines - 1))
  const blocks = parseBody(lines, header === undefined ? 0 : headerLines)
  return { ...(header && { header }), blocks, isUtf8: isUtf8(bytes) }
}

/** The header alone, from the first bytes of a file; undefined when they do not begin with one. */
export function parseLeslieHead(head: Buffer): LeslieHeader | undefined {
  const lines = splitLines(head)
  const end = findHeaderEnd(lines)
  return end === 0 ? undefined : parseHeader(lines.slice(0, end - 1))
}

/** Lines by 0x0A; the carriage returns of a file that has them throughout, and a byte order mark, are not text. */
function splitLines(bytes: Buffer): Line[] {
  const lines: Line[] = []
  let from = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
  const firstEnd = bytes.indexOf(0x0a)
  const withReturns = firstEnd > 0 && bytes[firstEnd - 1] === 0x0d
  while (from < bytes.length) {
    const newline = bytes.indexOf(0x0a, from)
    const to = newline === -1 ? bytes.length : newline
    const end = withReturns && to > from && bytes[to - 1] === 0x0d ? to - 1 : to
    lines.push({ text: bytes.toString('utf8', from, end), from, to })
    from = to + 1
  }
  return lines
}

/** A header is short: what has no `---` within this many lines has none. */
const HEADER_LINES = 64

/** How many lines the header takes, its `---` included; 0 for none. */
function findHeaderEnd(lines: readonly Line[]): number {
  const known = ['Thread ID:', 'Chat ID:', 'Time Range:']
  if (!known.some((field) => lines[0]?.text.startsWith(field))) return 0
  const end = lines.slice(0, HEADER_LINES).findIndex(({ text }) => text === HEADER_END)
  return end + 1
}

function parseHeader(lines: readonly Line[]): LeslieHeader {
  const fields = new Map<string, string>()
  const others: string[] = []
  for (const { text } of lines) {
    const colon = text.indexOf(':')
    const name = text.slice(0, Math.max(colon, 0))
    if (FIELDS.has(name) && !fields.has(name)) fields.set(name, text.slice(colon + 1).trim())
    else if (text !== '') others.push(text)
  }
  const text = (name: string): string | undefined => fields.get(name) || undefined
  const [startedAt, endedAt] = (text('Time Range') ?? '').split(' ~ ').map(parseInstant)
  const count = text('Tool Calls')
  const facts = {
    thread: text('Thread ID'),
    chat: text('Chat ID'),
    startedAt,
    endedAt,
    mode: text('Agent Mode'),
    stopReason: text('Stop Reason'),
    toolCalls: count !== undefined && /^\d{1,15}$/.test(count) ? Number(count) : undefined,
  }
  const known = Object.entries(facts).filter(([, value]) => value !== undefined)
  return { ...Object.fromEntries(known), others }
}

const FIELDS: ReadonlySet<string> = new Set([
  'Thread ID',
  'Chat ID',
  'Time Range',
  'Agent Mode',
  'Stop Reason',
  'Tool Calls',
])

function parseBody(lines: readonly Line[], start: number): LeslieBlock[] {
  const blocks: LeslieBlock[] = []
  let at = start
  while (at < lines.length && lines[at]?.text === '') at += 1
  const closings = findClosings(lines, at)
  while (at < lines.length) {
    const mark = parseMark(lines[at]?.text ?? '')
    const next = nextBlock(lines, at, mark?.type === 'user' ? closings : [])
    const isLast = next === lines.length
    // The empty line between two blocks belongs to neither.
    const own = lines.slice(mark === undefined ? at : at + 1, isLast ? next : next - 1)
    const last = lines[Math.max(at, (isLast ? next : next - 1) - 1)] as Line
    const place = { byteOffset: (lines[at] as Line).from, byteLength: last.to - (lines[at] as Line).from }
    const text = contentOf(own, mark?.type)
    if (mark !== undefined || text.trim() !== '')
      blocks.push({ type: 'text', ...mark, text, line: at + 1, ...place })
    at = next
  }
  return blocks
}

/** Where the next block begins: a mark after an empty line, or the end. Inside a query, only behind its closing tag. */
function nextBlock(lines: readonly Line[], at: number, closings: readonly number[]): number {
  let from = at + 1
  if (lines[from]?.text === OPEN_QUERY) {
    const closing = closings[lowerBound(closings, from + 1)]
    if (closing !== undefined && !opensBetween(lines, from, closing)) from = closing + 1
  }
  for (let next = from + 1; next < lines.length; next += 1) {
    if (lines[next - 1]?.text === '' && parseMark(lines[next]?.text ?? '') !== undefined) return next
  }
  return lines.length
}

/** The closing tags that can end a query: followed by the end, or by an empty line and a mark. */
function findClosings(lines: readonly Line[], start: number): number[] {
  const closings: number[] = []
  for (let at = start; at < lines.length; at += 1) {
    if (lines[at]?.text !== CLOSE_QUERY) continue
    const isLast = at + 1 >= lines.length
    const endsBlock = lines[at + 1]?.text === '' && parseMark(lines[at + 2]?.text ?? '') !== undefined
    if (isLast || endsBlock) closings.push(at)
  }
  return closings
}

/** An unclosed query must not swallow the next one. */
function opensBetween(lines: readonly Line[], from: number, to: number): boolean {
  for (let at = from + 1; at + 2 < to; at += 1) {
    const opens = lines[at + 1]?.text === 'user:' && lines[at + 2]?.text === OPEN_QUERY
    if (opens && lines[at]?.text === '') return true
  }
  return false
}

function lowerBound(sorted: readonly number[], value: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] as number) < value) low = middle + 1
    else high = middle
  }
  return low
}

function contentOf(lines: readonly Line[], type: MarkType | undefined): string {
  const texts = lines.map(({ text }) => text)
  if (type !== 'user' || texts[0] !== OPEN_QUERY) return texts.join('\n')
  const close = texts.lastIndexOf(CLOSE_QUERY)
  const after = close === -1 ? [] : texts.slice(close + 1)
  // Text behind the closing tag is no part of the format; kept with the query rather than dropped.
  return [...texts.slice(1, close === -1 ? undefined : close), ...after].join('\n')
}
