/**
 * The first records of a file: what formats look at to tell whose it is. Content decides; names and labels do not. Where the head
 * holds no record, because a line goes on past it (a pasted image, long instructions) or because it is the start of a document,
 * a longer look tells as much of it as is needed.
 */
import { isObject, parseJson, toJson, type Json, type JsonObject } from '../transcript/json.ts'
import type { SourceFile } from '../transcript/source.ts'
import { scanMembers, skipSpace } from './devflow/scan.ts'
import { peekDocument, peekMembers } from './peek.ts'

/** Enough for the dozens of state records that some agents write before the first message. */
const HEAD_BYTES = 64 * 1024
/** A second look, at a file whose head holds no record: past a large image, and no further. */
const FURTHER_BYTES = 8 * 1024 * 1024
/** Lines that are no JSON before the first that is: a torn one or two. With more, it is no JSON Lines. */
const TORN_LINES = 2

export type Head = {
  /**
   * The objects among the first lines; empty when the file is one document over several lines. One that was cut off has its
   * keys, and of its values as much as was read.
   */
  readonly records: readonly JsonObject[]
  /** The whole file as one JSON value, where it is one and fits in the head. */
  readonly document: Json | undefined
  /** Of a document that is longer than the head: what `text` says of it. */
  readonly peeked?: Json
  /** Lines that are no JSON, torn last one not counted. */
  readonly strange: number
  /** The head. Of a document that is longer: the document with what is long in it cut short, as JSON. */
  readonly text: string
}

/** By the very bytes: each format asks for the head of a file, and where they are handed the same bytes these are parsed once. */
const parsed = new WeakMap<Buffer, Promise<Head>>()

export async function readHead(file: SourceFile): Promise<Head> {
  const bytes = await file.head(HEAD_BYTES)
  const known = parsed.get(bytes)
  if (known !== undefined) return known
  const head = parseHead(bytes, file)
  parsed.set(bytes, head)
  return head
}

async function parseHead(bytes: Buffer, file: SourceFile): Promise<Head> {
  const isWhole = bytes.length < HEAD_BYTES
  const text = bytes.toString('utf8')
  const lines = text.split('\n')
  // Cut in the middle of a record, the last line says nothing.
  if (!isWhole) lines.pop()
  const { records, strange } = parseLines(lines)
  if (isWhole) return { records, document: parseJson(text.replace(/^\uFEFF/, '')), strange, text }
  const near = { records, document: undefined, strange, text }
  const isDocument = /^\uFEFF?\s*[[{]/.test(text)
  if (records.length > 0 || (strange > TORN_LINES && !isDocument)) return near
  return { ...near, ...(await readFurther(file, strange <= TORN_LINES)) }
}

function parseLines(lines: readonly string[]): Pick<Head, 'records' | 'strange'> {
  const records: JsonObject[] = []
  let strange = 0
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue
    const value = parseJson(index === 0 ? line.replace(/^\uFEFF/, '') : line)
    if (isObject(value)) records.push(value)
    else if (value === undefined && index < lines.length - 1) strange += 1
  }
  return { records: strange > records.length ? [] : records, strange }
}

const NEWLINE = 0x0a
const BOM = 0xef

type Further = Partial<Pick<Head, 'records' | 'strange' | 'text' | 'peeked'>>

/**
 * The first record, as far as it goes, and a head's worth of lines behind it. Of what is long in it, only the beginning is held. What
 * has no second line may be a document as well.
 */
async function readFurther(file: SourceFile, mayBeLines: boolean): Promise<Further> {
  const bytes = await file.head(FURTHER_BYTES)
  const found = mayBeLines ? firstRecord(bytes) : undefined
  if (found !== undefined && found.end < bytes.length) {
    const behind = bytes.subarray(found.end + 1, found.end + 1 + HEAD_BYTES)
    const lines = behind.toString('utf8').split('\n')
    if (bytes.length > found.end + 1 + HEAD_BYTES || bytes.length === FURTHER_BYTES) lines.pop()
    const { records, strange } = parseLines(lines)
    if (records.length > 0 || behind.length > 1)
      return { records: [found.record, ...records], strange: found.strange + strange }
  }
  const document = peekDocument(bytes)
  return {
    ...(found !== undefined && { records: [found.record], strange: found.strange }),
    ...(document !== undefined && { text: toJson(document), peeked: document }),
  }
}

type Found = { readonly record: JsonObject; readonly strange: number; readonly end: number }

/** The first line that is an object, or that the bytes end in as one, and where it ends. */
function firstRecord(bytes: Buffer): Found | undefined {
  let strange = 0
  for (let from = bytes[0] === BOM ? 3 : 0; from < bytes.length;) {
    const found = bytes.indexOf(NEWLINE, from)
    const end = found === -1 ? bytes.length : found
    const line = bytes.subarray(from, end)
    from = end + 1
    const scanned = scanMembers(line, 0)
    const isRecord =
      scanned !== undefined && (scanned.ended ? isBlank(line, scanned.to) : end === bytes.length)
    const record = isRecord ? peekMembers(line, 0) : undefined
    if (record !== undefined && Object.keys(record).length > 0) return { record, strange, end }
    // A line of another value is JSON too: long ones are not parsed to see it.
    if (isBlank(line, 0) || (line.length < HEAD_BYTES && parseJson(line.toString('utf8')) !== undefined))
      continue
    strange += 1
    if (strange > TORN_LINES) return undefined
  }
  return undefined
}

const isBlank = (line: Buffer, from: number): boolean => skipSpace(line, from) === line.length
