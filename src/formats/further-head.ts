/**
 * The beginning of a file for those who read it, no longer for telling its format: where the head holds no whole record, a longer look
 * says whether other lines stand behind the first, and what else a document has in it.
 */
import { parseJson, type JsonObject } from '../transcript/json.ts'
import type { SourceFile } from '../transcript/source.ts'
import { scanMembers, skipSpace } from './devflow/scan.ts'
import { HEAD_BYTES, parseHead, parseLines, TORN_LINES, type Head } from './head-records.ts'
import { peekDocument, peekMembers } from './peek.ts'

/** Past a large image, and no further. */
const FURTHER_BYTES = 8 * 1024 * 1024

const NEWLINE = 0x0a
const BOM = 0xef

/** A reader asks more than once. */
const known = new WeakMap<Head, Promise<Head>>()

export async function readFurther(file: SourceFile): Promise<Head> {
  const near = parseHead(await file.head(HEAD_BYTES))
  if (near.isCut !== true) return near
  const found = known.get(near) ?? lookFurther(file, near)
  known.set(near, found)
  return found
}

/**
 * The first record, as far as it goes, and a head's worth of lines behind it. Of what is long in it, only the beginning is held. What
 * has no second line may be a document as well.
 */
async function lookFurther(file: SourceFile, near: Head): Promise<Head> {
  const { text, strange: torn } = near
  const head = { records: [], document: undefined, strange: torn, text }
  const bytes = await file.head(FURTHER_BYTES)
  const found = torn <= TORN_LINES ? firstRecord(bytes) : undefined
  if (found !== undefined && found.end < bytes.length) {
    const behind = bytes.subarray(found.end + 1, found.end + 1 + HEAD_BYTES)
    const lines = behind.toString('utf8').split('\n')
    if (bytes.length > found.end + 1 + HEAD_BYTES || bytes.length === FURTHER_BYTES) lines.pop()
    const { records, strange } = parseLines(lines)
    if (records.length > 0 || behind.length > 1)
      return { ...head, records: [found.record, ...records], strange: found.strange + strange }
  }
  const peeked = peekDocument(bytes)
  return {
    ...head,
    ...(found !== undefined && { records: [found.record], strange: found.strange }),
    ...(peeked !== undefined && { peeked }),
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
