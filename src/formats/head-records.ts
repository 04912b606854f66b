/**
 * The first records of a file: what formats look at to tell whose it is. Content decides; names and labels do not. A first line
 * that goes on past the head (a pasted image, long instructions) is told by as much of it as is needed.
 */
import { isObject, parseJson, type Json, type JsonObject } from '../transcript/json.ts'
import type { SourceFile } from '../transcript/source.ts'
import { peekMembers } from './peek.ts'

/** Enough for the dozens of state records that some agents write before the first message. */
const HEAD_BYTES = 64 * 1024
/** A second look, at a file whose first line is longer than the head: past a large image, and no further. */
const FURTHER_BYTES = 8 * 1024 * 1024

export type Head = {
  /**
   * The objects among the first lines; empty when the file is one document over several lines. One that was cut off has its
   * keys, and of its values as much as was read.
   */
  readonly records: readonly JsonObject[]
  /** The whole file as one JSON value, where it is one and fits in the head. */
  readonly document: Json | undefined
  /** Lines that are no JSON, torn last one not counted. */
  readonly strange: number
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
  if (!isWhole && lines.length === 1) {
    const records = await readFurther(file)
    if (records.length > 0) return { records, document: undefined, strange: 0, text }
  }
  // Cut in the middle of a record, the last line says nothing.
  if (!isWhole && lines.length > 1) lines.pop()
  const { records, strange } = parseLines(lines)
  const document = isWhole ? parseJson(text.replace(/^\uFEFF/, '')) : undefined
  return { records, document, strange, text }
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

/** The first line, as far as it goes, and a head's worth of those behind it. Of what is long in it, only the beginning is held. */
async function readFurther(file: SourceFile): Promise<readonly JsonObject[]> {
  const bytes = await file.head(FURTHER_BYTES)
  const end = bytes.indexOf(NEWLINE)
  const line = bytes.subarray(0, end === -1 ? bytes.length : end)
  const first = peekMembers(line, line[0] === BOM ? 3 : 0)
  if (first === undefined || Object.keys(first).length === 0) return []
  if (end === -1) return [first]
  const behind = bytes.subarray(end + 1, end + 1 + HEAD_BYTES)
  const lines = behind.toString('utf8').split('\n')
  if (bytes.length > end + 1 + HEAD_BYTES || bytes.length === FURTHER_BYTES) lines.pop()
  return [first, ...parseLines(lines).records]
}
