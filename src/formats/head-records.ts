/**
 * What all formats look at to tell whose a file is: its first 48 KB, decoded and parsed once, and, where its first record or document goes
 * on past them (a pasted image, a long conversation), its last 16 KB. Content decides; names and labels do not.
 */
import { isObject, parseJson, type Json, type JsonObject } from '../transcript/json.ts'
import type { SourceFile } from '../transcript/source.ts'
import { parseCut } from './cut-json.ts'
import { joinEnds } from './json-ends.ts'
import { peekDocument } from './peek.ts'

/** Enough for the dozens of state records that some agents write before the first message. */
export const HEAD_BYTES = 48 * 1024
/** With the head, all that is ever read of a file to tell its format: 64 KB. */
const TAIL_BYTES = 16 * 1024
/** Lines that are no JSON before the first that is: a torn one or two. With more, it is no JSON Lines. */
export const TORN_LINES = 2
/** Lines that look like objects and are none, parsed in vain before the others are taken for the same. */
const TRIED = 20
/** Records that formats vote over: the more there are, the longer each of them takes to say what the first have said. */
const LOOKED_AT = 100

export type Head = {
  /**
   * The objects among the first lines, at most 100; empty when the file is one document over several lines. One that was cut off has its
   * keys, and of its values as much as was read.
   */
  readonly records: readonly JsonObject[]
  /** The whole file as one object or list, where it is one and fits in the head. */
  readonly document: Json | undefined
  /** Of a document that is not whole, as much as was read. A first line that goes on past the head may be one. */
  readonly peeked?: Json
  /** True when the head ends before its first record or document does. */
  readonly isCut?: true
  /** Lines that are no JSON, torn last one not counted. */
  readonly strange: number
  /** The head as it is. */
  readonly text: string
}

/** By the very bytes: each format asks for the head of a file, and where they are handed the same bytes these are parsed once. */
const parsed = new WeakMap<Buffer, Head>()

const joined = new WeakMap<Head, Promise<Head>>()

/** For telling a format: nothing is read beyond the two ends. Whoever reads the file asks for `readFurther`. */
export async function readHead(file: SourceFile): Promise<Head> {
  const head = parseHead(await file.head(HEAD_BYTES))
  if (head.isCut !== true || file.tail === undefined) return head
  const found =
    joined.get(head) ?? file.tail(TAIL_BYTES).then((bytes) => withTail(head, bytes.toString('utf8')))
  joined.set(head, found)
  return found
}

export function parseHead(bytes: Buffer, isCut = bytes.length >= HEAD_BYTES): Head {
  const known = parsed.get(bytes)
  if (known !== undefined) return known
  const text = bytes.toString('utf8')
  const head = isCut ? parseBeginning(text) : parseWhole(text)
  parsed.set(bytes, head)
  return head
}

function parseWhole(text: string): Head {
  const isDocument = mayBeDocument(text)
  const document = isDocument ? parseJson(text.replace(/^\uFEFF/, '')) : undefined
  if (document !== undefined) {
    const isRecord = isObject(document) && !text.trim().includes('\n')
    return { records: isRecord ? [document] : [], document, strange: 0, text }
  }
  const lines = parseLines(text.split('\n'))
  if (lines.records.length > 0 || !isDocument) return { ...lines, document, text }
  return { ...lines, document, ...peek(text), text }
}

function parseBeginning(text: string): Head {
  const lines = text.split('\n')
  // Cut in the middle of a record.
  const last = lines.pop() ?? ''
  const { records, strange } = parseLines(lines)
  const near = { records, document: undefined, strange, text }
  const isDocument = mayBeDocument(text)
  if (records.length > 0 || (strange > TORN_LINES && !isDocument)) return near
  const { peeked } = isDocument ? peek(text) : {}
  const only = strange > TORN_LINES ? undefined : lines.length === 0 ? peeked : parseCut(last)
  return {
    ...near,
    isCut: true,
    ...(isObject(only) && Object.keys(only).length > 0 && { records: [only] }),
    ...(peeked !== undefined && { peeked }),
  }
}

/** What the file begins with: the document that it is, as far as it is known, or its first record. */
export function firstValue({ document, peeked, records }: Head): Json | undefined {
  return document ?? peeked ?? records[0]
}

/** The last lines where they are records, or what the end of a document adds to its beginning. */
function withTail(head: Head, text: string): Head {
  // Begun somewhere in a line.
  const lines = text.trimEnd().split('\n').slice(1)
  const { records, strange } = parseLines(lines)
  // The last line of a log may be torn; that of a document closes it.
  const closing = lines.at(-1)?.trimStart().startsWith('{') === false ? 1 : 0
  if (records.length > strange + closing) {
    const { peeked: _, ...rest } = head
    // One record alone outweighs no other that is cut: that may be a line that was torn.
    const first = records.length > 1 ? head.records : []
    return { ...rest, records: [...first, ...records].slice(0, LOOKED_AT), strange: head.strange + strange }
  }
  if (head.peeked === undefined) return head
  const peeked = joinEnds(head.peeked, text)
  const isRecord = head.records[0] === head.peeked && isObject(peeked)
  return { ...head, peeked, ...(isRecord && { records: [peeked] }) }
}

export function mayBeDocument(text: string): boolean {
  return /^\uFEFF?\s*[[{]/.test(text)
}

/** Damage before the cut costs a slower look. */
function peek(text: string): { readonly peeked?: Json } {
  const peeked = parseCut(text) ?? peekDocument(Buffer.from(text))
  return peeked === undefined ? {} : { peeked }
}

/** Objects, one on each line. Lines that cannot be one are not tried: to fail costs as much as to parse. */
export function parseLines(lines: readonly string[]): Pick<Head, 'records' | 'strange'> {
  const records: JsonObject[] = []
  let strange = 0
  let failed = 0
  for (let index = 0; index < lines.length && records.length < LOOKED_AT; index += 1) {
    // A byte order mark is white space to `trim`.
    const text = (lines[index] as string).trim()
    if (text === '') continue
    const isTried =
      (isWrapped(text, '{', '}') || isWrapped(text, '[', ']')) && failed < TRIED + records.length
    const value = isTried ? parseJson(text) : undefined
    if (isObject(value)) records.push(value)
    if (isTried && value === undefined) failed += 1
    if (value === undefined && index < lines.length - 1) strange += 1
    // No number of records outweighs them any more: of a document over several lines the rest is not looked at.
    if (strange > LOOKED_AT) break
  }
  return { records: strange > records.length ? [] : records, strange }
}

function isWrapped(text: string, first: string, last: string): boolean {
  return text.startsWith(first) && text.endsWith(last)
}
